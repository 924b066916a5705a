#pragma once

// The template `amlas` as an argument in the Goal Structuring Notation (GSN Community Standard, version 3).

#include <span>
#include <string>
#include <vector>

#include "assay/evidence/pack.h"
#include "assay/evidence/templates/filling.h"

namespace assay::evidence {

struct ArgumentNode {
  enum class Kind { goal, strategy, context, assumption, solution } kind = Kind::goal;
  std::string id, text;                                    // "G3"
  FilledItem::State state = FilledItem::State::evidenced;  // of goals; open: undeveloped
};

struct ArgumentLink {
  std::string from, to;
  bool in_context_of = false;  // otherwise supported by
};

struct Argument {
  std::string title;
  std::vector<ArgumentNode> nodes;  // each after those that it supports
  std::vector<ArgumentLink> links;
};

// The top goal, a strategy over the stages of AMLAS, a goal for each stage, for each of its items and for
// each requirement, and their solutions. A goal holds as far as all below it do.
Argument argument_of(const PackContents& contents, std::span<const Outcome> outcomes);

// Nodes and links, for other tools.
std::string to_json(const Argument& argument);
// A drawing with a column for each stage.
std::string to_svg(const Argument& argument);

}  // namespace assay::evidence
