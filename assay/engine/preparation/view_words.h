#pragma once

// "layer=attn,heads=norm,tokens=last": which units a view shows, in words (docs/text.md).

#include <string>

namespace assay::inline engine {

struct ViewWords {
  std::string text;        // as it was written, for messages
  std::string layer;       // empty: every attention, every sum before the lens
  std::string heads;       // a statistic of what each head gives at a position
  std::string attention;   // a statistic of the weights of each head at a position
  std::string directions;  // a file of directions
  std::string lens;        // the layer from which the network goes on to its decision
  std::string tokens;      // how positions become one; empty: they stay
  std::string name;        // empty: made of the rest
  float threshold = 0;     // above which a unit is active, for any and share
};

// Throws Error{usage} naming the word that is missing, not known or without effect.
ViewWords parse_view(const std::string& text);

}  // namespace assay::inline engine
