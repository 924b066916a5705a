#include "assay/engine/channels/segment.h"

#include <assay/array_math.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>

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
  for (const NodeId n : request.nodes) {
    for (const ValueId id : request.graph->node(n).outputs) {
      if (id != no_value) largest = std::max(largest, element_count(request.shape_of(id)));
    }
  }
  constexpr std::int64_t cache = 1 << 18, memory = 1 << 22;  // floats: 1 and 16 MiB
  const std::int64_t least = std::clamp<std::int64_t>(memory / largest, 1, 4);
  return std::clamp<std::int64_t>(cache / largest, least, 64);
}

// A value of a record and its gradient.
double bytes_kept(const Node& node, const ShapeOf& shape_of) {
  double elements = 0;
  for (const ValueId id : node.outputs) {
    if (id != no_value) elements += element_count(shape_of(id));
  }
  return 2 * elements * static_cast<double>(sizeof(float));
}

// The same where values are kept for the way back: what they take together decides.
std::int64_t choose_rows_to_differentiate(const SegmentRequest& request) {
  constexpr double most = 64e6;  // bytes
  double bytes = 1;
  for (const NodeId n : request.nodes) bytes += bytes_kept(request.graph->node(n), request.shape_of);
  const double rows = std::max(1.0, most / bytes);
  return static_cast<std::int64_t>(std::min(rows, static_cast<double>(choose_rows(request))));
}

// Numbers of records, one record after the other, as a value that lies plainly.
Value plain(const Shape& shape, std::int64_t record) {
  return {.record = record, .shape = shape, .strides = plain_strides(shape)};
}

// Records of a value, to or from numbers `step` apart.
void read(const Memory& memory, const Value& value, std::int64_t records, std::int64_t step, float* to) {
  for (std::int64_t r = 0; r < records; ++r)
    arrange(value, memory.at(value) + r * value.record, plain(value.shape, step), to + r * step);
}
void write(const Memory& memory, const Value& value, std::int64_t records, std::int64_t step,
           const float* from) {
  for (std::int64_t r = 0; r < records; ++r)
    arrange(plain(value.shape, step), from + r * step, value, memory.at(value) + r * value.record);
}

// What an objective reads: where each value begins among a record's elements.
struct Reading {
  std::vector<std::int64_t> begins;  // by output; -1: not read
  std::int64_t all = 0, first = 0;   // elements of a record; of the value that is read first
};

class ChannelsSegment : public Segment {
 public:
  explicit ChannelsSegment(SegmentRequest request)
      : request_(std::move(request)),
        inputs_(outside_inputs(request_)),
        program_(compile(request_, inputs_, {}, choose_rows(request_))) {
    for (const ValueId id : inputs_) input_size_.push_back(element_count(request_.shape_of(id)));
    for (const ValueId id : request_.keep) output_size_.push_back(element_count(request_.shape_of(id)));
    for (const ReducedValue& tap : request_.taps)
      tap_size_.push_back(tap.columns(request_.shape_of(tap.value)));
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
    each_chunk(program_, places.inputs, rows,
               [&](const Memory& memory, std::int64_t first, std::int64_t records) {
                 run_chunk(memory, places, first, records);
               });
  }

  std::vector<Array> gradients(const Tensors& given, std::span<const Array> of_outputs,
                               std::span<const ValueId> wanted) const override {
    std::vector<Array> seeds;
    for (const Array& gradient : of_outputs)
      seeds.push_back(gradient.defined() ? gradient.contiguous() : gradient);
    const Program& way = differentiated(wanted);
    std::vector<std::vector<Array>> found = gradients_of(given, wanted, 1);
    go_back(way, given, wanted, found, [&](const Memory& memory, std::int64_t first, std::int64_t records) {
      if (way.reads_values) run(way, memory, 0, way.backward, records);
      return [&, first, records](std::size_t) {
        for (std::size_t o = 0; o < seeds.size(); ++o)
          put_seed(memory, way.seeds[o], seeds[o], first, records);
      };
    });
    return found[0];
  }

  RecordGradients gradients(const Tensors& given, const RecordObjective& objective,
                            std::span<const ValueId> wanted) const override {
    const Program& way = differentiated(wanted);
    const Reading reading = reading_of(objective);
    const std::int64_t row = reading.all * static_cast<std::int64_t>(objective.numbers);
    Shape shape = request_.shape_of(objective.read.at(0));
    shape[0] = given.at(inputs_.at(0)).size(0);
    RecordGradients result{.value = array::empty(shape), .gradients = {}};
    float* const values = result.value.elements<float>();
    std::vector<std::vector<Array>> found = gradients_of(given, wanted, objective.numbers);
    go_back(way, given, wanted, found, [&](const Memory& memory, std::int64_t first, std::int64_t records) {
      run(way, memory, 0, way.backward, records);
      std::vector<float> elements(records * reading.all), asked(records * row);
      for (std::size_t o = 0; o < reading.begins.size(); ++o) {
        if (reading.begins[o] >= 0)
          read(memory, way.outputs[o].value, records, reading.all, elements.data() + reading.begins[o]);
      }
      for (std::int64_t r = 0; r < records; ++r) {
        const float* const own = elements.data() + r * reading.all;
        std::copy_n(own, reading.first, values + (first + r) * reading.first);
        objective.gradients(first + r, {own, static_cast<std::size_t>(reading.all)},
                            {asked.data() + r * row, static_cast<std::size_t>(row)});
      }
      return [&, records, asked = std::move(asked), row](std::size_t number) {
        const float* const of_number = asked.data() + static_cast<std::int64_t>(number) * reading.all;
        for (std::size_t o = 0; o < reading.begins.size(); ++o) {
          if (reading.begins[o] >= 0)
            write(memory, way.seeds[o], records, row, of_number + reading.begins[o]);
          else
            put_seed(memory, way.seeds[o], {}, 0, records);
        }
      };
    });
    for (const std::vector<Array>& of_number : found) {
      Tensors& gradients = result.gradients.emplace_back();
      for (std::size_t w = 0; w < wanted.size(); ++w) gradients.emplace(wanted[w], of_number[w]);
    }
    return result;
  }

 private:
  struct Places {
    std::vector<float*> inputs, outputs, taps;
  };

  static void run(const Program& program, const Memory& memory, std::size_t begin, std::size_t end,
                  std::int64_t records) {
    for (std::size_t i = begin; i < end; ++i) program.operations[i]->run(memory, records);
  }

  // Calls body(memory, first record, number of records) for all of them. Small batches are cut so that every
  // thread has something to do.
  template <typename Body>
  void each_chunk(const Program& program, const std::vector<float*>& inputs, std::int64_t rows,
                  const Body& body) const {
    const std::int64_t workers = std::max(request_.threads, 1);
    const std::int64_t chunk = std::clamp<std::int64_t>((rows + workers - 1) / workers, 1, program.rows);
    std::atomic<std::int64_t> next{0};
    run_workers(workers, [&](std::size_t) {
      // For this run alone: a network of many segments would keep the memory of them all.
      std::optional<Memory> memory;
      for (std::int64_t first; (first = chunk * next.fetch_add(1)) < rows;) {
        if (!memory) memory.emplace(program.buffers, inputs_.size());
        for (std::size_t i = 0; i < inputs.size(); ++i)
          memory->set_input(i, inputs[i] + first * input_size_[i]);
        body(*memory, first, std::min(chunk, rows - first));
      }
    });
  }

  void run_chunk(const Memory& memory, const Places& places, std::int64_t first, std::int64_t records) const {
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
      read(memory, output.value, records, output_size_[o], places.outputs[o] + first * output_size_[o]);
    }
  }

  const Program& differentiated(std::span<const ValueId> wanted) const {
    std::unique_ptr<Program>& entry = differentiated_[{wanted.begin(), wanted.end()}];
    if (!entry) {
      SegmentRequest request = request_;
      request.taps.clear();
      entry =
          std::make_unique<Program>(compile(request, inputs_, wanted, choose_rows_to_differentiate(request)));
    }
    return *entry;
  }

  Reading reading_of(const RecordObjective& objective) const {
    Reading reading{std::vector<std::int64_t>(request_.keep.size(), -1), 0, 0};
    for (const ValueId id : objective.read) {
      const std::size_t o = std::ranges::find(request_.keep, id) - request_.keep.begin();
      reading.begins.at(o) = reading.all;
      reading.all += output_size_[o];
      if (reading.first == 0) reading.first = output_size_[o];
    }
    return reading;
  }

  // Zeros, by number and input, for the gradients.
  static std::vector<std::vector<Array>> gradients_of(const Tensors& given, std::span<const ValueId> wanted,
                                                      std::size_t numbers) {
    std::vector<std::vector<Array>> results(numbers);
    for (std::vector<Array>& of_number : results) {
      for (const ValueId id : wanted) of_number.push_back(array::zeros(given.at(id).shape()));
    }
    return results;
  }

  // Without an array: zeros.
  void put_seed(const Memory& memory, const Value& seed, const Array& gradient, std::int64_t first,
                std::int64_t records) const {
    const std::int64_t size = seed.count();
    if (gradient.defined())
      std::copy_n(gradient.elements<float>() + first * size, records * size, memory.at(seed));
    else
      std::fill_n(memory.at(seed), records * size, 0.0F);
  }

  // Goes back once for each number: start(memory, first, records) goes forward, if that is needed, and
  // returns what puts the gradients of the outputs for a number.
  template <typename Start>
  void go_back(const Program& way, const Tensors& given, std::span<const ValueId> wanted,
               const std::vector<std::vector<Array>>& results, const Start& start) const {
    std::vector<Array> held;
    std::vector<float*> inputs;
    for (const ValueId id : inputs_)
      inputs.push_back(held.emplace_back(given.at(id).contiguous()).elements<float>());
    each_chunk(way, inputs, held.at(0).size(0),
               [&](const Memory& memory, std::int64_t first, std::int64_t records) {
                 const auto seed = start(memory, first, records);
                 for (std::size_t n = 0; n < results.size(); ++n) {
                   seed(n);
                   run(way, memory, way.backward, way.operations.size(), records);
                   for (std::size_t w = 0; w < wanted.size(); ++w) {
                     if (!way.gradients[w]) continue;
                     const std::int64_t size = way.gradients[w]->count();
                     float* const to = Array(results[n][w]).elements<float>() + first * size;
                     read(memory, *way.gradients[w], records, size, to);
                   }
                 }
               });
  }

  SegmentRequest request_;
  std::vector<ValueId> inputs_;
  Program program_;
  std::vector<std::int64_t> input_size_, output_size_, tap_size_;                    // elements of a record
  mutable std::map<std::vector<ValueId>, std::unique_ptr<Program>> differentiated_;  // by `wanted`
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
  double kept_bytes(const Node& node, const ShapeOf& shape_of) const override {
    return bytes_kept(node, shape_of);
  }
  bool differentiates() const override { return true; }
  bool redistributes() const override { return false; }
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
