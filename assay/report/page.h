#pragma once

#include <string_view>

namespace assay::report {

// web/report/dist/report.html, as it was when this library was built. Holds the word PLACEHOLDER once, where
// the data go.
std::string_view report_page();

}  // namespace assay::report
