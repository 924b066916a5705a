#pragma once

#include <filesystem>
#include <string>

namespace assay::inline support {

// A new folder that no one else can have prepared, gone when this is, unless it is kept.
class TemporaryFolder {
 public:
  // Throws Error{io}. `purpose`: of its name.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

}  // namespace assay::inline support
