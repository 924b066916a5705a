#include "assay/engine/lanes/segment.h"

#include <ATen/ATen.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "assay/engine/lanes/operators.h"
#include "assay/engine/team.h"

namespace assay::lanes {
namespace {

// A program with a tile for each thread.
struct Compiled {
  Compiled(Program made, std::size_t threads) : program(std::move(made)) {
    for (std::size_t t = 0; t < threads; ++t) tiles.push_back(std::make_unique<Tile>(program));
  }
  Program program;
  std::vector<std::unique_ptr<Tile>> tiles;
};

// Rows of `width` records from `first` on; the last of `count` stands in for those that are missing.
template <typename T>
void point_at_rows(T* base, std::int64_t elements, std::int64_t count, T* (&rows)[width]) {
  for (std::int64_t r = 0; r < width; ++r) rows[r] = base + std::min(r, count - 1) * elements;
}

void load(const Tensor& records, std::int64_t first, std::int64_t count, std::int64_t elements, float* to) {
  const float* rows[width];
  point_at_rows<const float>(records.data_ptr<float>() + first * elements, elements, count, rows);
  to_lanes(rows, elements, to);
}

void store(const float* from, std::int64_t elements, std::int64_t first, std::int64_t count, float* matrix) {
  float* rows[width];
  point_at_rows(matrix + first * elements, elements, count, rows);
  from_lanes(from, elements, count, rows);
}

void run_forward(const Program& program, const Tile& tile) {
  for (std::size_t done = 0; done <= program.operations.size(); ++done) {
    if (done > 0) program.operations[done - 1]->forward(tile);
    for (const std::size_t t : program.taps_after[done]) {
      const Tapped& tap = program.taps[t];
      reduce(tap.kind, tap.channels, tap.positions, tile.value(tap.slot), tile.value(tap.reduced));
    }
  }
}

class LanesStretch : public Stretch {
 public:
  explicit LanesStretch(StretchRequest request)
      : request_(std::move(request)),
        inputs_(outside_inputs(request_)),
        team_(static_cast<std::size_t>(std::max(request_.threads, 1))),
        forward_(compile(request_, inputs_, {}), team_.size()) {}

  std::span<const ValueId> inputs() const override { return inputs_; }
  std::span<const ValueId> outputs() const override { return request_.keep; }

  void run(const Tensors& given, Tensors& results, std::span<float* const> tapped) const override {
    const std::vector<Tensor> inputs = contiguous(given);
    const std::int64_t records = inputs.at(0).size(0);
    std::vector<float*> out;
    for (const ValueId id : request_.keep) {
      std::vector<std::int64_t> shape = request_.shape_of(id);
      shape[0] = records;
      out.push_back((results[id] = at::empty(shape, at::kFloat)).data_ptr<float>());
    }
    const Program& program = forward_.program;
    each_tile(forward_, records, [&](const Tile& tile, std::int64_t first, std::int64_t count) {
      load_inputs(program, tile, inputs, first, count);
      run_forward(program, tile);
      for (std::size_t o = 0; o < out.size(); ++o)
        store(tile.value(program.outputs[o]), elements(program, program.outputs[o]), first, count, out[o]);
      for (std::size_t t = 0; t < tapped.size(); ++t) {
        const Tapped& tap = program.taps[t];
        store(tile.value(tap.reduced), tap.channels, first, count, tapped[t]);
      }
    });
  }

  std::vector<Tensor> gradients(const Tensors& given, std::span<const Tensor> of_outputs,
                                std::span<const ValueId> wanted) const override {
    const std::vector<Tensor> inputs = contiguous(given);
    const std::int64_t records = inputs.at(0).size(0);
    std::vector<Tensor> seeds;
    for (const Tensor& slope : of_outputs) seeds.push_back(slope.defined() ? slope.contiguous() : slope);
    const Compiled& compiled = differentiated(wanted);
    const Program& program = compiled.program;
    std::vector<Tensor> results;
    std::vector<int> slots;
    for (const ValueId id : wanted) {
      const auto i = static_cast<std::size_t>(std::ranges::find(inputs_, id) - inputs_.begin());
      slots.push_back(program.inputs[i]);
      const bool reached = program.slope_at[static_cast<std::size_t>(slots.back())] >= 0;
      results.push_back(reached ? at::empty_like(inputs[i]) : at::zeros_like(inputs[i]));
    }
    each_tile(compiled, records, [&](const Tile& tile, std::int64_t first, std::int64_t count) {
      load_inputs(program, tile, inputs, first, count);
      for (const auto& operation : program.operations) operation->forward(tile);
      load_seeds(program, tile, seeds, first, count);
      for (std::size_t i = program.operations.size(); i-- > 0;) {
        if (!program.slopes[i].empty()) program.operations[i]->backward(tile, program.slopes[i]);
      }
      for (std::size_t w = 0; w < slots.size(); ++w) {
        if (program.slope_at[static_cast<std::size_t>(slots[w])] < 0) continue;
        store(tile.slope(slots[w]), elements(program, slots[w]), first, count, results[w].data_ptr<float>());
      }
    });
    return results;
  }

 private:
  static std::int64_t elements(const Program& program, int slot) {
    return program.elements[static_cast<std::size_t>(slot)];
  }

  std::vector<Tensor> contiguous(const Tensors& given) const {
    std::vector<Tensor> inputs;
    for (const ValueId id : inputs_) inputs.push_back(given.at(id).contiguous());
    return inputs;
  }

  void load_inputs(const Program& program, const Tile& tile, const std::vector<Tensor>& inputs,
                   std::int64_t first, std::int64_t count) const {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      load(inputs[i], first, count, elements(program, program.inputs[i]), tile.value(program.inputs[i]));
  }

  static void load_seeds(const Program& program, const Tile& tile, const std::vector<Tensor>& seeds,
                         std::int64_t first, std::int64_t count) {
    for (std::size_t o = 0; o < seeds.size(); ++o) {
      const int slot = program.outputs[o];
      if (program.seeded[o] == Slope::unwanted) continue;
      const bool further = program.seeded[o] == Slope::further;
      if (!seeds[o].defined()) {
        if (!further) fill(elements(program, slot), 0, tile.slope(slot));
        continue;
      }
      if (!further) {
        load(seeds[o], first, count, elements(program, slot), tile.slope(slot));
        continue;
      }
      hwy::AlignedFreeUniquePtr<float[]> more =
          hwy::AllocateAligned<float>(static_cast<std::size_t>(elements(program, slot) * width));
      load(seeds[o], first, count, elements(program, slot), more.get());
      add_to(elements(program, slot), more.get(), tile.slope(slot));
    }
  }

  template <typename Work>
  void each_tile(const Compiled& compiled, std::int64_t records, const Work& work) const {
    std::atomic<std::int64_t> next{0};
    team_.run(team_.size(), [&](std::size_t worker) {
      for (std::int64_t first; (first = next.fetch_add(width)) < records;)
        work(*compiled.tiles[worker], first, std::min(width, records - first));
    });
  }

  const Compiled& differentiated(std::span<const ValueId> wanted) const {
    std::vector<ValueId> key(wanted.begin(), wanted.end());
    auto& entry = differentiated_[key];
    if (!entry) entry = std::make_unique<Compiled>(compile(request_, inputs_, wanted), team_.size());
    return *entry;
  }

  StretchRequest request_;
  std::vector<ValueId> inputs_;
  mutable Team team_;
  Compiled forward_;
  mutable std::map<std::vector<ValueId>, std::unique_ptr<Compiled>> differentiated_;  // by what is asked for
};

class LanesBackend : public Backend {
 public:
  std::string_view name() const override { return "lanes"; }
  bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) const override {
    return lanes::supports(graph, node, shape_of);
  }
  double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) const override {
    return lanes::cost(graph, node, shape_of);
  }
  double kept_bytes(const Node& node, const ShapeOf& shape_of) const override {
    double elements = 0;
    for (const ValueId id : node.outputs) {
      if (id != no_value) elements += static_cast<double>(element_count(shape_of(id)));
    }
    return elements * static_cast<double>(2 * width * sizeof(float));  // values and slopes
  }
  bool differentiates() const override { return true; }
  bool keeps_nan() const override { return true; }
  std::unique_ptr<Stretch> compile(StretchRequest request) const override {
    return std::make_unique<LanesStretch>(std::move(request));
  }
};

}  // namespace

Tile::Tile(const Program& program)
    : memory_(
          hwy::AllocateAligned<float>(static_cast<std::size_t>(std::max<std::int64_t>(program.floats, 1)))) {
  const auto pointers = [&](const std::vector<std::int64_t>& begins) {
    std::vector<float*> result;
    for (const std::int64_t at : begins) result.push_back(at < 0 ? nullptr : memory_.get() + at);
    return result;
  };
  values_ = pointers(program.value_at);
  slopes_ = pointers(program.slope_at);
}

const Backend& backend() {
  static const LanesBackend instance;
  return instance;
}

}  // namespace assay::lanes
