#pragma once

// The journal of work that several ranks do: the first one has it open and writes it, all know what was in
// it.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/error.h>
#include "assay/support/files/frames.h"
#include "assay/support/files/journal.h"
#include "assay/support/ranks/ranks.h"

namespace assay::inline support {

class SharedJournal {
 public:
  // Throws as Journal does. Called by all ranks.
  SharedJournal(const std::filesystem::path& path, const JournalKey& key) : path_(path) {
    if (ranks().first()) journal_.emplace(path, key);
    if (ranks().alone()) {
      found_ = journal_->found();
      return;
    }
    for (std::size_t i = 0; journal_ && i < journal_->found().size(); ++i) {
      put_text(copied_, journal_->found()[i].id);
      put_text(copied_, journal_->found()[i].bytes);
    }
    ranks().broadcast(copied_);
    std::string_view rest = copied_;
    while (const auto id = take_text(rest)) found_.push_back({*id, take_text(rest).value_or("")});
  }

  const std::filesystem::path& path() const { return path_; }
  const std::vector<Journal::Entry>& found() const { return found_; }
  [[noreturn]] void refuse(std::string_view why) const {
    if (journal_) journal_->refuse(why);
    fail(Fault::data, "{}: {}", path_.string(), why);
  }
  // By the first rank.
  void append(std::string_view id, std::string_view bytes) { journal_->append(id, bytes); }

 private:
  std::filesystem::path path_;
  std::optional<Journal> journal_;  // of the first rank
  std::string copied_;
  std::vector<Journal::Entry> found_;
};

}  // namespace assay::inline support
