#include "assay/inspection/statistics/held_out.h"

#include <cmath>
#include <numeric>

#include <assay/extend/random.h>
#include "assay/inspection/statistics/intervals.h"

namespace assay::inspection {
namespace {

constexpr std::uint64_t held_out_stream = 0x68656c64;

// 2 J / (1 + J) where J = tp / (tp + fp + fn) is a share.
Score f1_of_positives(const Confusion& c, double z) {
  Score score;
  score.rows = static_cast<std::uint64_t>(c.rows());
  const double hits = c.at(1, 1), missed = c.at(1, 0), wrong = c.at(0, 1);
  if (hits + missed == 0) {
    score.status = "no_positives";
    return score;
  }
  if (hits + wrong == 0) score.status = "no_predicted_positives";
  const double n = hits + missed + wrong;
  const Range range = wilson(hits / n, n, z);
  const auto f1 = [](double share) { return 2 * share / (1 + share); };
  score.value = f1(hits / n);
  score.low = f1(range.low);
  score.high = f1(range.high);
  return score;
}

Score mean_f1(const Confusion& c) {
  Score score;
  score.rows = static_cast<std::uint64_t>(c.rows());
  double sum = 0, occurring = 0;
  for (std::size_t k = 0; k < c.classes; ++k) {
    double truth = 0, named = 0;
    for (std::size_t i = 0; i < c.classes; ++i) {
      truth += c.at(k, i);
      named += c.at(i, k);
    }
    if (truth == 0) continue;
    ++occurring;
    sum += 2 * c.at(k, k) / (truth + named);
  }
  score.value = sum / occurring;
  return score;
}

}  // namespace

const std::vector<std::string> judgements{"f1", "accuracy"};
const std::vector<SpecOption> held_out_options{
    {"score", "f1", "f1 or accuracy: what the value of the group is"},
    {"held_out", "0.2", "share of records that are not learned from and give the value of the group"}};
const char* const judgement_definition =
    "Value of the group, on held-out records: f1 = 2 tp / (2 tp + fp + fn), of more than two classes the "
    "mean "
    "over those that occur; or accuracy = rows right / rows. Interval: Wilson's for accuracy, over rows; for "
    "F1 "
    "of a binary hypothesis Wilson's for J = tp / (tp + fp + fn), as F1 = 2 J / (1 + J); none for the mean. "
    "p: by "
    "permutation. Status no_positives: the held-out rows have none, F1 is undefined; no_predicted_positives: "
    "F1 is 0";

bool is_held_out(std::uint64_t seed, std::uint32_t record, double share) {
  return Rng(seed, {held_out_stream, record}).uniform() < share;
}

double Confusion::rows() const { return std::accumulate(counts.begin(), counts.end(), 0.0); }
double Confusion::right() const {
  double sum = 0;
  for (std::size_t k = 0; k < classes; ++k) sum += at(k, k);
  return sum;
}

Score judge(const Confusion& confusion, const std::string& what, double z) {
  Score score;
  const double n = confusion.rows();
  if (n == 0) {
    score.status = "too_few_rows";
    return score;
  }
  if (what == "f1") return confusion.classes == 2 ? f1_of_positives(confusion, z) : mean_f1(confusion);
  score.rows = static_cast<std::uint64_t>(n);
  score.value = confusion.right() / n;
  const Range range = wilson(score.value, n, z);
  score.low = range.low;
  score.high = range.high;
  return score;
}

}  // namespace assay::inspection
