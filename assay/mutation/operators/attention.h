#pragma once

// Attention whose result a layer reads.

#include <optional>

#include <assay/extend/mutation_subject.h>

namespace assay::mutation {

struct ReadAttention {
  const Node* product = nullptr;  // of weights and values
  const Node* softmax = nullptr;  // that gives the weights
};
std::optional<ReadAttention> attention_read_by(const Subject& subject, const SubjectLayer& layer);

}  // namespace assay::mutation
