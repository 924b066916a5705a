#include "assay/engine/channels/segment.h"

#include <assay/array_math.h>

#include <algorithm>
#include <atomic>

#include "assay/engine/channels/operators.h"
#include "assay/engine/channels/program.h"
#include "assay/engine/channels/reduce.h"
#include "assay/engine/threads/workers.h"

namespace assay::channels {
namespace {

// Records at a time: as many as keep the largest value of the segment within a share of the second-level
// cache; several even of large ones, so that weights are not read again for each, while memory is small.
std::int64_t choose_rows(const SegmentRequest& request) {
  std::int64_t largest = 1;
  for (const int n : request.nodes) {
    for (const ValueId id : request.graph->node(n).outputs) {
      if (id != no_value) largest = std::max(largest, element_count(request.shape_of(id)));
    }
  }
  constexpr std::int64_t cache = 1 << 18, memory = 1 << 22;  // floats: 1 and 16 MiB
  const std::int64_t least = std::clamp<std::int64_t>(memory / largest, 1, 4);
  return std::clamp<std::int64_t>(cache / largest, least, 64);
}

class ChannelsSegment : public Segment {
 public:
  explicit ChannelsSegment(SegmentRequest request)
      : request_(std::move(request)),
        inputs_(outside_inputs(request_)),
        program_(compile(request_, inputs_, choose_rows(request_))) {
    for (const ValueId id : inputs_) input_size_.push_back(element_count(request_.shape_of(id)));
    for (const ValueId id : request_.keep) output_size_.push_back(element_count(request_.shape_of(id)));
    for (const ReducedValue& tap : request_.taps)
      tap_size_.push_back(tap.columns(request_.shape_of(tap.value)));
    memories_.resize(static_cast<std::size_t>(std::max(request_.threads, 1)));
  }

  std::span<const ValueId> inputs() const override { return inputs_; }
  std::span<const ValueId> outputs() const override { return request_.keep; }

  void run(const Tensors& given, Tensors& results, std::span<float* const> tapped) const override {
    std::vector<Array> held;
    Places places;
    places.taps.assign(tapped.begin(), tapped.end());
    for (const ValueId id : inputs_) {
      held.push_back(given.at(id).contiguous());
      places.inputs.push_back(held.back().elements<float>());
    }
    const std::int64_t rows = held.at(0).size(0);
    for (const ValueId id : request_.keep) {
      Shape shape = request_.shape_of(id);
      shape[0] = rows;
      places.outputs.push_back((results[id] = array::empty(shape)).elements<float>());
    }
    // Small batches are cut so that every thread has something to do.
    const auto workers = static_cast<std::int64_t>(memories_.size());
    const std::int64_t chunk = std::clamp<std::int64_t>((rows + workers - 1) / workers, 1, program_.rows);
    std::atomic<std::int64_t> next{0};
    run_workers(memories_.size(), [&](std::size_t w) {
      std::unique_ptr<Memory>& memory = memories_[w];
      for (std::int64_t first; (first = chunk * next.fetch_add(1)) < rows;) {
        if (!memory) memory = std::make_unique<Memory>(program_.buffers, inputs_.size());
        run_chunk(*memory, places, first, std::min(chunk, rows - first));
      }
    });
  }

 private:
  struct Places {
    std::vector<float*> inputs, outputs, taps;
  };

  void run_chunk(Memory& memory, const Places& places, std::int64_t first, std::int64_t records) const {
    for (std::size_t i = 0; i < places.inputs.size(); ++i)
      memory.set_input(i, places.inputs[i] + first * input_size_[i]);
    for (std::size_t done = 0; done <= program_.operations.size(); ++done) {
      if (done > 0) program_.operations[done - 1]->run(memory, records);
      hand_out(memory, places, done, first, records);
    }
  }

  // What is complete after so many operations.
  void hand_out(const Memory& memory, const Places& places, std::size_t done, std::int64_t first,
                std::int64_t records) const {
    for (std::size_t t = 0; t < program_.taps.size(); ++t) {
      const Tapped& tapped = program_.taps[t];
      if (tapped.after == done)
        reduce_positions(tapped.value, memory.at(tapped.value), records, tapped.tap,
                         places.taps[t] + first * tap_size_[t]);
    }
    for (std::size_t o = 0; o < program_.outputs.size(); ++o) {
      const Output& output = program_.outputs[o];
      if (output.after != done) continue;
      const Value plain{.record = output_size_[o],
                        .shape = output.value.shape,
                        .strides = plain_strides(output.value.shape)};
      for (std::int64_t r = 0; r < records; ++r) {
        arrange(output.value, memory.at(output.value) + r * output.value.record, plain,
                places.outputs[o] + (first + r) * output_size_[o]);
      }
    }
  }

  SegmentRequest request_;
  std::vector<ValueId> inputs_;
  Program program_;
  std::vector<std::int64_t> input_size_, output_size_, tap_size_;  // elements of a record
  mutable std::vector<std::unique_ptr<Memory>> memories_;          // by worker
};

class ChannelsBackend : public Backend {
 public:
  std::string_view name() const override { return "channels"; }
  bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) const override {
    return channels::supports(graph, node, shape_of);
  }
  double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) const override {
    return channels::cost(graph, node, shape_of);
  }
  double kept_bytes(const Node&, const ShapeOf&) const override { return 0; }
  bool differentiates() const override { return false; }
  bool keeps_nan() const override { return true; }
  bool reduces_last_axis() const override { return true; }
  std::unique_ptr<Segment> compile(SegmentRequest request) const override {
    return std::make_unique<ChannelsSegment>(std::move(request));
  }
};

}  // namespace

const Backend& backend() {
  static const ChannelsBackend instance;
  return instance;
}

}  // namespace assay::channels
