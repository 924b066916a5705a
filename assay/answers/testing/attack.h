#pragma once

// Inputs that break a network: attacks one after the other, each into a separate file, and their results.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/attack.h>
#include <assay/report.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"
#include "assay/support/files/outputs.h"

namespace assay::answers {

struct AttackQuestion {
  std::string task = {};                  // spec of a task; empty: the one that network and data have
  std::string preset = {};                // attacks of it, and ...
  std::vector<std::string> attacks = {};  // ... further ones
  std::string folder = {};                // for the attacked records
  std::size_t pictures = 4;               // drawn of each attack
  std::size_t texts = 20;      // or rows of tokens, shown before and after, of each attack on tokens
  std::string tokenizer = {};  // file, for attacks on tokens that name none; empty: none
  std::string hide = {},
              appear = {};  // name or number of a class of items; empty: it is enough that some change
  bool standing = false;    // each attack sees records that no earlier attack fooled
  attack::AttackOptions options = {};
  DeclaredAccuracy accuracy = {};
  std::optional<std::size_t> pairs = {};  // of characteristics in the document (results::PairLimit)
};

// What it writes, its journals too, by the name of the folder in messages. Throws Error{usage} for wrong
// options.
std::vector<Output> outputs_of(const AttackQuestion& question, const std::string& name);

// The same of attacks in one text, as parse_attacks() reads them, without pictures.
std::vector<Output> outputs_of(const std::string& attacks, const std::string& folder,
                               const std::string& name);

struct AttackAnswer {
  report::Document document;
  bool levels = false;  // records are stored as such, requested or not
};
// Only the first rank returns.
AttackAnswer attack(const Session& session, const DatasetPtr& data, const AttackQuestion& question,
                    const Setting& setting, Progress& progress);

}  // namespace assay::answers
