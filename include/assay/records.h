#pragma once

// Data sets from memory or generated on demand. A set from arrays has the content hash of the same records,
// labels and targets in an .npz file (whose uint8 pictures are those times 1/255).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <assay/dataset.h>

namespace assay::inline data {

struct RecordOptions {
  std::string name = "records";               // what messages and reports call the set
  std::vector<std::string> ids = {};          // one per record; the numbers from 0 if none
  std::vector<std::string> class_names = {};  // of all classes; the numbers up to the largest label if none
  // [n] or [n, ...] regression targets, or labels of items (task.h); float32 or float64; may be empty.
  Array targets = {};
  std::optional<ValidRange> valid_range = {};  // of the (first) input
};

// Records along the first axis of `inputs`, as the network takes them: float32, or int64 for tokens (float64
// and int32 are converted to these). The array is shared, not copied. Throws Error{usage} for no records, an
// unsupported element type or an invalid label, and Error{mismatch} if the numbers of labels, ids or targets
// differ from that of the records. A NaN or infinity is an Error{data} naming the record when it is read.
DatasetPtr from_arrays(Array inputs, std::vector<std::int64_t> labels = {}, RecordOptions options = {});
// Records with several inputs, by the names under which the network takes them; ids, range and everything
// that uses one input take the first.
DatasetPtr from_arrays(std::vector<NamedArray> inputs, std::vector<std::int64_t> labels = {},
                       RecordOptions options = {});

// One record as a function writes it; all zeros before.
struct Record {
  struct Input {
    std::span<float> values = {};         // where the input is float32
    std::span<std::int64_t> tokens = {};  // where it is int64
  };
  std::vector<Input> inputs = {};  // in the order of the facts
  std::int64_t label = 0;          // read where the facts promise labels
  std::span<float> targets = {};
};

// Records that `write` generates when they are read, so that nothing needs to be in memory. `facts` needs
// size, record_shape and dtype, and class_names (records have labels where there are any), target_width and
// so on as they apply; a description is made if there is none. `write` may be called by several threads at
// once, and must write the same for the same index. `id`: names of the records, the numbers if not given.
// Throws Error{usage} for invalid facts; reading a NaN, an infinity or a label that is not a class is an
// Error{data}.
DatasetPtr from_function(DatasetFacts facts, std::function<void(std::size_t index, Record& record)> write,
                         std::function<std::string(std::size_t index)> id = {});

// All records of all parts, in order. Ids and labels are those of the parts (an id may then occur in two
// parts), classes and valid range those of the first part. Throws Error{usage} for no parts and
// Error{mismatch} when a part has another record shape, element type or target width than the first, lacks
// labels that the first has, or has a label that is not a class of it.
DatasetPtr joined(std::vector<DatasetPtr> parts);

// The records at `positions`, in that order; a position may occur twice. Ids, labels and classes stay the
// same. Throws Error{usage} for no positions or one that does not exist.
DatasetPtr selected(DatasetPtr whole, std::vector<std::size_t> positions);

// The same records with other labels and no targets. Class names stay as far as there are any. Throws
// Error{usage} unless there is one label, 0 to 1,000,000, per record.
DatasetPtr relabelled(DatasetPtr whole, std::vector<std::int64_t> labels);

// What a metadata column says of each record.
struct Characteristic {
  // Also a name with how numbers become ranges: "age:0|18|65" (below 0, 0 to 18, 18 to 65, 65 and above) and
  // "age:quartiles".
  std::string name;
  std::vector<std::string> values;  // one per record; empty where it is not known
};

// The same records with these metadata columns in place of any there were. Throws Error{usage} for a name
// that gates could not write, or that is given twice, and unless there is one value per record; Error{data}
// for more than 64 different values, and for a range of what is not a number.
DatasetPtr characterised(DatasetPtr whole, std::vector<Characteristic> characteristics);

// The same records with the number of their class as the one target, and no labels. Class names stay.
DatasetPtr numbered(DatasetPtr whole);

}  // namespace assay::inline data
