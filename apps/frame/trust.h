#pragma once

// Limits on an assay.toml that was not named but found in the current folder, which may be a stranger's.

#include <CLI/CLI.hpp>
#include <filesystem>

#include "apps/frame/config.h"

namespace assay::frame {

// The user's own configuration: assay/config.toml in XDG_CONFIG_HOME, or in .config of HOME. Empty where the
// environment names neither by an absolute path.
std::filesystem::path user_config();

// Whether the user's own configuration lists the folder: trusted = ["/home/me/study"]. Throws Error{usage}
// for anything else in it.
bool is_trusted(const std::filesystem::path& folder);

// Throws Error{usage} for an option that runs code, and for one that writes outside the current folder, whose
// value comes from the file that was found there.
void refuse_untrusted(const Configured& configured);
// The same for one value of an option that comes from `place`.
void refuse_untrusted(const CLI::Option& option, const std::string& value, const std::string& place);

}  // namespace assay::frame
