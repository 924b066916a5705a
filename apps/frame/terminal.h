#pragma once

// Progress and messages for the person at the keyboard, always on standard error.

#include <memory>
#include <string_view>

#include <assay/progress.h>

namespace assay::frame {

// A bar with rate and remaining time on a terminal, plain lines (start and end of each stage) otherwise; with
// `quiet` only notices.
std::unique_ptr<Progress> make_terminal_progress(bool quiet);

// One message on standard error, on separate lines, with control characters shown rather than obeyed. A
// stream that is closed or full is not an error: no one could read it.
void say(std::string_view message);

bool is_terminal(int descriptor);
int terminal_width();

}  // namespace assay::frame
