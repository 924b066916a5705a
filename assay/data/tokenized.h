#pragma once

// Records whose inputs are the tokens of texts.

#include <memory>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/data_format.h>
#include <assay/tokenizer.h>

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

// What may have been made of texts, beside what else it is: a data set, or what one reads.
class FromTexts {
 public:
  virtual ~FromTexts() = default;
  // nullptr: of no texts after all.
  virtual const text::Tokenizer* tokenizer() const = 0;
};

// What made the tokens of the records; nullptr where they are none, or came as numbers.
const text::Tokenizer* tokenizer_of(const Dataset& data);

}  // namespace assay::inline data
