#pragma once

// How options say what the numbers of a detector are: a format by name, and what differs from it.

#include <string>
#include <vector>

#include "assay/task/detector.h"

namespace assay::task {

std::vector<std::string> detector_formats();

// Throws Error{usage} for options that are none, or that do not go together. `format`: one of
// detector_formats(), or another text, such as "parts=", where options describe everything.
DetectorForm form_of(const SpecOptions& options, const std::string& format);

// As options name them.
const std::string& name_of(BoxPart part);
const std::string& name_of(Corners corners);

}  // namespace assay::task
