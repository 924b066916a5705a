#pragma once

// Networks that compute a position of a text from itself and those before it: texts that begin alike differ
// only from the first other token on. Here the rest of a text becomes a separate network. What it reads of
// earlier positions (keys and values of attention) is given, as a run of the whole network with a text that
// begins like that found it.

#include <optional>
#include <string>
#include <vector>

#include <assay/session.h>

namespace assay::inline engine {

struct TokenTail {
  // What an input of the tail takes: a value of the whole network, or part of it along an axis.
  struct Given {
    ValueId here = no_value, of_whole = no_value;
    int axis = -1;  // -1: all of it
    std::int64_t begin = 0, length = 0;
    bool is_place = false;  // it has positions of records, which the tail counts from its first one on
  };
  Graph graph;  // its output is the first one of the whole network
  std::vector<Given> given;
  ValueId tokens = no_value;  // input of the tail: tokens from the first position on
  SessionOptions options;     // of a session that runs it
};

// Nothing where the structure of the network does not show how the tail is computed. `tokens`: the input
// [records, tokens] of the session, `first`: where the tail begins, above 0. That earlier positions do not
// depend on later ones is not known from structure alone; who uses the tail tries it.
std::optional<TokenTail> tail_of(const Session& session, ValueId tokens, std::int64_t first);

}  // namespace assay::inline engine
