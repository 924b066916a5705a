#include "assay/engine/lanes/segment.h"

#include <assay/array_math.h>
#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"
#include "assay/engine/lanes/operators.h"
#include "assay/engine/lanes/recurrence.h"
#include "assay/engine/lanes/tiles.h"
#include "assay/engine/threads/workers.h"

namespace assay::lanes {
namespace {

// The rows of a tile that an objective reads, and the gradients it returns for them.
Room& elements_room() {
  thread_local Room room;
  return room;
}
Room& gradients_room() {
  thread_local Room room;
  return room;
}

struct Compiled {
  Program program;
  Room sums;  // of learned constants
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

void reduce(const Tapped& tapped, const Tile& tile) {
  const auto to = [&](const std::array<int, 3>& slots) {
    const auto at = [&](int slot) { return slot < 0 ? nullptr : tile.value(slot); };
    return Reductions{.mean = at(slots[0]), .greatest = at(slots[1]), .least = at(slots[2])};
  };
  const bool last = tapped.neurons_last;
  const float* const value = tile.value(tapped.slot);
  if (tapped.neurons != std::array{-1, -1, -1}) {
    reduce({.channels = tapped.channels,
            .positions = tapped.positions,
            .channel_step = last ? width : tapped.positions * width,
            .position_step = last ? tapped.channels * width : width},
           value, to(tapped.neurons));
  }
  const ReduceMap all{.channels = 1, .positions = tapped.channels, .channel_step = 0, .position_step = width};
  for (std::size_t place = 0; place < tapped.whole.size(); ++place) {
    std::array<int, 3> one{-1, -1, -1};
    one[place] = tapped.whole[place];
    if (one[place] >= 0)
      reduce(all, tapped.positions == 1 ? value : tile.value(tapped.neurons[place]), to(one));
  }
}

void run_forward(const Program& program, std::span<const Tile> tiles) {
  for (std::size_t done = 0; done <= program.operations.size(); ++done) {
    if (done > 0) program.operations[done - 1]->forward_all(tiles);
    for (const std::size_t t : program.tapped_after[done]) {
      for (const Tile& tile : tiles) reduce(program.tapped[t], tile);
    }
  }
}

// Writes what learned constants sum, or adds it.
void run_backward(const Program& program, std::span<const Tile> tiles, bool add, float* sums) {
  auto lesson = program.lessons.rbegin();
  for (std::size_t i = program.operations.size(); i-- > 0;) {
    if (!program.gradients[i].empty()) program.operations[i]->backward_all(tiles, program.gradients[i]);
    for (; lesson != program.lessons.rend() && lesson->operation == i; ++lesson) {
      if (lesson->at < 0) continue;
      float* const to = sums + lesson->at;
      if (program.gradients[i].empty()) {
        std::fill_n(to, program.operations[i]->learned()[lesson->which].to.size(), 0.0F);
      } else {
        for (std::size_t t = 0; t < tiles.size(); ++t)
          program.operations[i]->learn(tiles[t], lesson->which, add || t > 0, to);
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
        workers_(static_cast<std::size_t>(std::max(request_.threads, 1))),
        forward_{.program = compile(request_, records_, {}), .sums = {}} {
    for (const ValueId id : request_.learned) {
      if (std::ranges::any_of(forward_.program.operations, [&](const auto& operation) {
            return std::ranges::count(operation->learned(), id, &Learned::constant) > 0;
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
    const auto results_of = [&](const Tile& tile, std::int64_t first, std::int64_t count) {
      for (std::size_t o = 0; o < out.size(); ++o)
        store(tile.value(program.outputs[o]), elements(program, program.outputs[o]), first, count, out[o]);
      for (std::size_t t = 0; t < tapped.size(); ++t)
        store(tile.value(program.taps[t]), elements(program, program.taps[t]), first, count, tapped[t]);
    };
    each_group(program, records, 0, [&](std::span<const Tile> tiles, std::int64_t first, std::int64_t count) {
      load_inputs(program, tiles, inputs, first, count);
      run_forward(program, tiles);
      each_of(tiles, first, count, results_of);
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
                [&](const Tile& tile, std::size_t, std::size_t, std::int64_t first, std::int64_t count) {
                  load_seeds(compiled.program, tile, seeds, first, count);
                })[0]);
  }

  RecordGradients gradients(const Tensors& given, const RecordObjective& objective,
                            std::span<const ValueId> wanted) const override {
    Compiled& compiled = differentiated(wanted);
    const Program& program = compiled.program;
    // Where each output begins among a record's elements.
    std::vector<std::int64_t> begins(program.outputs.size());
    std::int64_t all = 0;
    for (const ValueId id : objective.read) {
      const auto o = static_cast<std::size_t>(std::ranges::find(request_.keep, id) - request_.keep.begin());
      begins.at(o) = all;
      all += elements(program, program.outputs[o]);
    }
    const std::int64_t row = all * static_cast<std::int64_t>(objective.numbers);
    std::vector<std::int64_t> shape = request_.shape_of(objective.read.at(0));
    const std::int64_t size = element_count(shape);
    shape[0] = given.at(records_.at(0)).size(0);
    RecordGradients result{.value = array::empty(shape), .gradients = {}};
    float* const values = result.value.elements<float>();
    // Of all neighbouring tiles: for the first number they are requested all.
    const auto gradients_of = [&](std::size_t place) {
      return gradients_room().floats(row * width * program.neighbours) +
             static_cast<std::int64_t>(place) * row * width;
    };
    const auto ask = [&](const Tile& tile, std::size_t place, std::int64_t first, std::int64_t count) {
      float* const read = elements_room().floats(all * width);
      for (std::size_t o = 0; o < begins.size(); ++o) {
        float* rows[width];
        point_at_rows(read + begins[o], all, count, rows);
        from_lanes(tile.value(program.outputs[o]), elements(program, program.outputs[o]), count, rows);
      }
      float* const gradients = gradients_of(place);
      std::fill_n(gradients, row * width,
                  0.0F);  // also of records that are missing: they add nothing to sums
      for (std::int64_t r = 0; r < count; ++r) {
        std::copy_n(read + r * all, size, values + (first + r) * size);
        objective.gradients(static_cast<std::size_t>(first + r),
                            {read + r * all, static_cast<std::size_t>(all)},
                            {gradients + r * row, static_cast<std::size_t>(row)});
      }
      return gradients;
    };
    const auto found = go_back(
        compiled, true, given, wanted, objective.numbers,
        [&](const Tile& tile, std::size_t place, std::size_t n, std::int64_t first, std::int64_t count) {
          const float* const gradients = n == 0 ? ask(tile, place, first, count) : gradients_of(place);
          for (std::size_t o = 0; o < begins.size(); ++o) {
            const float* rows[width];
            point_at_rows(gradients + static_cast<std::int64_t>(n) * all + begins[o], row, width, rows);
            put(program, tile, o, rows);
          }
        });
    for (const std::vector<Array>& of_number : found) {
      Tensors& gradients = result.gradients.emplace_back();
      for (std::size_t w = 0; w < wanted.size(); ++w) gradients.emplace(wanted[w], of_number[w]);
    }
    return result;
  }

 private:
  // Goes back through every tile once for each number, after going forward if that is needed. seed(tile, its
  // index among its neighbours, number, first, count) writes the gradients of the outputs. Returns them by
  // number and `wanted`.
  template <typename Seed>
  std::vector<std::vector<Array>> go_back(Compiled& compiled, bool forward, const Tensors& given,
                                          std::span<const ValueId> wanted, std::size_t numbers,
                                          const Seed& seed) const {
    const Program& program = compiled.program;
    const std::vector<Array> inputs = contiguous(given);
    const std::int64_t records = inputs.at(0).size(0);
    std::vector<int> slots;
    for (const ValueId id : wanted) slots.push_back(gradient_of(program, id));
    std::vector<std::vector<Array>> results(numbers);
    for (std::vector<Array>& of_number : results) {
      for (std::size_t w = 0; w < wanted.size(); ++w) {
        const Array& like = given.at(wanted[w]);
        of_number.push_back(slots[w] >= 0 ? array::empty(like.shape()) : array::zeros(like.shape()));
      }
    }
    set_learned(compiled, given);
    const Chunks chunks(records, program.sums > 0);
    const std::int64_t of_number = chunks.count * program.sums;
    float* const sums = compiled.sums.floats(static_cast<std::int64_t>(numbers) * of_number);
    each_group(program, records, program.sums > 0 ? chunks.tiles_each : 0,
               [&](std::span<const Tile> tiles, std::int64_t first, std::int64_t count) {
                 if (forward) {
                   load_inputs(program, tiles, inputs, first, count);
                   for (const auto& operation : program.operations) operation->forward_all(tiles);
                 }
                 for (std::size_t n = 0; n < numbers; ++n) {
                   std::size_t place = 0;
                   each_of(tiles, first, count, [&](const Tile& tile, std::int64_t at, std::int64_t some) {
                     seed(tile, place++, n, at, some);
                   });
                   run_backward(
                       program, tiles, !chunks.begins(first),
                       sums + static_cast<std::int64_t>(n) * of_number + chunks.of(first) * program.sums);
                   each_of(tiles, first, count, [&](const Tile& tile, std::int64_t at, std::int64_t some) {
                     for (std::size_t w = 0; w < slots.size(); ++w) {
                       if (slots[w] >= 0)
                         store(tile.gradient(slots[w]), elements(program, slots[w]), at, some,
                               results[n][w].elements<float>());
                     }
                   });
                 }
               });
    for (std::size_t n = 0; n < numbers; ++n)
      collect(program, sums + static_cast<std::int64_t>(n) * of_number, chunks.count, wanted, results[n]);
    return results;
  }

  static std::int64_t elements(const Program& program, int slot) {
    return program.elements[static_cast<std::size_t>(slot)];
  }

  // Where the gradient of an input is; -1: none reaches it, or it is a constant.
  int gradient_of(const Program& program, ValueId id) const {
    const auto record = std::ranges::find(records_, id);
    if (record == records_.end()) return -1;
    const int slot = program.inputs[static_cast<std::size_t>(record - records_.begin())];
    return program.gradient_at[static_cast<std::size_t>(slot)] < 0 ? -1 : slot;
  }

  std::vector<Array> contiguous(const Tensors& given) const {
    std::vector<Array> inputs;
    for (const ValueId id : records_) inputs.push_back(given.at(id).contiguous());
    return inputs;
  }

  void set_learned(Compiled& compiled, const Tensors& given) const {
    const std::vector<Lesson>& lessons = compiled.program.lessons;
    if (lessons.empty()) return;
    std::atomic<std::size_t> next{0};
    run_workers(workers_, [&](std::size_t) {
      for (std::size_t l; (l = next.fetch_add(1)) < lessons.size();) {
        Operation& operation = *compiled.program.operations[lessons[l].operation];
        const Array value = given.at(operation.learned()[lessons[l].which].constant).contiguous();
        operation.set(lessons[l].which, {value.elements<float>(), static_cast<std::size_t>(value.count())});
      }
    });
  }

  // Adds the sums of all chunks, in order, to the elements of constants that they belong to.
  void collect(const Program& program, const float* sums, std::int64_t chunks,
               std::span<const ValueId> wanted, std::vector<Array>& results) const {
    if (program.sums == 0) return;
    struct Piece {
      const Lesson* lesson;
      std::size_t begin, end;
    };
    constexpr std::size_t piece = 4096;
    std::vector<Piece> pieces;
    for (const Lesson& lesson : program.lessons) {
      if (lesson.at < 0) continue;
      const Learned& learned = learned_of(program, lesson);
      // A constant that several operations read has its gradient summed by one thread.
      const std::size_t all = learned.to.size(), step = learned.unique ? piece : all;
      for (std::size_t begin = 0; begin < all; begin += step)
        pieces.push_back({&lesson, begin, std::min(begin + step, all)});
    }
    std::atomic<std::size_t> next{0};
    const auto add = [&](const Piece& of) {
      const Learned& learned = learned_of(program, *of.lesson);
      const auto at = std::ranges::find(wanted, learned.constant) - wanted.begin();
      float* const to = (results[static_cast<std::size_t>(at)]).elements<float>();
      std::vector<float> whole(of.end - of.begin);
      for (std::int64_t c = 0; c < chunks; ++c) {
        const float* const from = sums + c * program.sums + of.lesson->at + of.begin;
        for (std::size_t i = 0; i < whole.size(); ++i) whole[i] += from[i];
      }
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const std::int32_t element = learned.to[of.begin + i];
        if (element >= 0) to[element] += learned.factor * whole[i];
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

  static const Learned& learned_of(const Program& program, const Lesson& lesson) {
    return program.operations[lesson.operation]->learned()[lesson.which];
  }

  // Whether several operations read one of the learned constants.
  static bool shares_constants(const Program& program) {
    std::set<ValueId> seen;
    return std::ranges::any_of(program.lessons, [&](const Lesson& lesson) {
      return !seen.insert(learned_of(program, lesson).constant).second;
    });
  }

  void load_inputs(const Program& program, std::span<const Tile> tiles, const std::vector<Array>& inputs,
                   std::int64_t first, std::int64_t count) const {
    each_of(tiles, first, count, [&](const Tile& tile, std::int64_t at, std::int64_t some) {
      for (std::size_t i = 0; i < inputs.size(); ++i)
        load(inputs[i], at, some, elements(program, program.inputs[i]), tile.value(program.inputs[i]));
    });
  }

  // The gradients of an output, a row for each record, or adds them to those that the output it shares its
  // place with has left there.
  static void put(const Program& program, const Tile& tile, std::size_t output,
                  const float* const (&rows)[width]) {
    const int slot = program.outputs[output];
    const std::int64_t size = elements(program, slot);
    if (program.seeded[output] == GradientState::first) to_lanes(rows, size, tile.gradient(slot));
    if (program.seeded[output] != GradientState::further) return;
    const auto more = allocate_floats(static_cast<std::size_t>(size * width));
    to_lanes(rows, size, more.get());
    add_to(size, more.get(), tile.gradient(slot));
  }

  // Gradients of records that are missing from a tile are 0, so that they add nothing to sums.
  static void load_seeds(const Program& program, const Tile& tile, const std::vector<Array>& seeds,
                         std::int64_t first, std::int64_t count) {
    for (std::size_t o = 0; o < seeds.size(); ++o) {
      const int slot = program.outputs[o];
      const std::int64_t size = elements(program, slot);
      if (!seeds[o].defined()) {
        if (program.seeded[o] == GradientState::first) fill(size, 0, tile.gradient(slot));
        continue;
      }
      const std::vector<float> none(count < width ? static_cast<std::size_t>(size) : 0);
      const float* rows[width];
      for (std::int64_t r = 0; r < width; ++r)
        rows[r] = r < count ? seeds[o].elements<float>() + (first + r) * size : none.data();
      put(program, tile, o, rows);
    }
  }

  // work(tiles side by side, first record, number of records) for all records. Those of `chunk` tiles are one
  // thread's; 0: any.
  template <typename Work>
  void each_group(const Program& program, std::int64_t records, std::int64_t chunk, const Work& work) const {
    const auto workers = static_cast<std::int64_t>(workers_);
    const std::int64_t tiles = (records + width - 1) / width, most = program.neighbours;
    const std::int64_t group = (shared_out(tiles, most * workers) + workers - 1) / workers;
    each_tile(
        workers_, most * program.floats + program.scratch, records, chunk > 0 ? chunk : group, most,
        [&](float* memory) {
          std::vector<Tile> all;
          for (std::int64_t n = 0; n < most; ++n)
            all.emplace_back(program, memory + n * program.floats, memory + most * program.floats);
          return all;
        },
        [&](const std::vector<Tile>& all, std::int64_t first, std::int64_t count) {
          work(std::span(all).first(static_cast<std::size_t>((count + width - 1) / width)), first, count);
        });
  }

  // work(tile, first record, number of records) for each of the tiles of so many records.
  template <typename Work>
  static void each_of(std::span<const Tile> tiles, std::int64_t first, std::int64_t count, const Work& work) {
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      const auto before = static_cast<std::int64_t>(t) * width;
      work(tiles[t], first + before, std::min(width, count - before));
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
  std::vector<ValueId> records_, inputs_;  // inputs: the records, then learned constants
  std::size_t workers_;
  mutable Compiled forward_;  // takes the values of learned constants
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
      if (id != no_value) elements += static_cast<double>(element_count(shape_of(id)));
    }
    return elements * static_cast<double>(2 * width * sizeof(float));  // values and gradients
  }
  bool learns(const Graph&, const Node& node, std::size_t) const override {
    return is_recurrent(node.op) || lanes::learns(node);
  }
  bool stands_alone(const Node& node) const override { return is_recurrent(node.op); }
  std::int64_t most_steps(const Graph& graph, const Node& node) const override {
    return lanes::most_steps(graph, node);
  }
  double learned_bytes(double elements) const override {
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

Tile::Tile(const Program& program, float* memory, float* scratch) : scratch_(scratch) {
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
