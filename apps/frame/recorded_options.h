#pragma once

// The options of a run, as text that can be typed again.

#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <assay/report.h>

namespace assay::frame {

// Values of options by name that a command found out itself: layers that are the default, what a profile was
// learned with. No values: the option is left out.
using EffectiveOptions = std::map<std::string, std::vector<std::string>>;

// Whether a file for this rendering, which only a configuration names, is left out, since the result has
// nothing for it.
bool is_unused(const report::Document& document, const CLI::App& command, const std::string& rendering);

// Leaves these out.
void leave_out(const std::vector<const CLI::Option*>& options, EffectiveOptions& effective);

// All options with the values in effect, given or default, quoted for a shell: "assay COMMAND " and this is a
// command that asks for the same.
std::string recorded_options(const CLI::App& command, const EffectiveOptions& effective);

// The file that the option of this name is about, where it was given; of a data spec the path alone.
std::string file_of_option(const CLI::App& command, const std::string& name);

}  // namespace assay::frame
