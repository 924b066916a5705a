#pragma once

// What models with a vocabulary of tokens and numbers have in common.

#include "assay/text/parts.h"
#include "assay/text/vocabulary.h"

namespace assay::text {

class VocabularyModel : public TokenModel {
 public:
  std::optional<std::uint32_t> id(const std::string& token) const override { return words_.id(token); }
  std::optional<std::string> token(std::uint32_t id) const override {
    const std::string* const found = words_.token(id);
    if (!found) return std::nullopt;
    return *found;
  }
  std::size_t size() const override { return words_.size(); }
  std::uint32_t greatest() const override { return words_.greatest(); }

 protected:
  VocabularyModel(const Settings& settings, std::string unknown)
      : where_(settings.where()), unknown_(std::move(unknown)) {}

  // The token for what is not in the vocabulary. Throws Error{data} where there is none.
  std::uint32_t unknown_id(const std::string& piece) const {
    if (const std::uint32_t* const id = words_.find(unknown_)) return *id;
    fail(Fault::data, "{}: '{}' is not in the vocabulary, and neither is the token for unknown words, '{}'",
         where_, piece, unknown_);
  }

  Vocabulary words_;
  std::string where_, unknown_;
};

}  // namespace assay::text
