#pragma once

#include <filesystem>
#include <string_view>

namespace assay::inline support {

// Throws Error{io} when the file is a pointer that Git LFS leaves instead of a file it has not fetched.
// `what` names the file in the message. Files that cannot be read are left to their reader.
void refuse_pointer(const std::filesystem::path& path, std::string_view what);

}  // namespace assay::inline support
