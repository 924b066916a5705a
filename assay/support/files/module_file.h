#pragma once

// Parts of the program that it loads only where they are needed, since they bring large libraries along.

#include <filesystem>
#include <string>

namespace assay::inline support {

// Where the module is: next to the program or to the library with this code, as in a build folder, or where
// it is installed. Empty where it is not.
std::filesystem::path module_file(const std::string& name);

}  // namespace assay::inline support
