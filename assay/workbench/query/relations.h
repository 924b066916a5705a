#pragma once

// The relations of queries, and their contents (docs/inspect-sql.md has every column).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/inspection.h>
#include "assay/workbench/database.h"

namespace assay::workbench {

// Changes with the relations.
inline constexpr int database_version = 2;

struct LayerFacts {
  std::string name, op;
  std::int64_t neurons = 0, parameters = 0;
  std::vector<std::string> gates = {};
  bool heads = false;                         // each unit is the head of that number
  std::optional<std::int64_t> position = {};  // of the token at which units are seen; -1: the last
};

struct ModelFacts {
  std::string name, path, hash;
  std::map<std::string, Cell> attributes = {};  // columns of `models`: epoch = 3
  std::vector<LayerFacts> layers = {};
};

// Rows about the layers of a session.
std::vector<LayerFacts> layers_of(const std::shared_ptr<const Session>& session);

// Creates the relations of a fresh database. To be called on every database that is opened.
void make_relations(Database& database);

// Each replaces what the database holds under the same name. Throws Error{mismatch} where that is another
// network or data set.
void put_model(Database& database, const ModelFacts& model);
void put_records(Database& database, const std::string& name, const Dataset& records,
                 const std::optional<inspection::Vocabulary>& vocabulary);
// Throws Error{usage} where another source has a hypothesis of that name.
void put_hypotheses(Database& database, const std::string& source, const inspection::Annotator& annotator);

// A record of tokens as people read it; padding is nothing.
std::string text_of_tokens(std::span<const std::int64_t> tokens, const inspection::Vocabulary& vocabulary);

}  // namespace assay::workbench
