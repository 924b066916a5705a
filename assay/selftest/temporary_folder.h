#pragma once

#include <filesystem>
#include <string>

namespace assay::selftest {

// A new folder for temporary files, removed with all that is in it.
class TemporaryFolder {
 public:
  // `name` begins its name. Throws Error{io} where none can be made.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::selftest
