#pragma once

#include <span>
#include <string>
#include <vector>

#include <assay/gate.h>

namespace assay::report {

// The gate with its outcome for each figure that it asks for, the worst first, of which evaluate() gives the
// first; none where nothing was measured.
std::vector<Gate> evaluate_each(Gate gate, std::span<const Measurement> measurements);

// "kmnc, layer conv2, class 3, context night": what a gate with its outcome is about.
std::string figure_name(const Gate& gate);

}  // namespace assay::report
