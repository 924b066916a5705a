#pragma once

// Drop curves as result documents, and their figures for gates.

#include <span>
#include <vector>

#include <assay/gate.h>
#include <assay/graph.h>
#include <assay/report.h>
#include <assay/results.h>
#include <assay/robustness.h>

namespace assay::results {

// clean-accuracy, and by curve accuracy[along=pgd,severity=0.1], area[along=pgd], half-drop[along=pgd] and
// worst-step[along=pgd]. A half-drop that is not reached is at least the last severity, and counts as that;
// one that lies before the first severity is a NaN, so that gates on it fail.
std::vector<report::Measurement> measurements_of(std::span<const attack::DropCurve> curves);

}  // namespace assay::results
