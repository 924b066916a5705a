#pragma once

// What the heat maps of records explain.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/session.h>
#include <assay/task.h>
#include "assay/relevance/item_target.h"

namespace assay::results {

// Of each record the class that is named, or the items that are decided rightly.
struct Explained {
  relevance::Target target = {};
  std::vector<std::int64_t> classes = {};  // that are named; empty where records have none
};

Explained explained_of(const Session& session, const Batch& batch, const Tensors& given, const Dataset& data,
                       const task::Task* task);

// The class of a row by its name, "none" where none is named; nothing where records have none.
std::optional<std::string> named_class(const Explained& explained, std::size_t row, const Dataset& data);

// "record '7', named 3, and its relevance (red for, blue against)".
std::string caption_of(const Explained& explained, std::size_t row, const std::string& id,
                       const Dataset& data);

}  // namespace assay::results
