// Correlation and L1 logistic regression of every unit of an LSTM with every hypothesis: one inspection
// against the plain pipeline, which extracts everything and then takes one pair, and one model, after
// another. Usage: bench_inspection [units [hypotheses [records [symbols [every]]]]]; the size of DeepBase's
// published benchmark is 512 190 30000 30. The plain pipeline does every n-th pair and every n-th model
// ("every") and counts them n times.
//
// The plain pipeline: pairs as SciPy's pearsonr does them (columns in float64, means, deviations, norms, one
// product), models by Adam in minibatches over all learned rows, one model at a time, until the held-out F1
// is within 0.01 of the mean of its last 5 values, after 10 passes or more, at most 50. Pairs and models are
// shared out to as many threads as the inspection has. The time of one pass over all models is printed as
// well.

#include <assay/array_math.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include <assay/extend/random.h>
#include <assay/inspection.h>
#include <assay/model.h>
#include <assay/records.h>
#include "assay/support/threads.h"

namespace assay::bench {
namespace {

using namespace inspection;

constexpr std::int64_t vocabulary = 64;

struct Sizes {
  std::size_t units, hypotheses, records, symbols, every;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Tokens -> embedding of 32 -> LSTM -> logits of the last state, with drawn weights.
Graph network(const Sizes& sizes) {
  Rng rng(1);
  GraphBuilder b("lstm");
  const auto weight = [&](const char* name, Shape shape, double scale) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = static_cast<float>(scale * rng.normal());
    return b.constant(name, Array::of<float>(std::move(shape), values));
  };
  const auto units = static_cast<std::int64_t>(sizes.units);
  const double scale = 1 / std::sqrt(static_cast<double>(units));
  const ValueId tokens = b.input("tokens", DType::int64, {-1, static_cast<std::int64_t>(sizes.symbols)});
  const ValueId embedded = b.add("Gather", "embedding", {weight("table", {vocabulary, 32}, 1), tokens});
  const ValueId sequence =
      b.add("Transpose", "time_first", {embedded}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  const ValueId all = b.value("lstm_all"), last = b.value("lstm_last");
  b.node({"lstm",
          "LSTM",
          {sequence, weight("W", {1, 4 * units, 32}, 0.2), weight("R", {1, 4 * units, units}, scale)},
          {all, last},
          {{"hidden_size", units}}});
  const ValueId state =
      b.add("Squeeze", "last", {last, b.constant("axes", Array::of<std::int64_t>({1}, {0}))});
  b.output(b.add("MatMul", "logits", {state, weight("out", {units, vocabulary}, scale)}));
  return b.build();
}

DatasetPtr drawn_tokens(const Sizes& sizes) {
  Rng rng(2);
  std::vector<std::int64_t> tokens(sizes.records * sizes.symbols);
  for (std::int64_t& token : tokens) token = static_cast<std::int64_t>(rng.below(vocabulary));
  return from_arrays(Array::of<std::int64_t>(
      {static_cast<std::int64_t>(sizes.records), static_cast<std::int64_t>(sizes.symbols)}, tokens));
}

// Hypothesis h: one of the last h % 4 + 1 symbols is one of a drawn set.
class Sets final : public Annotator {
 public:
  explicit Sets(const Sizes& sizes) : symbols_(sizes.symbols) {
    Rng rng(3);
    for (std::size_t h = 0; h < sizes.hypotheses; ++h) {
      hypotheses_.push_back({fmt::format("set{}", h), BehaviourKind::binary});
      for (std::int64_t token = 0; token < vocabulary; ++token) member_.push_back(rng.below(8) == 0 ? 1 : 0);
    }
  }
  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  Behaviours annotate(const RecordBlock& records) const override {
    const std::span<const std::int64_t> tokens = records.batch.inputs.as<std::int64_t>();
    Behaviours all{{static_cast<std::int64_t>(symbols_)}, {}};
    all.values.reserve(records.size() * hypotheses_.size() * symbols_);
    for (std::size_t r = 0; r < records.size(); ++r) {
      for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
        std::size_t since = symbols_;  // symbols since one of the set
        for (std::size_t k = 0; k < symbols_; ++k) {
          const auto token = static_cast<std::size_t>(tokens[r * symbols_ + k]);
          since = member_[h * vocabulary + token] != 0 ? 0 : since + 1;
          all.values.push_back(since <= h % 4 ? 1.0F : 0.0F);
        }
      }
    }
    return all;
  }
  std::string version() const override { return ""; }

 private:
  std::size_t symbols_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<char> member_;
};

struct World {
  Sizes sizes;
  std::shared_ptr<const Session> session;
  DatasetPtr data;
  std::shared_ptr<const Annotator> annotator;
};

struct Timed {
  double seconds = 0;
  Inspection inspection;
};

Timed inspected(const World& world, const std::vector<MeasureChoice>& measures, bool stop_early) {
  InspectOptions options;
  options.measures = measures;
  options.stop_early = stop_early;
  const double start = now();
  Timed timed;
  timed.inspection = inspect({{"lstm", world.session}}, {{"lstm", 0, "lstm"}}, world.data,
                             {AnnotatorChoice("sets", world.annotator)}, options, silence());
  timed.seconds = now() - start;
  return timed;
}

// Everything there is, rows by symbol.
struct Extracted {
  std::vector<float> units, behaviours;  // [rows, units], [rows, hypotheses]
  std::size_t rows = 0;
};

void forward(const World& world, const std::function<void(const Array&)>& take) {
  const Graph& graph = world.session->graph();
  const ValueId hidden = graph.find_value("lstm_all").value();
  BatchReader reader(world.data, world.session->preferred_batch());
  while (const std::optional<Batch> batch = reader.next())
    take(world.session->run(world.session->bind(*batch), std::span(&hidden, 1)).at(hidden));
}

Extracted extract(const World& world) {
  Extracted all;
  const auto width = static_cast<std::int64_t>(world.sizes.units);
  forward(world, [&](const Array& states) {  // [symbols, 1, records, units]
    const Array rows = states.select(1, 0).transpose(0, 1).reshape({-1, width}).contiguous();
    all.units.insert(all.units.end(), rows.elements<float>(), rows.elements<float>() + rows.count());
  });
  all.rows = all.units.size() / world.sizes.units;
  BatchReader reader(world.data, 512);
  while (const std::optional<Batch> batch = reader.next()) {
    const Behaviours some = world.annotator->annotate({*world.data, *batch, {}});
    const std::size_t hypotheses = world.sizes.hypotheses, symbols = world.sizes.symbols;
    for (std::size_t r = 0; r < batch->indices.size(); ++r) {
      for (std::size_t k = 0; k < symbols; ++k) {
        for (std::size_t h = 0; h < hypotheses; ++h)
          all.behaviours.push_back(some.values[(r * hypotheses + h) * symbols + k]);
      }
    }
  }
  return all;
}

double plain_correlation(const float* x, std::size_t x_step, const float* y, std::size_t y_step,
                         std::size_t rows) {
  std::vector<double> a(rows), b(rows);
  for (std::size_t r = 0; r < rows; ++r) a[r] = x[r * x_step], b[r] = y[r * y_step];
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / static_cast<double>(rows),
               mean_b = std::accumulate(b.begin(), b.end(), 0.0) / static_cast<double>(rows);
  double aa = 0, bb = 0, ab = 0;
  for (double& value : a) value -= mean_a;
  for (double& value : b) value -= mean_b;
  for (const double value : a) aa += value * value;
  for (const double value : b) bb += value * value;
  for (std::size_t r = 0; r < rows; ++r) ab += a[r] * b[r];
  return ab / std::sqrt(aa * bb);
}

// One logistic regression by itself; returns the passes it took.
std::size_t plain_logistic(const Extracted& all, const Sizes& sizes, std::size_t hypothesis, double& f1) {
  constexpr std::size_t minibatch = 128, most = 50;
  constexpr float l1 = 0.001F;
  const std::size_t units = sizes.units, learned = all.rows * 8 / 10;
  std::vector<float> w(units + 1), mean(units + 1), square(units + 1), gradient(units + 1);
  std::vector<double> values;
  std::size_t step = 0;
  const auto logit = [&](std::size_t r) {
    float sum = w[units];
    for (std::size_t u = 0; u < units; ++u) sum += w[u] * all.units[r * units + u];
    return sum;
  };
  while (values.size() < most) {
    for (std::size_t begin = 0; begin < learned; begin += minibatch) {
      const std::size_t end = std::min(learned, begin + minibatch);
      std::ranges::fill(gradient, 0.0F);
      for (std::size_t r = begin; r < end; ++r) {
        const float error =
            (1 / (1 + std::exp(-logit(r))) - all.behaviours[r * sizes.hypotheses + hypothesis]) /
            static_cast<float>(end - begin);
        for (std::size_t u = 0; u < units; ++u) gradient[u] += error * all.units[r * units + u];
        gradient[units] += error;
      }
      ++step;
      const auto t = static_cast<float>(step);
      const float rate = 0.01F / std::sqrt(1 + t / 1000);
      for (std::size_t u = 0; u <= units; ++u) {
        mean[u] = 0.9F * mean[u] + 0.1F * gradient[u];
        square[u] = 0.999F * square[u] + 0.001F * gradient[u] * gradient[u];
        const float length = rate / (std::sqrt(square[u] / (1 - std::pow(0.999F, t))) + 1e-8F);
        const float moved = w[u] - length * mean[u] / (1 - std::pow(0.9F, t));
        const float kept = std::max(std::fabs(moved) - (u < units ? length * l1 : 0), 0.0F);
        w[u] = std::copysign(kept, moved);
      }
    }
    double hit = 0, wrong = 0;
    for (std::size_t r = learned; r < all.rows; ++r) {
      const bool named = logit(r) > 0, truth = all.behaviours[r * sizes.hypotheses + hypothesis] > 0.5F;
      hit += named && truth ? 1 : 0;
      wrong += named != truth ? 1 : 0;
    }
    values.push_back(hit > 0 ? 2 * hit / (2 * hit + wrong) : 0);
    if (values.size() < 10) continue;
    const double recent = std::accumulate(values.end() - 5, values.end(), 0.0) / 5;
    if (std::fabs(values.back() - recent) < 0.01) break;
  }
  f1 = values.back();
  return values.size();
}

struct Plain {
  double correlations = 0, models = 0, passes = 0;
  double difference = 0, f1 = 0;  // greatest of correlations; mean of the models that were taken
};

Plain plain_pipeline(const Extracted& all, const Sizes& sizes, const Inspection& inspection) {
  Plain plain;
  std::vector<double> theirs(sizes.units * sizes.hypotheses);
  for (const ScoreRow& row : inspection.rows) {
    if (!row.unit || row.measure != "pearson") continue;
    theirs[*row.unit * sizes.hypotheses + std::stoul(row.hypothesis.substr(row.hypothesis.find("set") + 3))] =
        row.score.value;
  }
  const std::size_t threads = available_threads();
  const double factor = static_cast<double>(sizes.every);
  std::vector<double> differences(theirs.size());
  double start = now();
  parallel_for((theirs.size() + sizes.every - 1) / sizes.every, threads, [&](std::size_t i) {
    const std::size_t pair = i * sizes.every, u = pair / sizes.hypotheses, h = pair % sizes.hypotheses;
    differences[pair] =
        std::fabs(theirs[pair] - plain_correlation(all.units.data() + u, sizes.units,
                                                   all.behaviours.data() + h, sizes.hypotheses, all.rows));
  });
  plain.correlations = (now() - start) * factor;
  plain.difference = *std::ranges::max_element(differences);
  const std::size_t models = (sizes.hypotheses + sizes.every - 1) / sizes.every;
  std::vector<double> passes(models), f1(models);
  start = now();
  parallel_for(models, threads, [&](std::size_t i) {
    passes[i] = static_cast<double>(plain_logistic(all, sizes, i * sizes.every, f1[i]));
  });
  plain.models = (now() - start) * static_cast<double>(sizes.hypotheses) / static_cast<double>(models);
  plain.passes = std::accumulate(passes.begin(), passes.end(), 0.0) / static_cast<double>(models);
  plain.f1 = std::accumulate(f1.begin(), f1.end(), 0.0) / static_cast<double>(models);
  return plain;
}

double mean_f1(const Inspection& inspection) {
  double sum = 0, count = 0;
  for (const ScoreRow& row : inspection.rows) {
    if (row.unit || std::isnan(row.score.value)) continue;
    sum += row.score.value, ++count;
  }
  return sum / count;
}

void run(const Sizes& sizes) {
  const World world{sizes, std::make_shared<const Session>(network(sizes)), drawn_tokens(sizes),
                    std::make_shared<Sets>(sizes)};
  fmt::print("{} units, {} hypotheses, {} records of {} symbols, {} threads\n", sizes.units, sizes.hypotheses,
             sizes.records, sizes.symbols, available_threads());
  forward(world, [](const Array&) {});  // warm
  double start = now();
  forward(world, [](const Array&) {});
  const double pass = now() - start;
  const auto correlations = inspected(world, {"pearson"}, false),
             correlations_early = inspected(world, {"pearson"}, true),
             both = inspected(world, {"pearson", "logistic_l1"}, false),
             both_early = inspected(world, {"pearson", "logistic_l1"}, true);
  start = now();
  const Extracted all = extract(world);
  const double extraction = now() - start;
  const Plain plain = plain_pipeline(all, sizes, correlations.inspection);

  fmt::print("forward pass alone {:.2f} s\n", pass);
  fmt::print(
      "plain pipeline: extraction {:.2f} s, correlations {:.2f} s, models {:.2f} s ({:.1f} passes, {:.2f} s "
      "a "
      "pass), mean F1 {:.3f}{}\n",
      extraction, plain.correlations, plain.models, plain.passes, plain.models / plain.passes, plain.f1,
      sizes.every > 1 ? fmt::format("; every {}th of them was run", sizes.every) : "");
  const auto line = [&](const char* what, const Timed& timed, double against) {
    fmt::print("{:44} {:8.2f} s, ratio {:6.1f}; {} of {} records\n", what, timed.seconds,
               against / timed.seconds, timed.inspection.records_read, timed.inspection.records);
  };
  line("correlations, all records", correlations, extraction + plain.correlations);
  line("correlations, early stopping", correlations_early, extraction + plain.correlations);
  line("correlations and models, all records", both, extraction + plain.correlations + plain.models);
  line("correlations and models, early stopping", both_early, extraction + plain.correlations + plain.models);
  fmt::print(
      "all correlations cost {:.2f} times the forward pass alone; they differ by at most {:.1e}; mean F1 "
      "{:.3f}, {:.3f} with early stopping\n",
      correlations.seconds / pass, plain.difference, mean_f1(both.inspection),
      mean_f1(both_early.inspection));
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  assay::keep_freed_memory();
  const auto argument = [&](int i, std::size_t otherwise) {
    return argc > i ? static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)) : otherwise;
  };
  assay::bench::run({argument(1, 128), argument(2, 40), argument(3, 2000), argument(4, 30), argument(5, 1)});
}
