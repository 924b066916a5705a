#pragma once

// Settings of a whole run.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include <assay/dataset.h>
#include <assay/session.h>

namespace assay::answers {

struct Setting {
  SessionOptions session = {};  // of every network, without what data tell
  std::size_t batch = 0;        // 0: chosen by the engine
  std::uint64_t seed = 1;
  bool replace = false;   // what took long to make may be replaced
  bool detailed = false;  // the document is for files and pages, not for a console alone

  // With the record shape that the data (may be null) tell of dynamic inputs.
  SessionOptions session_for(const Dataset* data) const;
};

// Protects expensive files from accidental replacement (assay/support/files/outputs.h), unless it is allowed.
void check_replaced(const std::filesystem::path& path, std::string_view what, const Setting& setting,
                    const std::function<bool()>& belongs);

}  // namespace assay::answers
