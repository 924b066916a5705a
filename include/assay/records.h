#pragma once

// Data sets from what a program has in memory, or makes on demand. A set from arrays has the content hash
// of the same records, labels and targets in an .npz file (whose uint8 pictures are those times 1/255).

#include <functional>
#include <string>
#include <vector>

#include <assay/dataset.h>

namespace assay {

struct RecordOptions {
  std::string name = "records";               // what messages and reports call the set
  std::vector<std::string> ids = {};          // one per record; the numbers from 0 if none
  std::vector<std::string> class_names = {};  // of all classes; the numbers up to the largest label if none
  Array targets = {};  // [n] or [n, t] regression targets, float32 or float64; may be empty
  std::optional<ValidRange> valid_range = {};  // of the (first) input
};

// Records along the first axis of `inputs`, as the network takes them: float32, or int64 for tokens (float64
// and int32 are converted to these). The array is shared, not copied. Throws Error{usage} for no records, an
// element type or label that is none, and Error{mismatch} for numbers of labels, ids or targets that differ
// from that of the records. A NaN or infinity is an Error{data} naming the record when it is read.
DatasetPtr from_arrays(Array inputs, std::vector<std::int64_t> labels = {}, RecordOptions options = {});
// Records with several inputs, by the names under which the network takes them; ids, range and whatever looks
// at one input only take the first.
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

// Records that `write` makes when they are read, so that nothing need be in memory. `facts` needs size,
// record_shape and dtype, and class_names (records have labels where there are any), target_width and so on
// as they apply; a description is made if there is none. `write` may be called by several threads at once,
// and must write the same for the same index. `id`: names of the records, the numbers if not given. Throws
// Error{usage} for facts that are none; reading a NaN, an infinity or a label that is no class is an
// Error{data}.
DatasetPtr from_function(DatasetFacts facts, std::function<void(std::size_t index, Record& record)> write,
                         std::function<std::string(std::size_t index)> id = {});

}  // namespace assay
