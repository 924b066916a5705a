#pragma once

// Records whose inputs are the tokens of texts.

#include <memory>
#include <string>
#include <vector>

#include <assay/extend/data_format.h>

namespace assay::inline data {

// A text, and a second one where two are compared.
struct RecordText {
  std::string text, second;
};

// Of the spec: tokenizer=FILE says how, length=N to how many tokens; without it the longest text decides.
// With next=1 the targets are the tokens that come next, -100 where none does.
inline const std::vector<std::string> options_of_tokens{"tokenizer", "length", "next"};

// The records of `rest` (ids, labels, targets) with the inputs that networks of language take: input_ids,
// attention_mask, token_type_ids and position_ids. REQUIRES a text for each record. Throws Error{data} naming
// `path` and the record whose text cannot be tokens, and as Tokenizer does.
std::unique_ptr<Source> tokenized(std::unique_ptr<Source> rest, const std::vector<RecordText>& texts,
                                  bool pairs, const DataSpec& spec);

}  // namespace assay::inline data
