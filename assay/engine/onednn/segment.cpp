#include "assay/engine/onednn/segment.h"

#include <assay/array_math.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <unordered_map>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"
#include "assay/engine/lanes/kernels.h"
#include "assay/engine/onednn/operators.h"
#include "assay/engine/onednn/program.h"
#include "assay/engine/onednn/recurrence.h"
#include "assay/engine/onednn/reduce.h"
#include "assay/engine/recurrent_cell.h"
#include "assay/engine/threads/workers.h"

namespace assay::onednn {
namespace {

// One thread's memory for one program.
class Worker {
 public:
  explicit Worker(const Program& program) : program_(program), stream_(cpu()) {
    for (const std::size_t bytes : program.buffers) {
      buffers_.emplace_back(dnnl::memory::desc({static_cast<std::int64_t>(bytes)},
                                               dnnl::memory::data_type::u8, dnnl::memory::format_tag::a),
                            cpu());
    }
    for (const Step& step : program.steps) {
      auto& arguments = arguments_.emplace_back();
      for (const auto& [argument, place] : step.arguments) {
        const dnnl::memory memory = bind(place);
        arguments.emplace(argument, memory);
        if (place.kind == Place::Kind::input) input_memories_.emplace_back(memory, place.index);
      }
    }
    for (const Output& output : program.outputs) {
      const dnnl::memory memory = bind(output.place);
      if (output.place.kind == Place::Kind::input) input_memories_.emplace_back(memory, output.place.index);
      output_sources_.push_back(memory);
      output_targets_.emplace_back(output.plain, cpu(), nullptr);
    }
    for (const Reduced& tap : program.taps) {
      const dnnl::memory memory = bind(tap.place);
      if (tap.place.kind == Place::Kind::input) input_memories_.emplace_back(memory, tap.place.index);
      tap_sources_.push_back(memory);
    }
    taps_after_.resize(program.steps.size() + 1);
    outputs_after_.resize(program.steps.size() + 1);
    for (std::size_t t = 0; t < program.taps.size(); ++t)
      taps_after_[static_cast<std::size_t>(program.taps[t].after + 1)].push_back(t);
    for (std::size_t o = 0; o < program.outputs.size(); ++o)
      outputs_after_[static_cast<std::size_t>(program.outputs[o].after + 1)].push_back(o);
  }

  // Runs one chunk. `inputs` point at its first row; outputs and taps at their first row of this chunk, which
  // must have room for `program.rows` rows.
  void run(std::span<float* const> inputs, std::span<float* const> outputs, std::span<float* const> taps) {
    for (auto& [memory, index] : input_memories_)
      memory.set_data_handle(inputs[static_cast<std::size_t>(index)]);
    for (std::size_t done = 0; done <= program_.steps.size(); ++done) {
      if (done > 0) program_.steps[done - 1].primitive.execute(stream_, arguments_[done - 1]);
      for (const std::size_t t : taps_after_[done]) {
        const Reduced& tap = program_.taps[t];
        reduce_positions(static_cast<const float*>(tap_sources_[t].get_data_handle()), tap.place.desc,
                         program_.rows, tap.reduction, tap.whole, taps[t]);
      }
      for (const std::size_t o : outputs_after_[done]) {
        output_targets_[o].set_data_handle(outputs[o]);
        program_.outputs[o].reorder.execute(stream_, output_sources_[o], output_targets_[o]);
      }
    }
    stream_.wait();
  }

 private:
  dnnl::memory bind(const Place& place) {
    if (place.kind == Place::Kind::weight) return program_.weights[static_cast<std::size_t>(place.index)];
    void* const handle = place.kind == Place::Kind::buffer
                             ? buffers_[static_cast<std::size_t>(place.index)].get_data_handle()
                             : nullptr;
    return {place.desc, cpu(), handle};
  }

  const Program& program_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> buffers_;
  std::vector<std::unordered_map<int, dnnl::memory>> arguments_;
  std::vector<std::pair<dnnl::memory, int>> input_memories_;
  std::vector<dnnl::memory> output_sources_, output_targets_, tap_sources_;
  std::vector<std::vector<std::size_t>> taps_after_, outputs_after_;  // by the number of steps done
};

struct Compiled {
  Program program;
  std::vector<std::unique_ptr<Worker>> workers;
};

// Rows of a chunk: as many as keep the largest value of the segment within a share of the second-level cache.
std::int64_t choose_rows(const Graph& graph, std::span<const int> nodes, const ShapeOf& shape_of) {
  std::int64_t largest = 1;
  for (const int n : nodes) {
    largest = std::max(largest, element_count(shape_of(graph.node(n).outputs[0])));
  }
  constexpr std::int64_t cache = 1 << 18;  // float elements: 1 MiB
  const std::int64_t rows = std::clamp<std::int64_t>(cache / largest, 4, 64);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows)));
}

class OneDnnSegment : public Segment {
 public:
  explicit OneDnnSegment(SegmentRequest request)
      : request_(std::move(request)),
        inputs_(outside_inputs(request_)),
        rows_(choose_rows(*request_.graph, request_.nodes, request_.shape_of)),
        workers_(static_cast<std::size_t>(std::max(request_.threads, 1))) {
    const auto record_size = [&](ValueId id) { return element_count(request_.shape_of(id)); };
    for (const ValueId id : inputs_) input_size_.push_back(record_size(id));
    for (const ValueId id : request_.keep) output_size_.push_back(record_size(id));
    for (const ReducedValue& tap : request_.taps)
      tap_size_.push_back(tap.columns(request_.shape_of(tap.value)));
  }

  std::span<const ValueId> inputs() const override { return inputs_; }
  std::span<const ValueId> outputs() const override { return request_.keep; }
  void run(const Tensors& given, Tensors& results, std::span<float* const> tapped) const override;

 private:
  Compiled& at(std::int64_t chunk) const {
    const auto it = compiled_.find(chunk);
    if (it != compiled_.end()) return it->second;
    Compiled& entry = compiled_[chunk];
    // oneDNN plans for the threads of the thread that compiles: one.
    run_workers(1, [&](std::size_t) { entry.program = compile(request_, inputs_, chunk); });
    for (std::size_t w = 0; w < workers_; ++w)
      entry.workers.push_back(std::make_unique<Worker>(entry.program));
    return entry;
  }

  SegmentRequest request_;
  std::vector<ValueId> inputs_;
  std::int64_t rows_;
  std::size_t workers_;
  std::vector<std::int64_t> input_size_, output_size_, tap_size_;  // elements per record
  mutable std::map<std::int64_t, Compiled> compiled_;              // by rows
};

void OneDnnSegment::run(const Tensors& given, Tensors& results, std::span<float* const> tapped) const {
  std::vector<Array> inputs;
  for (const ValueId id : inputs_) inputs.push_back(given.at(id).contiguous());
  const std::int64_t rows = inputs.at(0).size(0);

  std::vector<float*> in, out;
  for (const Array& tensor : inputs) in.push_back(tensor.elements<float>());
  for (const ValueId id : request_.keep) {
    std::vector<std::int64_t> shape = request_.shape_of(id);
    shape[0] = rows;
    out.push_back((results[id] = array::empty(shape)).elements<float>());
  }

  // Whole chunks, then one smaller one for what is left, padded to a power of two in staging memory.
  const auto run_chunk = [&](Worker& worker, std::int64_t first, std::int64_t count, std::int64_t chunk) {
    const bool staged = count < chunk;
    std::vector<std::vector<float>> staging;
    const auto pointers = [&](std::span<float* const> bases, const std::vector<std::int64_t>& sizes,
                              bool fill) {
      std::vector<float*> result;
      for (std::size_t i = 0; i < bases.size(); ++i) {
        float* const at = bases[i] + first * sizes[i];
        if (!staged) {
          result.push_back(at);
          continue;
        }
        auto& copy = staging.emplace_back(static_cast<std::size_t>(chunk * sizes[i]));
        if (fill) std::copy_n(at, count * sizes[i], copy.data());
        result.push_back(copy.data());
      }
      return result;
    };
    const auto chunk_in = pointers(in, input_size_, true);
    const auto chunk_out = pointers(out, output_size_, false);
    const auto chunk_tap = pointers(tapped, tap_size_, false);
    worker.run(chunk_in, chunk_out, chunk_tap);
    if (!staged) return;
    for (std::size_t o = 0; o < out.size(); ++o)
      std::copy_n(chunk_out[o], count * output_size_[o], out[o] + first * output_size_[o]);
    for (std::size_t t = 0; t < tapped.size(); ++t)
      std::copy_n(chunk_tap[t], count * tap_size_[t], tapped[t] + first * tap_size_[t]);
  };

  // Small batches are cut so that every thread has something to do.
  const auto threads = static_cast<std::int64_t>(workers_);
  const auto share =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>((rows + threads - 1) / threads)));
  const std::int64_t chunk = std::min(rows_, std::max<std::int64_t>(share, 1));
  const std::int64_t whole = rows / chunk, left = rows % chunk;
  Compiled& full = at(chunk);
  std::atomic<std::int64_t> next{0};
  Compiled* rest =
      left > 0 ? &at(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(left)))) : nullptr;
  run_workers(workers_, [&](std::size_t w) {
    for (std::int64_t i; (i = next.fetch_add(1)) <= whole;) {
      if (i < whole) {
        run_chunk(*full.workers[w], i * chunk, chunk, chunk);
      } else if (rest != nullptr) {
        run_chunk(*rest->workers[w], whole * chunk, left, rest->program.rows);
      }
    }
  });
}

class OnednnBackend : public Backend {
 public:
  std::string_view name() const override { return "onednn"; }
  bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) const override {
    if (onednn::supports(graph, node, shape_of)) return true;
    // With AVX2 its cells sum in another order in batches of another size, and are not faster than the lanes.
    constexpr std::int64_t avx512 = 16;
    return is_usual_recurrence(graph, node) && lanes::lanes_of_vector() >= avx512;
  }
  double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) const override {
    return stands_alone(node) ? recurrence_cost(graph, node) : onednn::cost(graph, node, shape_of);
  }
  double kept_bytes(const Node&, const ShapeOf&) const override { return 0; }
  bool differentiates() const override { return false; }
  bool keeps_nan() const override { return false; }  // its maxima may drop one
  bool stands_alone(const Node& node) const override { return is_recurrent(node.op); }
  std::unique_ptr<Segment> compile(SegmentRequest request) const override {
    const Node& first = request.graph->node(request.nodes.at(0));
    if (stands_alone(first)) return compile_recurrence(std::move(request));
    return std::make_unique<OneDnnSegment>(std::move(request));
  }
};

}  // namespace

const Backend* backend() {
  static const OnednnBackend instance;
  return &instance;
}

}  // namespace assay::onednn
