#include "assay/inspection/probe_state.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <assay/extend/random.h>
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {
namespace {

constexpr std::uint64_t probe_order_stream = 0x6f726472, control_stream = 0x6374726c;
constexpr std::size_t minibatch = 128;
constexpr std::size_t greatest_chunk = 1024, least_chunk = 64;  // rows that are learned together
constexpr std::size_t first_passes = 32;                        // over the first chunk
constexpr std::size_t first_coded_passes = 64;                  // the same where the first is small
constexpr std::size_t most_judging = 8192;                      // held-out rows that are kept
constexpr std::uint64_t chunks_between_looks = 4;
constexpr double least_of_class = 30;  // rows of a class, learned and held out, before a score can settle
constexpr double probe_tolerance = 0.01;

Array rows_of(const std::vector<float>& values, std::size_t width) {
  return Array::around(const_cast<float*>(values.data()), DType::float32,
                       {static_cast<std::int64_t>(values.size() / width), static_cast<std::int64_t>(width)});
}

// Looks that are compared, each with the one of half its number: 1, 2, 3, 4, 6, 8, 12, 16, ...
bool is_compared(std::uint64_t look) {
  while (look > 3 && look % 2 == 0) look /= 2;
  return look <= 3;
}

bool is_near(double one, double other, double tolerance) { return std::fabs(one - other) <= tolerance; }

}  // namespace

ProbeState::ProbeState(const MeasureSetup& setup, ProbePlan plan)
    : plan_(std::move(plan)),
      units_(setup.units),
      hypotheses_(setup.hypotheses),
      z_(normal_quantile((1 + setup.confidence) / 2)),
      tolerance_(setup.tolerance > 0 ? setup.tolerance : probe_tolerance),
      seed_(setup.seed),
      means_(units_, 0),
      scales_(units_, 1),
      learned_{MergedModels(units_, {}, plan_.settings), {}, 0, 0, {}, {}},
      settled_(hypotheses_.size()) {
  for (const Hypothesis& hypothesis : hypotheses_) {
    const bool applies = std::ranges::find(plan_.kinds, hypothesis.kind) != plan_.kinds.end();
    open_.push_back(applies ? 1 : 0);
    // A categorical one without names has as many classes as the calibration shows.
    classes_.push_back(!applies                                   ? 0
                       : hypothesis.kind == BehaviourKind::binary ? 2
                                                                  : hypothesis.classes.size());
    distribution_.emplace_back();
  }
  prepare();
}

void ProbeState::prepare() {
  std::vector<std::size_t> outputs;
  hypothesis_of_.clear();
  first_model_.assign(hypotheses_.size(), 0);
  learned_.classes.clear();
  for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
    first_model_[h] = outputs.size();
    if (classes_[h] == 0) continue;
    for (int i = 0; i < (plan_.control ? 2 : 1); ++i) {
      outputs.push_back(classes_[h] == 2 ? 1 : classes_[h]);
      hypothesis_of_.push_back(h);
      learned_.classes.emplace_back(classes_[h]);
    }
    distribution_[h].resize(classes_[h], 1.0 / classes_[h]);
  }
  learned_.models = MergedModels(units_, outputs, plan_.settings);
  learned_.model_rows.assign(outputs.size(), 0);
  earlier_.clear();
  learned_.outcomes.clear();
  for (const std::size_t h : hypothesis_of_) learned_.outcomes.push_back({Confusion(classes_[h])});
}

void ProbeState::calibrate(const Block& block) {
  std::vector<double> squares(units_);
  for (std::size_t r = 0; r < block.rows; ++r) {
    for (std::size_t u = 0; u < units_; ++u) {
      const double value = block.units[r * units_ + u], difference = value - means_[u];
      means_[u] += difference / (r + 1);
      squares[u] += difference * (value - means_[u]);
    }
  }
  for (std::size_t u = 0; u < units_; ++u) {
    const double variance = block.rows > 0 ? squares[u] / block.rows : 0;
    scales_[u] = variance <= 1e-12 * (1 + means_[u] * means_[u]) ? 0 : 1 / std::sqrt(variance);
  }
  for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
    if (open_[h] == 0) continue;
    std::vector<double> counts(classes_[h]);
    for (std::size_t r = 0; r < block.rows; ++r) {
      const float value = block.behaviours[r * hypotheses_.size() + h];
      if (std::isnan(value)) continue;
      const auto code = static_cast<std::size_t>(std::max(value, 0.0F));
      if (code >= counts.size()) {
        if (!hypotheses_[h].classes.empty() || hypotheses_[h].kind == BehaviourKind::binary) continue;
        counts.resize(code + 1);
      }
      ++counts[code];
    }
    classes_[h] = std::max<std::size_t>(counts.size(), 2);
    counts.resize(classes_[h]);
    const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
    for (double& count : counts) count = sum > 0 ? count / sum : 1.0 / counts.size();
    distribution_[h] = counts;
  }
  prepare();
}

// One draw for each symbol from the classes of the calibration records (Hewitt and Liang 2019).
float ProbeState::control_label(std::size_t hypothesis, std::uint32_t symbol) {
  std::vector<float>& labels = control_labels_[symbol];
  if (labels.empty()) {
    for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
      double left = Rng(seed_, {control_stream, h, symbol}).uniform();
      std::size_t code = 0;
      while (code + 1 < distribution_[h].size() && left >= distribution_[h][code])
        left -= distribution_[h][code++];
      labels.push_back(static_cast<float>(code));
    }
  }
  return labels[hypothesis];
}

// Classes that the calibration did not show share the last.
float ProbeState::label(const Block& block, std::size_t row, std::size_t model) {
  const std::size_t h = hypothesis_of_[model];
  const float value = block.behaviours[row * hypotheses_.size() + h];
  if (std::isnan(value)) return value;
  const bool control = plan_.control && model != first_model_[h];
  if (control && block.symbols.empty()) {
    symbols_missing_ = true;
    return std::numeric_limits<float>::quiet_NaN();
  }
  if (control) return control_label(h, block.symbols[row]);
  if (hypotheses_[h].kind == BehaviourKind::binary) return value > 0.5F ? 1.0F : 0.0F;
  return std::min(std::floor(std::max(value, 0.0F)), static_cast<float>(classes_[h] - 1));
}

void ProbeState::append(const Block& block, std::size_t row, Rows& rows) {
  for (std::size_t u = 0; u < units_; ++u)
    rows.units.push_back(static_cast<float>((block.units[row * units_ + u] - means_[u]) * scales_[u]));
  for (std::size_t m = 0; m < model_count(); ++m) rows.labels.push_back(label(block, row, m));
}

std::vector<char> ProbeState::open_models() const {
  std::vector<char> open;
  for (const std::size_t h : hypothesis_of_) open.push_back(open_[h]);
  return open;
}

// Rows that are coded are learned soon at the start, so that chunks double.
std::size_t ProbeState::chunk_size(const Learned& learned) const {
  return plan_.coded ? std::clamp<std::size_t>(learned.rows, least_chunk, greatest_chunk) : greatest_chunk;
}

void ProbeState::observe(const Block& block) {
  if (std::ranges::find(open_, 1) == open_.end()) return;
  bool held_out = false;
  for (std::size_t r = 0; r < block.rows; ++r) {
    if (r == 0 || block.records[r] != block.records[r - 1])
      held_out = !plan_.coded && is_held_out(seed_, block.records[r], plan_.held_out);
    if (held_out) {
      if (judging_.units.size() < most_judging * units_) append(block, r, judging_);
      continue;
    }
    append(block, r, waiting_);
    if (waiting_.units.size() < chunk_size(learned_) * units_) continue;
    learn(learned_, waiting_);
    waiting_ = {};
    if (learned_.chunks % chunks_between_looks == 0) look();
  }
}

void ProbeState::code(Learned& learned, const Rows& rows, const Array& units) const {
  const Array logits = learned.models.logits(units);
  for (std::size_t m = 0; m < model_count(); ++m) {
    if (open_[hypothesis_of_[m]] == 0) continue;
    for (std::size_t r = 0; r < rows.labels.size() / model_count(); ++r) {
      const float label = rows.labels[r * model_count() + m];
      if (std::isnan(label)) continue;
      const float* out = logits.elements<float>() + r * learned.models.columns() + learned.models.first(m);
      const double bits = -log2_probability(out, learned.models.outputs(m), static_cast<std::size_t>(label));
      learned.outcomes[m].bits += bits;
      learned.outcomes[m].squares += bits * bits;
      ++learned.outcomes[m].coded_rows;
    }
  }
}

// Notes which classes there are. A model begins with their shares in the first chunk that it learns from.
void ProbeState::count(Learned& learned, const Rows& rows) const {
  for (std::size_t m = 0; m < model_count(); ++m) {
    if (open_[hypothesis_of_[m]] == 0) continue;
    const bool first = learned.model_rows[m] == 0;
    for (std::size_t i = m; i < rows.labels.size(); i += model_count()) {
      if (std::isnan(rows.labels[i])) continue;
      ++learned.model_rows[m];
      ++learned.classes[m][rows.labels[i]];
    }
    if (first && learned.model_rows[m] > 0) learned.models.begin(m, learned.classes[m]);
  }
}

// The first chunks are gone through more often than later ones, so that little data is learned as well.
void ProbeState::learn(Learned& learned, const Rows& rows) const {
  const std::size_t count = rows.units.size() / units_;
  if (count == 0) return;
  const std::vector<char> open = open_models();
  const Array units = rows_of(rows.units, units_);
  if (plan_.coded) code(learned, rows, units);
  this->count(learned, rows);
  std::vector<std::int64_t> order(count);
  std::vector<float> labels;
  const std::size_t passes =
      std::max<std::size_t>(1, (plan_.coded ? first_coded_passes : first_passes) / (learned.chunks + 1));
  for (std::size_t pass = 0; pass < passes; ++pass) {
    std::iota(order.begin(), order.end(), 0);
    Rng(seed_, {probe_order_stream, learned.chunks, pass}).shuffle(order);
    for (std::size_t begin = 0; begin < count; begin += minibatch) {
      const std::size_t size = std::min(minibatch, count - begin);
      const Array chosen =
          Array::around(order.data() + begin, DType::int64, {static_cast<std::int64_t>(size)});
      labels.clear();
      for (std::size_t i = begin; i < begin + size; ++i) {
        const auto from = rows.labels.begin() + order[i] * static_cast<std::ptrdiff_t>(model_count());
        labels.insert(labels.end(), from, from + model_count());
      }
      learned.models.step(units.index_select(0, chosen), labels, open);
    }
  }
  ++learned.chunks;
  learned.rows += count;
}

void ProbeState::judge_rows(const Array& logits, std::vector<Outcome>& outcomes) const {
  const std::size_t columns = learned_.models.columns();
  for (std::size_t m = 0; m < model_count(); ++m) {
    if (open_[hypothesis_of_[m]] == 0) continue;
    Confusion confusion(classes_[hypothesis_of_[m]]);
    for (std::size_t r = 0; r < judging_.labels.size() / model_count(); ++r) {
      const float label = judging_.labels[r * model_count() + m];
      if (std::isnan(label)) continue;
      const float* out = logits.elements<float>() + r * columns + learned_.models.first(m);
      ++confusion.at(static_cast<std::size_t>(label), predicted(out, learned_.models.outputs(m)));
    }
    outcomes[m].held_out = std::move(confusion);
  }
}

void ProbeState::evaluate(Learned& learned) const {
  if (plan_.coded || judging_.units.empty()) return;
  judge_rows(learned.models.logits(rows_of(judging_.units, units_)), learned.outcomes);
}

void ProbeState::look() {
  if (!is_compared(++looks_)) return;
  evaluate(learned_);
  if (!earlier_.empty() && 2 * earlier_[0].number == looks_ && looks_ > 2) compare(earlier_[0]);
  if (earlier_.size() == 2) earlier_.erase(earlier_.begin());
  earlier_.push_back({looks_, learned_.models, learned_.outcomes});
}

// A score has settled where it was the same at half of the looks, and would be the same if outputs went on as
// they went since.
void ProbeState::compare(const Look& earlier) {
  std::vector<Outcome> before = learned_.outcomes, after = learned_.outcomes;
  if (!plan_.coded && !judging_.units.empty()) {
    const Array units = rows_of(judging_.units, units_), then = earlier.models.logits(units);
    judge_rows(then, before);
    judge_rows(2 * learned_.models.logits(units) - then, after);
  }
  for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
    if (open_[h] == 0) continue;
    const Score now = group_score(learned_, learned_.outcomes, h);
    if (std::isnan(now.value)) {
      settled_[h] = now.status != "no_positives";
    } else if (plan_.coded) {
      settled_[h] =
          enough_of_each_class(h) && code_settled(first_model_[h], earlier.outcomes[first_model_[h]]);
    } else {
      settled_[h] = enough_of_each_class(h) && judged_enough(now) &&
                    is_near(now.value, group_score(learned_, before, h).value, tolerance_) &&
                    is_near(now.value, group_score(learned_, after, h).value, tolerance_);
    }
  }
}

// Of classes that occur, where the score is of one of them or a mean over them.
bool ProbeState::enough_of_each_class(std::size_t hypothesis) const {
  const std::size_t m = first_model_[hypothesis];
  const Confusion& held_out = learned_.outcomes[m].held_out;
  if (classes_[hypothesis] > 2 && !plan_.by_class) return learned_.model_rows[m] >= least_of_class;
  for (std::size_t k = 0; k < classes_[hypothesis]; ++k) {
    double judged = 0;
    for (std::size_t i = 0; i < classes_[hypothesis]; ++i) judged += held_out.at(k, i);
    const double learned = learned_.classes[m][k];
    if (learned + judged == 0 && classes_[hypothesis] > 2) continue;
    if (learned < least_of_class || (!plan_.coded && judged < least_of_class)) return false;
  }
  return true;
}

// The rows that judge will be no others, or the interval that they give is narrow.
bool ProbeState::judged_enough(const Score& score) const {
  return judging_.units.size() >= most_judging * units_ || (score.high - score.low) / 2 <= tolerance_;
}

bool ProbeState::code_settled(std::size_t model, const Outcome& earlier) const {
  const Outcome& now = learned_.outcomes[model];
  const double uniform = std::log2(now.held_out.classes), n = now.coded_rows;
  if (n <= earlier.coded_rows || now.bits <= 0) return false;
  const double mean = now.bits / n, lately = (now.bits - earlier.bits) / (n - earlier.coded_rows);
  const double error = z_ * std::sqrt(std::max(0.0, now.squares / n - mean * mean) / n);
  const double least = std::min(mean, lately) - error, most = std::max(mean, lately) + error;
  return least > 0 && is_near(uniform / least, uniform / mean, tolerance_) &&
         is_near(uniform / most, uniform / mean, tolerance_);
}

std::vector<char> ProbeState::settle() {
  std::vector<char> open = open_;
  for (std::size_t h = 0; h < open.size(); ++h) {
    if (settled_[h] != 0) open[h] = 0;
  }
  freeze(open);
  return open_;
}

void ProbeState::freeze(std::span<const char> open) {
  if (std::ranges::equal(open, open_)) return;
  evaluate(learned_);
  for (std::size_t h = 0; h < open_.size(); ++h) {
    if (open[h] == 0) open_[h] = 0;
  }
}

Score ProbeState::group_score(const Learned& learned, const std::vector<Outcome>& outcomes,
                              std::size_t hypothesis) const {
  Score score;
  if (classes_[hypothesis] == 0) {
    score.status = "not_applicable";
    return score;
  }
  const std::size_t m = first_model_[hypothesis];
  const Outcome& outcome = outcomes[m];
  std::vector<double> seen = learned.classes[m];
  for (std::size_t k = 0; k < seen.size(); ++k) {
    for (std::size_t i = 0; i < seen.size(); ++i) seen[k] += outcome.held_out.at(k, i);
  }
  if (plan_.control && symbols_missing_) {
    score.status = "no_symbols";
  } else if (learned.model_rows[m] == 0) {
    score.status = "too_few_rows";
  } else if (std::ranges::count(seen, 0.0) + 1 >= std::ssize(seen)) {
    score.rows = static_cast<std::uint64_t>(learned.model_rows[m]);
    score.status = "constant_hypothesis";
  } else {
    score = group(outcome, plan_.control ? &outcomes[m + 1] : nullptr);
  }
  return score;
}

Score ProbeState::unit_score(const Learned& learned, const Score& group, std::size_t hypothesis,
                             std::size_t unit) const {
  Score score;
  score.status = group.status;
  if (score.status == "not_applicable" || score.status == "too_few_rows" ||
      score.status == "constant_hypothesis")
    return score;
  const std::size_t m = first_model_[hypothesis];
  double sum = 0;
  for (std::size_t o = 0; o < learned.models.outputs(m); ++o) {
    const double weight = learned.models.weight(learned.models.first(m) + o, unit);
    sum += weight * weight;
  }
  score.value = std::sqrt(sum);
  score.rows = static_cast<std::uint64_t>(learned.model_rows[m]);
  score.status = scales_[unit] == 0 ? "constant_unit" : "";
  return score;
}

Scores ProbeState::result() const {
  Learned learned = learned_;
  learn(learned, waiting_);
  evaluate(learned);
  Scores scores;
  for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
    scores.groups.push_back(group_score(learned, learned.outcomes, h));
    scores.groups[h].converged = open_[h] == 0 || settled_[h] != 0;
  }
  for (std::size_t u = 0; scores_units() && u < units_; ++u) {
    for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
      scores.units.push_back(unit_score(learned, scores.groups[h], h, u));
      scores.units.back().converged = scores.groups[h].converged;
    }
  }
  return scores;
}

std::vector<SpecOption> probe_options(const std::string& penalty) {
  std::vector<SpecOption> options = held_out_options;
  options.push_back({"penalty", penalty, "strength of the penalty relative to the mean loss of a row"});
  options.push_back({"rate", "0.03", "learning rate of Adam, divided by sqrt(1 + steps / 1000)"});
  return options;
}

const char* const probe_definition =
    "Units are standardised by mean and standard deviation on the calibration records. Models begin with the "
    "shares of the classes in their first chunk and learn in the order of the rows, in chunks of 1,024 rows, "
    "shuffled, with minibatches of 128 and Adam; chunk i is gone through max(1, 32 / i) times; what counts "
    "is the mean of the weights after each step t, weighted by t. All hypotheses are one affine map with "
    "separate losses and steps, which equals models trained one by one. A look comes after 4, 8, 12, 16, 24, "
    "32, ... chunks; the first 8,192 held-out rows judge. A hypothesis has converged at a look where its "
    "score is within the tolerance (default 0.01) of that of the model at half of the looks, and of that of "
    "outputs that go on as far as they went since then; where no more held-out rows will come, or half the "
    "interval is below the tolerance; and where 30 rows of each class were learned and 30 held out (more "
    "than two classes: for F1)";

}  // namespace assay::inspection
