// Gradient steps between the rows of the table of tokens, projected to tokens.

#include <algorithm>
#include <cmath>

#include <assay/array_layers.h>
#include <assay/array_math.h>
#include <assay/attack.h>
#include <assay/error.h>
#include "assay/attack/objective.h"
#include "assay/attack/tokens/token_attack.h"

namespace assay::attack {
namespace {

class EmbeddingPgd final : public TokenAttack {
 public:
  explicit EmbeddingPgd(const SpecOptions& options)
      : TokenAttack(TokenLimits(options)),
        steps_(options.count("steps", 1)),
        size_(options.number("step", 0)) {
    if (size_ == 0) fail(Fault::usage, "attack 'embedding-pgd': step=0 would change nothing");
  }

 private:
  void search(const TokenSpace& space, const AttackProblem& problem,
              std::vector<TokenSearch>& records) const override {
    std::vector<const TokenSearch*> all;
    for (const TokenSearch& record : records) all.push_back(&record);
    const AttackProblem part = problem_of_searches(problem, all);
    const std::vector<TokenRow> originals = tokens_of_searches(all);
    const Array points = space.points_of(originals), start = space.rows_of(originals).contiguous();
    const double length = step_length(space);
    const Array rows = start.clone();
    std::vector<float> least = space.margins(part, originals);
    for (std::size_t step = 0; step < steps_; ++step) {
      const Array gradient = space.gradients(part, points, rows, loss(part));
      advance(rows, gradient, records, length);
      std::vector<TokenSearch> projected = records;
      for (std::size_t r = 0; r < records.size(); ++r)
        project(space, rows, start, originals[r], r, projected[r]);
      keep_better(space, part, projected, records, least);
      if (std::ranges::all_of(least, [](float margin) { return margin < 0; })) break;
    }
  }

  // A step is so many times the mean distance of a row from the mean of all.
  double step_length(const TokenSpace& space) const {
    const Array& rows = space.rows_of_choices();
    const Array apart = rows - rows.mean(0, true);
    return size_ * (apart * apart).sum(1).to(DType::float64).mean().item<double>() /
           std::max(1e-30, std::sqrt((apart * apart).sum(1).to(DType::float64).mean().item<double>()));
  }

  static void advance(const Array& rows, const Array& gradient, const std::vector<TokenSearch>& records,
                      double length) {
    const std::size_t positions = rows.size(1), width = rows.size(2);
    for (std::size_t r = 0; r < records.size(); ++r) {
      for (const std::size_t position : records[r].positions) {
        const float* const step = gradient.elements<float>() + (r * positions + position) * width;
        float* const row = rows.elements<float>() + (r * positions + position) * width;
        double norm = 0;
        for (std::size_t i = 0; i < width; ++i) norm += static_cast<double>(step[i]) * step[i];
        if (norm == 0) continue;
        const double factor = length / std::sqrt(norm);
        for (std::size_t i = 0; i < width; ++i) row[i] += static_cast<float>(factor * step[i]);
      }
    }
  }

  // The nearest token of every position that may change; those that moved furthest take the budget.
  static void project(const TokenSpace& space, const Array& rows, const Array& start,
                      const TokenRow& original, std::size_t r, TokenSearch& record) {
    const Array now = rows.select(0, static_cast<std::int64_t>(r));
    const Array& choices = space.rows_of_choices();
    // |e - E_v|^2 without |e|^2, which is the same for all v.
    const Array distances = (choices * choices).sum(1) - array::matmul(now, choices.transpose(0, 1)) * 2.0;
    const Array nearest = array::argmin(distances, 1).to(DType::int64).contiguous();
    const Array apart = now - start.select(0, static_cast<std::int64_t>(r));
    const Array moved = (apart * apart).sum(1).contiguous();
    std::vector<std::size_t> order = record.positions;
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t position) { return moved.elements<float>()[position]; });
    record.tokens = original;
    record.changed.clear();
    for (const std::size_t position : order) {
      const std::size_t choice = nearest.elements<std::int64_t>()[position];
      if (!record.may_change(position) || space.choices()[choice] == original[position]) continue;
      const TokenRow before = record.tokens;
      record.put(position, space.choices()[choice], original[position]);
      if (space.is_text(record.tokens)) continue;
      record.tokens = before;
      record.changed.erase(position);
    }
  }

  static void keep_better(const TokenSpace& space, const AttackProblem& problem,
                          const std::vector<TokenSearch>& projected, std::vector<TokenSearch>& records,
                          std::vector<float>& least) {
    std::vector<TokenRow> tokens;
    for (const TokenSearch& record : projected) tokens.push_back(record.tokens);
    const std::vector<float> margins = space.margins(problem, tokens);
    for (std::size_t r = 0; r < records.size(); ++r) {
      if (margins[r] >= least[r] || least[r] < 0) continue;
      least[r] = margins[r];
      records[r] = projected[r];
    }
  }

  std::size_t steps_;
  double size_;
};

}  // namespace

AttackInfo embedding_pgd_attack() {
  std::vector<SpecOption> options = TokenLimits::options("0.2");
  options.push_back({"steps", "20", "gradient steps"});
  options.push_back(
      {"step", "0.3", "length of a step, in root mean square distances of rows from their mean"});
  return {.name = "embedding-pgd",
          .summary = "gradient steps between the rows of tokens, projected to the nearest tokens",
          .definition =
              "The rows of all positions that may change start at those of their tokens and move by `step` "
              "along their gradient of the loss, each scaled to that length, `steps` times without going "
              "back to tokens. After each step the positions that moved furthest take their nearest tokens, "
              "at most `changes`, "
              "as long as they are those of a text; the network judges these, and the best are the result.",
          .limits =
              "Between rows there are no texts: most steps end at the tokens where they began. hotflip and "
              "gcg need fewer passes.",
          .paper = "Madry et al., ICLR 2018; Papernot et al., MILCOM 2016, for the projection to words",
          .options = options,
          .make = [](const SpecOptions& given) -> std::unique_ptr<Attack> {
            return std::make_unique<EmbeddingPgd>(given);
          }};
}

}  // namespace assay::attack
