#pragma once

// A model of language that gives scores of tokens at every position, [records, positions, tokens], as a
// classifier: the scores of some tokens at one position decide.

#include <cstdint>
#include <vector>

#include <assay/graph.h>

namespace assay::inline model {

struct TokenDecision {
  enum class Position {
    last,    // of the tokens that a record has, without those that fill up
    first,   // likewise
    number,  // from 0 at the first of them, below 0 from the end
    mask,    // the first token that stands for a missing one
    all      // every position: scores stay [records, positions, answers]
  };
  Position position = Position::last;
  std::int64_t number = 0;
  std::int64_t mask_token = -1;
  // Fills up, where the network has no attention_mask that says so; below 0: there is none.
  std::int64_t padding_token = -1;
  std::vector<std::int64_t> answers = {};  // numbers of tokens, whose scores are the output; empty: all
  bool contrast = false;                   // of two answers, the score of the first less that of the second
};

// Puts an output 'decision' in front of the others. Of a record without the position scores are NaN, so that
// it counts as undecided. Throws Error{usage} where the first output is not of that form, or is known to have
// fewer tokens, and where a position is needed of a network without input_ids.
Graph with_token_decision(const Graph& graph, const TokenDecision& decision);

// Whether the node gives the numbers of these tokens again, in another type or shape.
bool keeps_tokens(const Node& node, ValueId tokens);
// Where tokens are looked up in constant tables [tokens, width]; nothing else is done with them before.
std::vector<NodeId> table_lookups(const Graph& graph, ValueId tokens);

// Rows of the smallest table in which tokens are looked up: numbers of tokens that the network knows. 0 where
// none is found.
std::int64_t known_tokens(const Graph& graph);

}  // namespace assay::inline model
