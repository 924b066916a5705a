#pragma once

// Texts as numbers of the words that a network knows.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/text_inputs.h"

namespace re2 {
class RE2;
}

namespace assay::inline data {

class WordMaker {
 public:
  // Throws Error{unsupported} for expressions that RE2 does not know.
  explicit WordMaker(const std::vector<WordRule>& rules);
  ~WordMaker();

  // The words of a text, the whole of it where no rule cuts. Throws Error{data} for what is not UTF-8.
  std::vector<std::string> words(std::string text) const;

 private:
  std::vector<std::string> cut(const WordRule& rule, std::size_t first, const std::string& text) const;

  std::vector<WordRule> rules_;
  std::vector<std::unique_ptr<re2::RE2>> expressions_;  // of all rules, in their order
};

// Positions in TextInputs::words, from 1; 0 for others.
class WordTable {
 public:
  explicit WordTable(const std::vector<std::string>& words);
  std::int64_t number(const std::string& word) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> numbers_;
};

}  // namespace assay::inline data
