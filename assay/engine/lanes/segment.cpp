#include "assay/engine/lanes/segment.h"

#include <assay/array_math.h>
#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>

#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"
#include "assay/engine/lanes/batch_blocks.h"
#include "assay/engine/lanes/operators.h"
#include "assay/engine/lanes/recurrence.h"
#include "assay/engine/threads/workers.h"

namespace assay::lanes {
namespace {

// The rows of a batch block that an objective reads, and the gradients it returns for them.
ScratchBuffer& elements_scratch() {
  thread_local ScratchBuffer scratch;
  return scratch;
}
ScratchBuffer& gradients_scratch() {
  thread_local ScratchBuffer scratch;
  return scratch;
}

struct Compiled {
  Program program;
  ScratchBuffer sums;  // of trainable constants
};

void load(const Array& records, std::int64_t first, std::int64_t count, std::int64_t elements, float* to) {
  const float* rows[width];
  point_at_rows<const float>(records.elements<float>() + first * elements, elements, count, rows);
  to_lanes(rows, elements, to);
}

void store(const float* from, std::int64_t elements, std::int64_t first, std::int64_t count, float* matrix) {
  float* rows[width];
  point_at_rows(matrix + first * elements, elements, count, rows);
  from_lanes(from, elements, count, rows);
}

void reduce(const Tapped& tapped, const BatchBlock& block) {
  const auto to = [&](const std::array<std::optional<std::size_t>, 3>& slots) {
    const auto at = [&](std::optional<std::size_t> slot) { return slot ? block.value(*slot) : nullptr; };
    return Reductions{.mean = at(slots[0]), .greatest = at(slots[1]), .least = at(slots[2])};
  };
  const bool last = tapped.neurons_last;
  const float* const value = block.value(tapped.slot);
  if (std::ranges::any_of(tapped.neurons, [](const auto& slot) { return slot.has_value(); })) {
    reduce({.channels = tapped.channels,
            .positions = tapped.positions,
            .channel_step = last ? width : tapped.positions * width,
            .position_step = last ? tapped.channels * width : width},
           value, to(tapped.neurons));
  }
  const ReduceMap all{.channels = 1, .positions = tapped.channels, .channel_step = 0, .position_step = width};
  for (std::size_t place = 0; place < tapped.whole.size(); ++place) {
    std::array<std::optional<std::size_t>, 3> one;
    one[place] = tapped.whole[place];
    if (one[place]) reduce(all, tapped.positions == 1 ? value : block.value(*tapped.neurons[place]), to(one));
  }
}

void run_forward(const Program& program, std::span<const BatchBlock> blocks) {
  for (std::size_t done = 0; done <= program.operations.size(); ++done) {
    if (done > 0) program.operations[done - 1]->forward_all(blocks);
    for (const std::size_t t : program.tapped_after[done]) {
      for (const BatchBlock& block : blocks) reduce(program.tapped[t], block);
    }
  }
}

// Writes what trainable constants sum, or adds it.
void run_backward(const Program& program, std::span<const BatchBlock> blocks, bool add, float* sums) {
  auto gradient = program.weight_gradients.rbegin();
  for (std::size_t i = program.operations.size(); i-- > 0;) {
    if (!program.gradients[i].empty()) program.operations[i]->backward_all(blocks, program.gradients[i]);
    for (; gradient != program.weight_gradients.rend() && gradient->operation == i; ++gradient) {
      if (gradient->at < 0) continue;
      float* const to = sums + gradient->at;
      if (program.gradients[i].empty()) {
        std::fill_n(to, program.operations[i]->trainable()[gradient->which].to.size(), 0.0F);
      } else {
        for (std::size_t t = 0; t < blocks.size(); ++t)
          program.operations[i]->sum_weight_gradient(blocks[t], gradient->which, add || t > 0, to);
      }
    }
  }
}

class LanesSegment : public Segment {
 public:
  explicit LanesSegment(SegmentRequest request)
      : request_(std::move(request)),
        records_(outside_inputs(request_)),
        inputs_(records_),
        workers_(std::max(request_.threads, 1)),
        forward_{.program = compile(request_, records_, {}), .sums = {}} {
    for (const ValueId id : request_.trainable) {
      if (std::ranges::any_of(forward_.program.operations, [&](const auto& operation) {
            return std::ranges::count(operation->trainable(), id, &TrainableConstant::constant) > 0;
          }))
        inputs_.push_back(id);
    }
  }

  std::span<const ValueId> inputs() const override { return inputs_; }
  std::span<const ValueId> outputs() const override { return request_.keep; }

  void run(const Tensors& given, Tensors& results, std::span<float* const> tapped) const override {
    const std::vector<Array> inputs = contiguous(given);
    const std::int64_t records = inputs.at(0).size(0);
    std::vector<float*> out;
    for (const ValueId id : request_.keep) {
      std::vector<std::int64_t> shape = request_.shape_of(id);
      shape[0] = records;
      out.push_back((results[id] = array::empty(shape)).elements<float>());
    }
    set_learned(forward_, given);
    const Program& program = forward_.program;
    const auto results_of = [&](const BatchBlock& block, std::int64_t first, std::int64_t count) {
      for (std::size_t o = 0; o < out.size(); ++o)
        store(block.value(program.outputs[o]), elements(program, program.outputs[o]), first, count, out[o]);
      for (std::size_t t = 0; t < tapped.size(); ++t)
        store(block.value(*program.taps[t]), elements(program, *program.taps[t]), first, count, tapped[t]);
    };
    each_group(program, records, 0,
               [&](std::span<const BatchBlock> blocks, std::int64_t first, std::int64_t count) {
                 load_inputs(program, blocks, inputs, first, count);
                 run_forward(program, blocks);
                 each_of(blocks, first, count, results_of);
               });
  }

  std::vector<Array> gradients(const Tensors& given, std::span<const Array> of_outputs,
                               std::span<const ValueId> wanted) const override {
    std::vector<Array> seeds;
    for (const Array& gradient : of_outputs)
      seeds.push_back(gradient.defined() ? gradient.contiguous() : gradient);
    Compiled& compiled = differentiated(wanted);
    return std::move(
        go_back(compiled, compiled.program.reads_values, given, wanted, 1,
                [&](const BatchBlock& block, std::size_t, std::size_t, std::int64_t first,
                    std::int64_t count) { load_seeds(compiled.program, block, seeds, first, count); })[0]);
  }

  RecordGradients gradients(const Tensors& given, const RecordObjective& objective,
                            std::span<const ValueId> wanted) const override {
    Compiled& compiled = differentiated(wanted);
    const Program& program = compiled.program;
    // Where each output begins among a record's elements.
    std::vector<std::int64_t> begins(program.outputs.size());
    std::int64_t all = 0;
    for (const ValueId id : objective.read) {
      const std::size_t o = std::ranges::find(request_.keep, id) - request_.keep.begin();
      begins.at(o) = all;
      all += elements(program, program.outputs[o]);
    }
    const std::int64_t row = all * static_cast<std::int64_t>(objective.numbers);
    std::vector<std::int64_t> shape = request_.shape_of(objective.read.at(0));
    const std::int64_t size = element_count(shape);
    shape[0] = given.at(records_.at(0)).size(0);
    RecordGradients result{.value = array::empty(shape), .gradients = {}};
    float* const values = result.value.elements<float>();
    // Of all neighbouring batch blocks: for the first number they are requested all.
    const auto gradients_of = [&](std::size_t place) {
      return gradients_scratch().floats(row * width * program.neighbours) +
             static_cast<std::int64_t>(place) * row * width;
    };
    const auto ask = [&](const BatchBlock& block, std::size_t place, std::int64_t first, std::int64_t count) {
      float* const read = elements_scratch().floats(all * width);
      for (std::size_t o = 0; o < begins.size(); ++o) {
        float* rows[width];
        point_at_rows(read + begins[o], all, count, rows);
        from_lanes(block.value(program.outputs[o]), elements(program, program.outputs[o]), count, rows);
      }
      float* const gradients = gradients_of(place);
      std::fill_n(gradients, row * width,
                  0.0F);  // also of records that are missing: they add nothing to sums
      for (std::int64_t r = 0; r < count; ++r) {
        std::copy_n(read + r * all, size, values + (first + r) * size);
        objective.gradients(first + r, {read + r * all, static_cast<std::size_t>(all)},
                            {gradients + r * row, static_cast<std::size_t>(row)});
      }
      return gradients;
    };
    const auto found = go_back(
        compiled, true, given, wanted, objective.numbers,
        [&](const BatchBlock& block, std::size_t place, std::size_t n, std::int64_t first,
            std::int64_t count) {
          const float* const gradients = n == 0 ? ask(block, place, first, count) : gradients_of(place);
          for (std::size_t o = 0; o < begins.size(); ++o) {
            const float* rows[width];
            point_at_rows(gradients + static_cast<std::int64_t>(n) * all + begins[o], row, width, rows);
            put(program, block, o, rows);
          }
        });
    for (const std::vector<Array>& of_number : found) {
      Tensors& gradients = result.gradients.emplace_back();
      for (std::size_t w = 0; w < wanted.size(); ++w) gradients.emplace(wanted[w], of_number[w]);
    }
    return result;
  }

 private:
  // Goes back through every batch block once for each number, after going forward if that is needed.
  // seed(batch block, its index among its neighbours, number, first, count) writes the gradients of the
  // outputs. Returns them by number and `wanted`.
  template <typename Seed>
  std::vector<std::vector<Array>> go_back(Compiled& compiled, bool forward, const Tensors& given,
                                          std::span<const ValueId> wanted, std::size_t numbers,
                                          const Seed& seed) const {
    const Program& program = compiled.program;
    const std::vector<Array> inputs = contiguous(given);
    const std::int64_t records = inputs.at(0).size(0);
    std::vector<std::optional<std::size_t>> slots;
    for (const ValueId id : wanted) slots.push_back(gradient_of(program, id));
    std::vector<std::vector<Array>> results(numbers);
    for (std::vector<Array>& of_number : results) {
      for (std::size_t w = 0; w < wanted.size(); ++w) {
        const Array& like = given.at(wanted[w]);
        of_number.push_back(slots[w] ? array::empty(like.shape()) : array::zeros(like.shape()));
      }
    }
    set_learned(compiled, given);
    const Chunks chunks(records, program.sums > 0);
    const std::int64_t of_number = chunks.count * program.sums;
    float* const sums = compiled.sums.floats(static_cast<std::int64_t>(numbers) * of_number);
    each_group(
        program, records, program.sums > 0 ? chunks.blocks_each : 0,
        [&](std::span<const BatchBlock> blocks, std::int64_t first, std::int64_t count) {
          if (forward) {
            load_inputs(program, blocks, inputs, first, count);
            for (const auto& operation : program.operations) operation->forward_all(blocks);
          }
          for (std::size_t n = 0; n < numbers; ++n) {
            std::size_t place = 0;
            each_of(blocks, first, count, [&](const BatchBlock& block, std::int64_t at, std::int64_t some) {
              seed(block, place++, n, at, some);
            });
            run_backward(program, blocks, !chunks.begins(first),
                         sums + static_cast<std::int64_t>(n) * of_number + chunks.of(first) * program.sums);
            each_of(blocks, first, count, [&](const BatchBlock& block, std::int64_t at, std::int64_t some) {
              for (std::size_t w = 0; w < slots.size(); ++w) {
                if (slots[w])
                  store(block.gradient(*slots[w]), elements(program, *slots[w]), at, some,
                        results[n][w].elements<float>());
              }
            });
          }
        });
    for (std::size_t n = 0; n < numbers; ++n)
      collect(program, sums + static_cast<std::int64_t>(n) * of_number, chunks.count, wanted, results[n]);
    return results;
  }

  static std::int64_t elements(const Program& program, std::size_t slot) { return program.elements[slot]; }

  // Where the gradient of an input is, unless none reaches it or it is a constant.
  std::optional<std::size_t> gradient_of(const Program& program, ValueId id) const {
    const auto record = std::ranges::find(records_, id);
    if (record == records_.end()) return std::nullopt;
    const std::size_t slot = program.inputs[record - records_.begin()];
    return program.gradient_at[slot] < 0 ? std::nullopt : std::optional(slot);
  }

  std::vector<Array> contiguous(const Tensors& given) const {
    std::vector<Array> inputs;
    for (const ValueId id : records_) inputs.push_back(given.at(id).contiguous());
    return inputs;
  }

  void set_learned(Compiled& compiled, const Tensors& given) const {
    const std::vector<WeightGradient>& weight_gradients = compiled.program.weight_gradients;
    if (weight_gradients.empty()) return;
    std::atomic<std::size_t> next{0};
    run_workers(workers_, [&](std::size_t) {
      for (std::size_t l; (l = next.fetch_add(1)) < weight_gradients.size();) {
        Operation& operation = *compiled.program.operations[weight_gradients[l].operation];
        const Array value = given.at(operation.trainable()[weight_gradients[l].which].constant).contiguous();
        operation.set(weight_gradients[l].which, value.as<float>());
      }
    });
  }

  // Adds the sums of all chunks, in order, to the elements of constants that they belong to.
  void collect(const Program& program, const float* sums, std::int64_t chunks,
               std::span<const ValueId> wanted, std::vector<Array>& results) const {
    if (program.sums == 0) return;
    struct Piece {
      const WeightGradient* gradient;
      std::size_t begin, end;
    };
    constexpr std::size_t piece = 4096;
    std::vector<Piece> pieces;
    for (const WeightGradient& gradient : program.weight_gradients) {
      if (gradient.at < 0) continue;
      const TrainableConstant& trainable = trainable_of(program, gradient);
      // A constant that several operations read has its gradient summed by one thread.
      const std::size_t all = trainable.to.size(), step = trainable.unique ? piece : all;
      for (std::size_t begin = 0; begin < all; begin += step)
        pieces.push_back({&gradient, begin, std::min(begin + step, all)});
    }
    std::atomic<std::size_t> next{0};
    const auto add = [&](const Piece& of) {
      const TrainableConstant& trainable = trainable_of(program, *of.gradient);
      const auto at = std::ranges::find(wanted, trainable.constant) - wanted.begin();
      float* const to = (results[at]).elements<float>();
      std::vector<float> whole(of.end - of.begin);
      for (std::int64_t c = 0; c < chunks; ++c) {
        const float* const from = sums + c * program.sums + of.gradient->at + of.begin;
        for (std::size_t i = 0; i < whole.size(); ++i) whole[i] += from[i];
      }
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const std::int32_t element = trainable.to[of.begin + i];
        if (element >= 0) to[element] += trainable.factor * whole[i];
      }
    };
    if (!shares_constants(program)) {
      run_workers(workers_, [&](std::size_t) {
        for (std::size_t p; (p = next.fetch_add(1)) < pieces.size();) add(pieces[p]);
      });
    } else {
      for (const Piece& of : pieces) add(of);
    }
  }

  static const TrainableConstant& trainable_of(const Program& program, const WeightGradient& gradient) {
    return program.operations[gradient.operation]->trainable()[gradient.which];
  }

  // Whether several operations read one of the trainable constants.
  static bool shares_constants(const Program& program) {
    std::set<ValueId> seen;
    return std::ranges::any_of(program.weight_gradients, [&](const WeightGradient& gradient) {
      return !seen.insert(trainable_of(program, gradient).constant).second;
    });
  }

  void load_inputs(const Program& program, std::span<const BatchBlock> blocks,
                   const std::vector<Array>& inputs, std::int64_t first, std::int64_t count) const {
    each_of(blocks, first, count, [&](const BatchBlock& block, std::int64_t at, std::int64_t some) {
      for (std::size_t i = 0; i < inputs.size(); ++i)
        load(inputs[i], at, some, elements(program, program.inputs[i]), block.value(program.inputs[i]));
    });
  }

  // The gradients of an output, a row for each record, or adds them to those that the output it shares its
  // place with has left there.
  static void put(const Program& program, const BatchBlock& block, std::size_t output,
                  const float* const (&rows)[width]) {
    const std::size_t slot = program.outputs[output];
    const std::int64_t size = elements(program, slot);
    if (program.seeded[output] == GradientState::first) to_lanes(rows, size, block.gradient(slot));
    if (program.seeded[output] != GradientState::further) return;
    const auto more = allocate_floats(size * width);
    to_lanes(rows, size, more.get());
    add_to(size, more.get(), block.gradient(slot));
  }

  // Gradients of records that are missing from a batch block are 0, so that they add nothing to sums.
  static void load_seeds(const Program& program, const BatchBlock& block, const std::vector<Array>& seeds,
                         std::int64_t first, std::int64_t count) {
    for (std::size_t o = 0; o < seeds.size(); ++o) {
      const std::size_t slot = program.outputs[o];
      const std::int64_t size = elements(program, slot);
      if (!seeds[o].defined()) {
        if (program.seeded[o] == GradientState::first) fill(size, 0, block.gradient(slot));
        continue;
      }
      const std::vector<float> none(count < width ? static_cast<std::size_t>(size) : 0);
      const float* rows[width];
      for (std::int64_t r = 0; r < width; ++r)
        rows[r] = r < count ? seeds[o].elements<float>() + (first + r) * size : none.data();
      put(program, block, o, rows);
    }
  }

  // work(batch blocks side by side, first record, number of records) for all records. Those of `chunk` batch
  // blocks are one thread's; 0: any.
  template <typename Work>
  void each_group(const Program& program, std::int64_t records, std::int64_t chunk, const Work& work) const {
    const std::int64_t workers = workers_;
    const std::int64_t blocks = (records + width - 1) / width, most = program.neighbours;
    const std::int64_t group = (shared_out(blocks, most * workers) + workers - 1) / workers;
    each_block(
        workers_, most * program.floats + program.scratch, records, chunk > 0 ? chunk : group, most,
        [&](float* memory) {
          std::vector<BatchBlock> all;
          for (std::int64_t n = 0; n < most; ++n)
            all.emplace_back(program, memory + n * program.floats, memory + most * program.floats);
          return all;
        },
        [&](const std::vector<BatchBlock>& all, std::int64_t first, std::int64_t count) {
          work(std::span(all).first((count + width - 1) / width), first, count);
        });
  }

  // work(batch block, first record, number of records) for each of the batch blocks of so many records.
  template <typename Work>
  static void each_of(std::span<const BatchBlock> blocks, std::int64_t first, std::int64_t count,
                      const Work& work) {
    for (std::size_t t = 0; t < blocks.size(); ++t) {
      const auto before = static_cast<std::int64_t>(t) * width;
      work(blocks[t], first + before, std::min(width, count - before));
    }
  }

  Compiled& differentiated(std::span<const ValueId> wanted) const {
    std::vector<ValueId> key(wanted.begin(), wanted.end());
    auto& entry = differentiated_[key];
    if (!entry)
      entry =
          std::make_unique<Compiled>(Compiled{.program = compile(request_, records_, wanted), .sums = {}});
    return *entry;
  }

  SegmentRequest request_;
  std::vector<ValueId> records_, inputs_;  // inputs: the records, then trainable constants
  std::size_t workers_;
  mutable Compiled forward_;  // takes the values of trainable constants
  mutable std::map<std::vector<ValueId>, std::unique_ptr<Compiled>> differentiated_;  // by what is requested
};

class LanesBackend : public Backend {
 public:
  std::string_view name() const override { return "lanes"; }
  bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) const override {
    return is_recurrent(node.op) ? supports_recurrence(graph, node) : lanes::supports(graph, node, shape_of);
  }
  double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) const override {
    return is_recurrent(node.op) ? recurrence_cost(graph, node) : lanes::cost(graph, node, shape_of);
  }
  std::int64_t records_together() const override { return width; }
  double kept_bytes(const Node& node, const ShapeOf& shape_of) const override {
    double elements = 0;
    for (const ValueId id : node.outputs) {
      if (id != no_value) elements += element_count(shape_of(id));
    }
    return elements * static_cast<double>(2 * width * sizeof(float));  // values and gradients
  }
  bool trains(const Graph&, const Node& node, std::size_t) const override {
    return is_recurrent(node.op) || lanes::trains(node);
  }
  bool stands_alone(const Node& node) const override { return is_recurrent(node.op); }
  std::int64_t most_steps(const Graph& graph, const Node& node) const override {
    return lanes::most_steps(graph, node);
  }
  double trainable_bytes(double elements) const override {
    return elements * static_cast<double>(most_chunks * sizeof(float));
  }
  bool differentiates() const override { return true; }
  bool keeps_nan() const override { return true; }
  bool reduces_last_axis() const override { return true; }
  std::unique_ptr<Segment> compile(SegmentRequest request) const override {
    const Node& first = request.graph->node(request.nodes.at(0));
    if (is_recurrent(first.op)) return compile_recurrence(std::move(request));
    return std::make_unique<LanesSegment>(std::move(request));
  }
};

}  // namespace

BatchBlock::BatchBlock(const Program& program, float* memory, float* scratch) : scratch_(scratch) {
  const auto pointers = [&](const std::vector<std::int64_t>& begins) {
    std::vector<float*> result;
    for (const std::int64_t at : begins) result.push_back(at < 0 ? nullptr : memory + at);
    return result;
  };
  values_ = pointers(program.value_at);
  gradients_ = pointers(program.gradient_at);
}

const Backend& backend() {
  static const LanesBackend instance;
  return instance;
}

}  // namespace assay::lanes
