#pragma once

// Data sets made of others. Records are read from where they are; nothing is copied.

#include <cstdint>
#include <string>
#include <vector>

#include <assay/dataset.h>

namespace assay {

// All records of all parts, in order. Ids and labels are those of the parts (an id may then occur in two
// parts), classes and valid range those of the first part. Throws Error{usage} for no parts and
// Error{mismatch} when a part has another record shape, element type or target width than the first, lacks
// labels that the first has, or has a label that is no class of it.
DatasetPtr joined(std::vector<DatasetPtr> parts);

// The records at `positions`, in that order; a position may occur twice. Ids, labels and classes stay the
// same. Throws Error{usage} for no positions or one that does not exist.
DatasetPtr selected(DatasetPtr whole, std::vector<std::size_t> positions);

// The same records with other labels and no targets. Class names stay as far as there are any. Throws
// Error{usage} unless there is one label, 0 to 1,000,000, per record.
DatasetPtr relabelled(DatasetPtr whole, std::vector<std::int64_t> labels);

}  // namespace assay
