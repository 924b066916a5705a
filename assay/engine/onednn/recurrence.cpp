#include "assay/engine/onednn/recurrence.h"

#include <assay/array_math.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

#include "assay/engine/onednn/primitives.h"
#include "assay/engine/parameters.h"
#include "assay/engine/recurrent_cell.h"
#include "assay/engine/threads/workers.h"

namespace assay::onednn {
namespace {

using N = RecurrentNode;

// ONNX's number of oneDNN's gate.
std::int64_t gate_of(const RecurrentNode& cell, std::int64_t gate) {
  constexpr std::int64_t lstm[] = {0, 2, 3, 1};
  return cell.kind == CellKind::lstm ? lstm[gate] : gate;
}

// One direction's weights as oneDNN numbers them: [inputs][gates][hidden] and [gates][hidden].
struct CellWeights {
  std::vector<float> layer, recurrent, bias;
};

CellWeights weights_of(const Graph& graph, const Node& node, const RecurrentNode& layout,
                       std::int64_t direction) {
  const std::int64_t rows = layout.gates * layout.hidden;
  const auto turned = [&](std::size_t input, std::int64_t columns) {
    const float* const from =
        graph.constant(node.inputs[input]).as<float>().data() + direction * rows * columns;
    std::vector<float> to(static_cast<std::size_t>(rows * columns));
    for (std::int64_t g = 0; g < layout.gates; ++g) {
      const auto gate = gate_of(layout, g);
      for (std::int64_t h = 0; h < layout.hidden; ++h)
        for (std::int64_t c = 0; c < columns; ++c)
          to[static_cast<std::size_t>(c * rows + g * layout.hidden + h)] =
              from[(gate * layout.hidden + h) * columns + c];
    }
    return to;
  };
  CellWeights weights{turned(1, layout.features), turned(2, layout.hidden), {}};
  // A candidate that resets after its product has a bias inside of it, the last of four.
  const bool apart = layout.kind == CellKind::gru_reset_after;
  weights.bias.resize(static_cast<std::size_t>(rows + (apart ? layout.hidden : 0)));
  if (!has_input(node, 3)) return weights;
  const float* const given = graph.constant(node.inputs[3]).as<float>().data() + direction * 2 * rows;
  for (std::int64_t g = 0; g < layout.gates; ++g) {
    const auto gate = gate_of(layout, g);
    for (std::int64_t h = 0; h < layout.hidden; ++h) {
      const float own = given[gate * layout.hidden + h], recurrent = given[rows + gate * layout.hidden + h];
      const auto at = static_cast<std::size_t>(g * layout.hidden + h);
      if (apart && g == layout.gates - 1) {
        weights.bias[at] = own;
        weights.bias[at + static_cast<std::size_t>(layout.hidden)] = recurrent;
      } else {
        weights.bias[at] = own + recurrent;
      }
    }
  }
  return weights;
}

dnnl::memory memory_of(const Desc& desc) { return {desc, cpu()}; }
float* floats(const dnnl::memory& memory) { return static_cast<float*>(memory.get_data_handle()); }

// One direction for so many steps and records.
struct CompiledCell {
  Recurrence recurrence;
  dnnl::memory layer, recurrent, bias;
};

// A thread's memory for it.
struct CellWorker {
  explicit CellWorker(const CompiledCell& compiled, std::size_t states) {
    const Recurrence& of = compiled.recurrence;
    source = memory_of(of.source), target = memory_of(of.target);
    const dnnl::memory scratch = memory_of(of.scratchpad);
    arguments = {{DNNL_ARG_SRC_LAYER, source},
                 {DNNL_ARG_DST_LAYER, target},
                 {DNNL_ARG_WEIGHTS_LAYER, compiled.layer},
                 {DNNL_ARG_WEIGHTS_ITER, compiled.recurrent},
                 {DNNL_ARG_BIAS, compiled.bias},
                 {DNNL_ARG_SCRATCHPAD, scratch}};
    constexpr int first_in[] = {DNNL_ARG_SRC_ITER, DNNL_ARG_SRC_ITER_C},
                  last_out[] = {DNNL_ARG_DST_ITER, DNNL_ARG_DST_ITER_C};
    for (std::size_t k = 0; k < states; ++k) {
      before.push_back(memory_of(of.state));
      after.push_back(memory_of(of.state));
      arguments.emplace(first_in[k], before.back());
      arguments.emplace(last_out[k], after.back());
    }
  }

  dnnl::memory source, target;
  std::vector<dnnl::memory> before, after;
  std::unordered_map<int, dnnl::memory> arguments;
};

class RecurrentSegment : public Segment {
 public:
  explicit RecurrentSegment(SegmentRequest request)
      : request_(std::move(request)),
        node_(request_.graph->node(request_.nodes.at(0))),
        layout_(*request_.graph, node_),
        workers_(static_cast<std::size_t>(std::max(request_.threads, 1))) {
    for (const ValueId id : node_.inputs) {
      if (id != no_value && !request_.graph->is_constant(id)) inputs_.push_back(id);
    }
    for (std::int64_t d = 0; d < layout_.directions(); ++d)
      weights_.push_back(weights_of(*request_.graph, node_, layout_, d));
  }

  std::span<const ValueId> inputs() const override { return inputs_; }
  std::span<const ValueId> outputs() const override { return request_.keep; }

  void run(const Tensors& given, Tensors& results, std::span<float* const>) const override {
    const auto float32 = [&](ValueId id) { return given.at(id).to(DType::float32).contiguous(); };
    const Array input = float32(node_.inputs[0]);
    const std::int64_t steps = input.size(layout_.records_first ? 1 : 0),
                       rows = input.size(layout_.records_first ? 0 : 1);
    const std::int64_t directions = layout_.directions(), hidden = layout_.hidden;
    Job job{input.elements<float>(), steps, rows, {}, nullptr, {}};
    std::vector<Array> held;
    for (std::size_t k = 0; k < layout_.states; ++k) {
      job.first[k] = nullptr;
      if (!has_input(node_, N::first_state + k)) continue;
      held.push_back(float32(node_.inputs[N::first_state + k]));
      job.first[k] = held.back().elements<float>();
    }
    for (std::size_t o = 0; o < node_.outputs.size(); ++o) {
      const ValueId id = node_.outputs[o];
      if (std::ranges::find(request_.keep, id) == request_.keep.end()) continue;
      Dims shape = layout_.records_first ? Dims{rows, directions, hidden} : Dims{directions, rows, hidden};
      if (o == 0)
        shape = layout_.records_first ? Dims{rows, steps, directions, hidden}
                                      : Dims{steps, directions, rows, hidden};
      float* const to = (results[id] = array::empty(shape, DType::float32)).elements<float>();
      (o == 0 ? job.all : job.last[o - 1]) = to;
    }
    const auto threads = static_cast<std::int64_t>(workers_);
    const auto share =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>((rows + threads - 1) / threads)));
    // Of fewer records oneDNN sums in another order. More records are not faster; long sequences take fewer
    // at a time.
    constexpr std::int64_t fewest = 16, most = 64, room = 1 << 24;  // floats of a thread
    const std::int64_t record = steps * (layout_.features + (layout_.gates + 1) * hidden);
    const auto fitting = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::clamp(room / record, fewest, most))));
    const std::int64_t chunk = std::clamp(share, fewest, fitting), chunks = (rows + chunk - 1) / chunk;
    const Prepared& prepared = at(steps, chunk);
    std::atomic<std::int64_t> next{0};
    run_workers(workers_, [&](std::size_t w) {
      for (std::int64_t i; (i = next.fetch_add(1)) < chunks;) {
        for (std::int64_t d = 0; d < directions; ++d) {
          const auto index = static_cast<std::size_t>(d);
          run_chunk(job, prepared.directions[index], *prepared.workers[index][w], d, i * chunk,
                    std::min(chunk, rows - i * chunk), chunk);
        }
      }
    });
  }

 private:
  struct Job {
    const float* input;
    std::int64_t steps, rows;
    std::array<const float*, 2> first;  // states, nullptr: zeros
    float* all;                         // nullptr: not requested
    std::array<float*, 2> last;
  };
  struct Prepared {
    std::vector<CompiledCell> directions;
    std::vector<std::vector<std::unique_ptr<CellWorker>>> workers;  // by direction
  };

  const Prepared& at(std::int64_t steps, std::int64_t chunk) const {
    const auto [entry, fresh] = prepared_.try_emplace({steps, chunk});
    if (!fresh) return entry->second;
    // oneDNN plans for the threads of the thread that compiles: one.
    run_workers(1, [&](std::size_t) {
      for (std::size_t d = 0; d < weights_.size(); ++d)
        entry->second.directions.push_back(compiled(weights_[d], layout_.backwards[d], steps, chunk));
    });
    for (const CompiledCell& direction : entry->second.directions) {
      auto& workers = entry->second.workers.emplace_back();
      for (std::size_t w = 0; w < workers_; ++w)
        workers.push_back(std::make_unique<CellWorker>(direction, layout_.states));
    }
    return entry->second;
  }

  CompiledCell compiled(const CellWeights& weights, bool backwards, std::int64_t steps,
                        std::int64_t rows) const {
    CompiledCell made{describe_recurrence(layout_.kind, backwards,
                                          {steps, rows, layout_.features, layout_.hidden, layout_.gates}),
                      {},
                      {},
                      {}};
    dnnl::stream stream(cpu());
    const auto ordered = [&](const std::vector<float>& values, const Desc& plain, const Desc& wanted) {
      dnnl::memory source(plain, cpu(), const_cast<float*>(values.data()));
      dnnl::memory target = memory_of(wanted);
      dnnl::reorder(source, target).execute(stream, source, target);
      stream.wait();
      return target;
    };
    const Recurrence& of = made.recurrence;
    made.layer = ordered(weights.layer, of.plain_layer, of.layer);
    made.recurrent = ordered(weights.recurrent, of.plain_recurrent, of.recurrent);
    made.bias = ordered(weights.bias, of.bias, of.bias);
    return made;
  }

  // Records [begin, begin + count) of a job, padded with zeros to the size of a chunk.
  void run_chunk(const Job& job, const CompiledCell& compiled, const CellWorker& worker,
                 std::int64_t direction, std::int64_t begin, std::int64_t count, std::int64_t chunk) const {
    const std::int64_t features = layout_.features, hidden = layout_.hidden;
    const std::int64_t directions = layout_.directions();
    const auto copy = [](const float* from, float* to, std::int64_t n) { std::copy_n(from, n, to); };
    // Of the record r of the job: where its step lies, and its state.
    const auto step_at = [&](std::int64_t t, std::int64_t r) {
      return layout_.records_first ? r * job.steps + t : t * job.rows + r;
    };
    const auto state_at = [&](std::int64_t r) {
      return layout_.records_first ? r * directions + direction : direction * job.rows + r;
    };
    const auto result_at = [&](std::int64_t t, std::int64_t r) {
      return layout_.records_first ? (r * job.steps + t) * directions + direction
                                   : (t * directions + direction) * job.rows + r;
    };
    float* const source = floats(worker.source);
    if (count < chunk) std::fill_n(source, job.steps * chunk * features, 0.F);
    for (std::int64_t t = 0; t < job.steps; ++t)
      for (std::int64_t r = 0; r < count; ++r)
        copy(job.input + step_at(t, begin + r) * features, source + (t * chunk + r) * features, features);
    for (std::size_t k = 0; k < worker.before.size(); ++k) {
      float* const state = floats(worker.before[k]);
      std::fill_n(state, chunk * hidden, 0.F);
      for (std::int64_t r = 0; job.first[k] != nullptr && r < count; ++r)
        copy(job.first[k] + state_at(begin + r) * hidden, state + r * hidden, hidden);
    }
    dnnl::stream stream(cpu());
    compiled.recurrence.primitive.execute(stream, worker.arguments);
    stream.wait();
    const float* const target = floats(worker.target);
    for (std::int64_t t = 0; job.all != nullptr && t < job.steps; ++t)
      for (std::int64_t r = 0; r < count; ++r)
        copy(target + (t * chunk + r) * hidden, job.all + result_at(t, begin + r) * hidden, hidden);
    for (std::size_t k = 0; k < worker.after.size(); ++k)
      for (std::int64_t r = 0; job.last[k] != nullptr && r < count; ++r)
        copy(floats(worker.after[k]) + r * hidden, job.last[k] + state_at(begin + r) * hidden, hidden);
  }

  SegmentRequest request_;
  const Node& node_;
  RecurrentNode layout_;
  std::vector<ValueId> inputs_;
  std::size_t workers_;
  std::vector<CellWeights> weights_;                                            // by direction
  mutable std::map<std::pair<std::int64_t, std::int64_t>, Prepared> prepared_;  // by steps and chunk
};

}  // namespace

double recurrence_cost(const Graph& graph, const Node& node) {
  constexpr double products_rate = 60, call = 1;  // as bench_forward measures them
  return call + static_cast<double>(graph.constant(node.inputs[1]).count() +
                                    graph.constant(node.inputs[2]).count()) /
                    products_rate;
}

std::unique_ptr<Segment> compile_recurrence(SegmentRequest request) {
  return std::make_unique<RecurrentSegment>(std::move(request));
}

}  // namespace assay::onednn
