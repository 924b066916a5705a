#pragma once

// What the person at the keyboard sees while work goes on, always on standard error.

#include <memory>

#include <assay/progress.h>

namespace assay::app {

// A bar with rate and remaining time on a terminal, plain lines (start and end of each stage) otherwise; with
// `quiet` only notices.
std::unique_ptr<Progress> make_terminal_progress(bool quiet);

bool is_terminal(int descriptor);
int terminal_width();

}  // namespace assay::app
