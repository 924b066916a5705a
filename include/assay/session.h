#pragma once

// Runs a graph. The only part of Assay that does. A session is a graph prepared for runs: constants
// folded, order fixed, last readers known. It holds no state of a run; one thread may use it at a time.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/random.h>
#include <assay/layer.h>
#include <assay/tensor.h>

namespace assay::inline engine {

struct SessionOptions {
  int threads = 0;                 // 0: all cores this process may use
  std::string device = "cpu";      // or "cuda", "cuda:N", with the module of libtorch (docs/gpu.md)
  std::uint64_t memory_limit = 0;  // bytes one tensor may take; 0: half of the machine's memory
  // Engine on the processor: "auto" (the fastest, part by part), "channels", "lanes", "torch" (that module),
  // or "reference" (one operator after the other). What the chosen one cannot run, the reference runs.
  std::string engine = "auto";
  // If the model does not say it: the shape of a record of the first input, and of inputs by name.
  Shape record_shape = {};
  std::map<std::string, Shape> record_shapes = {};
};

// Takes the shapes of records from a data set, whose inputs have names where there are several.
void set_record_shapes(SessionOptions& options, const DatasetFacts& facts);

// A layer to observe. A layer may be tapped with several reductions.
struct Tap {
  const Layer* layer = nullptr;
  Reduction reduction = Reduction::mean;
  bool whole = false;  // over all its neurons and positions: one column
};
std::vector<Tap> taps_of(std::span<const Layer> layers, Reduction reduction);

// Nodes that run together. For a record: nanoseconds expected on one thread (0: unknown), and measured.
struct PlannedSegment {
  std::string engine;  // "channels", "lanes", "torch" or "reference"
  std::vector<NodeId> nodes;
  double nanoseconds = 0, measured = 0, multiply_adds = 0;  // by the operators' definitions
};

class Session {
 public:
  // Throws Error{unsupported} naming the first node whose operator has no kernel.
  explicit Session(Graph graph, SessionOptions options = {});
  ~Session();
  Session(Session&&) noexcept;

  const Graph& graph() const;
  const SessionOptions& options() const;

  // Values that a batch of records gives: the graph inputs. Records with one input fit a network with one of
  // any name; several are matched by name. Throws Error{mismatch} naming the inputs that are missing or too
  // many, or the shapes that do not fit.
  Tensors bind(const Batch& batch) const;
  // The same for records of a network with one input.
  Tensors bind(const Array& inputs) const;
  // The graph input that takes the first input of a data set's records. Throws as bind().
  ValueId first_input(const DatasetFacts& facts) const;

  // Computes `wanted` from `given` and the constants. Only the needed nodes run, and a value is released
  // after its last reader. To resume in the middle, give values of an earlier run. Inference only: no
  // gradients are recorded. Engines agree within float rounding.
  Tensors run(const Tensors& given, std::span<const ValueId> wanted) const;

  // As run(), recording gradients. Values in `given` that require gradients are leaves. In `training`,
  // `random` drives dropout and `constants` (if not null) overrides weights by value id and receives updated
  // batch-normalisation statistics.
  Tensors trace(const Tensors& given, std::span<const ValueId> wanted, bool training = false,
                Rng* random = nullptr, Tensors* constants = nullptr) const;

  // Gradient of a scalar function of the values in `read` with respect to values (inputs or any between),
  // each in the value's shape; zeros where the scalar does not depend on it.
  Tensors gradients(const Tensors& given, std::span<const ValueId> read,
                    const std::function<Array(const Tensors&)>& objective,
                    std::span<const ValueId> with_respect_to) const;
  // The same for numbers of single records, with respect to values that are given: one pass forward and one
  // back for each number, where a back end can without a copy of what lies between.
  RecordGradients gradients(const Tensors& given, const RecordObjective& objective,
                            std::span<const ValueId> with_respect_to) const;
  // In training, as trace() has it: with respect to some of `constants`, each number summed over the records.
  RecordGradients learn(const Tensors& given, const RecordObjective& objective,
                        std::span<const ValueId> with_respect_to, Rng* random, Tensors& constants) const;

  // One forward pass whose tapped layers are reduced to neuron activations on the fly, `outputs` (graph
  // values, e.g. the logits) returned whole. The hot path: taps cost little more than the pass itself.
  struct Observed {
    std::vector<Activations> layers;  // one per tap
    Tensors outputs;
  };
  Observed observe(const Tensors& given, std::span<const Tap> taps, std::span<const ValueId> outputs) const;

  // All layers in the order of computation. Shapes come from running two tiny batches under the memory limit.
  const std::vector<Layer>& layers() const;
  // Shape of a value for a batch of one record; empty for values that the same tiny runs do not compute.
  const Shape& shape(ValueId id) const;
  // The batch axis of a value and the rows per record along it. An axis of -1: the value does not depend on
  // the batch, or (0 rows) not in a known way.
  struct RecordAxis {
    int axis = -1;
    std::int64_t rows = 1;
  };
  RecordAxis record_axis(ValueId id) const;
  // Finds a layer by name, by value name, by index ("2", "-1" from the end) or by a part of a path that is
  // in no other name ("lstm" of "/lstm/LSTM"). Throws Error{usage} with the names there are and the nearest.
  const Layer& layer(std::string_view selector) const;
  // The default layer of importance analysis: the layer with weights before the last one, on the path to the
  // decision with most of them.
  const Layer& penultimate_layer() const;

  // Records per run() that analyses take by default, on any machine; `keeps_values`: of runs that go back.
  std::size_t preferred_batch(bool keeps_values = false) const;
  std::int64_t group() const;  // records that run at a time, where the file insists on it; 0: any number

  // The network's decision value: the first graph output, before a final softmax if there is one.
  ValueId logits() const;
  bool ends_in_softmax() const;
  // True when the decision value comes out of a sigmoid: a probability, to be compared with 0.5.
  bool ends_in_sigmoid() const;
  // How a forward pass to the outputs runs, in order of computation; with `measure` timed on sample records.
  std::vector<PlannedSegment> plan(bool measure = false) const;
  // What users should know about how this network is run: a batch size fixed in the file, for instance.
  const std::vector<std::string>& notices() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Neuron activations of a layer's whole tensor: [n, neurons], or [n, neurons * positions] for every_position.
Array reduce_to_neurons(const Array& value, const Layer& layer, Reduction reduction);

// Sets the number of threads on which networks run. 0: all cores this process may use.
void set_engine_threads(int threads);

// Tells the C library to keep large blocks that batches free and need again: returning them to the system
// took a third of the time of relevance propagation. For programs that run networks, at their start.
void keep_freed_memory();

}  // namespace assay::inline engine
