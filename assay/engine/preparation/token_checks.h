#pragma once

// What is asked of the tokens of records before a network takes them. All questions share one pass over the
// data (require_fitting_tokens()), whose tokens were made when it was opened.

#include <memory>
#include <string>

#include <assay/dataset.h>
#include <assay/graph.h>
#include <assay/progress.h>

namespace assay::inline engine {

class TokenCheck {
 public:
  virtual ~TokenCheck() = default;
  // Throws Error{mismatch} naming a record.
  virtual void look(const Batch& batch) = 0;
  // After the last batch.
  virtual void tell(Progress&) const {}
};
using TokenCheckPtr = std::unique_ptr<TokenCheck>;

// Each null where there is nothing to look for; graph and data must outlive it.
// That the network knows the tokens. Throws Error{mismatch} where texts have more tokens than the network has
// positions, by config.json in the folder.
TokenCheckPtr fitting_tokens(const Graph& graph, const std::string& folder, const Dataset& data);
// That tokens, made of texts, are the same texts by tokenizer.json in the network's folder. A file that
// cannot be read is a notice.
TokenCheckPtr own_tokens(const Graph& graph, const std::string& folder, const Dataset& data,
                         Progress& progress);
// A notice of records, made of texts, that have no token: what fills up decides there.
TokenCheckPtr empty_texts(const Dataset& data);

}  // namespace assay::inline engine
