#pragma once

// Some of the hypotheses of an annotator, for queries that ask for a few of many.

#include <memory>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/hypothesis.h>

namespace assay::workbench {

// `annotator` itself where all of its hypotheses are wanted, null where none is.
std::shared_ptr<const inspection::Annotator> only_hypotheses(
    std::shared_ptr<const inspection::Annotator> annotator, const std::vector<std::string>& wanted);

// The same for a data set that holds the records at `positions` of the one that `annotator` was made for.
std::shared_ptr<const inspection::Annotator> for_records(
    std::shared_ptr<const inspection::Annotator> annotator, DatasetPtr whole,
    std::vector<std::size_t> positions);

}  // namespace assay::workbench
