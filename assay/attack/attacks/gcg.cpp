// Greedy coordinate gradient: the gradient proposes, the network decides.

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/array_math.h>
#include <assay/attack.h>
#include <assay/error.h>
#include "assay/attack/objective.h"
#include "assay/attack/tokens/tail_scores.h"
#include "assay/attack/tokens/token_attack.h"
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

constexpr std::uint64_t candidates_stream = 0x6763;

class Gcg final : public TokenAttack {
 public:
  explicit Gcg(const SpecOptions& options)
      : TokenAttack(TokenLimits(options)),
        steps_(options.count("steps", 1)),
        candidates_(options.count("candidates", 1)),
        top_(options.count("top", 1)) {}

 private:
  void search(const TokenSpace& space, const AttackProblem& problem,
              std::vector<TokenSearch>& records) const override {
    const std::vector<TokenRow> originals = space.tokens_of(problem.inputs);
    const auto first = [](const TokenSearch& record) { return record.positions.front(); };
    std::ranges::stable_sort(records, {}, first);
    std::unique_ptr<TailScores> tail;
    for (std::size_t r = 0; r < records.size(); ++r) {
      if (r == 0 || first(records[r]) != first(records[r - 1]))
        tail = TailScores::of(space, static_cast<std::int64_t>(first(records[r])));
      search_one(space, problem, records[r], originals[records[r].row], tail.get());
    }
  }

  // Whether the tail alone gives the scores of texts that begin like the record.
  static bool takes(const TokenSpace& space, const AttackProblem& alone, const TokenSearch& record,
                    TailScores& tail) {
    const std::vector<std::int64_t>& choices = space.choices();
    TokenRow other = record.tokens;
    for (const std::size_t position : record.positions) {
      const auto above = std::ranges::upper_bound(choices, other[position]);
      other[position] = above == choices.end() ? choices.front() : *above;
    }
    const TokenRow both[] = {record.tokens, other};
    const Array points = space.points_of(both);
    return tail.take(alone, points.narrow(0, 0, 1), points.narrow(0, 1, 1));
  }

  void search_one(const TokenSpace& space, const AttackProblem& problem, TokenSearch& record,
                  const TokenRow& original, TailScores* tail) const {
    Rng rng = problem.rng(record.row, candidates_stream);
    const AttackProblem alone = problem.at(array::tensor(TokenRow{static_cast<std::int64_t>(record.row)}));
    if (tail != nullptr && !takes(space, alone, record, *tail)) tail = nullptr;
    const TokenSearch start = record;
    TokenSearch best = record;
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t step = 0; step < steps_ && least >= 0; ++step) {
      const std::vector<TokenSearch> candidates = drawn_candidates(space, alone, record, original, tail, rng);
      if (candidates.empty()) {
        problem.end(record.row, "no change of a token helps by its gradient and is that of a text");
        break;
      }
      const std::vector<float> margins = margins_of(space, problem, candidates, tail);
      const std::size_t first = std::ranges::min_element(margins) - margins.begin();
      record = candidates[first];
      if (margins[first] >= least) continue;
      least = margins[first];
      best = record;
    }
    if (tail != nullptr && !is_so_by_the_whole(space, problem, best, least)) {
      record = start;
      search_one(space, problem, record, original, nullptr);
      return;
    }
    record = std::move(best);
  }

  // Whether the whole network gives the margin that the tail gave: what looks ahead only at some tokens
  // passes its trial.
  static bool is_so_by_the_whole(const TokenSpace& space, const AttackProblem& problem,
                                 const TokenSearch& best, float margin) {
    if (margin == std::numeric_limits<float>::infinity()) return true;  // nothing was tried
    const float whole = margins_of(space, problem, {best}, nullptr)[0];
    return std::abs(whole - margin) <= 1e-3F * std::max(1.0F, std::abs(whole));
  }

  // Each with one more change: a position by chance, a token by chance of the most promising there.
  std::vector<TokenSearch> drawn_candidates(const TokenSpace& space, const AttackProblem& alone,
                                            const TokenSearch& record, const TokenRow& original,
                                            const TailScores* tail, Rng& rng) const {
    const Array point = space.points_of(std::span(&record.tokens, 1)),
                rows = space.rows_of(std::span(&record.tokens, 1)).contiguous(),
                gradient = tail == nullptr ? space.gradients(alone, point, {}, loss(alone))
                                           : tail->gradients(alone, point, loss(alone));
    const std::size_t size = gradient.count();
    const std::vector<Flip> flips =
        best_flips(space, record, {gradient.elements<float>(), size}, {rows.elements<float>(), size},
                   std::numeric_limits<std::size_t>::max(), top_);
    std::map<std::size_t, std::vector<Flip>> by_position;
    for (const Flip& flip : flips) by_position[flip.position].push_back(flip);
    std::vector<std::size_t> positions;
    for (const auto& [position, of_position] : by_position) positions.push_back(position);
    std::vector<TokenSearch> candidates;
    for (std::size_t i = 0; i < candidates_ && !positions.empty(); ++i) {
      const std::vector<Flip>& here = by_position[positions[rng.below(positions.size())]];
      const Flip& flip = here[rng.below(here.size())];
      TokenSearch candidate = record;
      candidate.put(flip.position, flip.token, original[flip.position]);
      if (space.is_text(candidate.tokens)) candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

  static std::vector<float> margins_of(const TokenSpace& space, const AttackProblem& problem,
                                       const std::vector<TokenSearch>& candidates, const TailScores* tail) {
    std::vector<const TokenSearch*> all;
    for (const TokenSearch& candidate : candidates) all.push_back(&candidate);
    const AttackProblem part = problem_of_searches(problem, all);
    const std::vector<TokenRow> tokens = tokens_of_searches(all);
    if (tail == nullptr) return space.margins(part, tokens);
    return floats_of(margin(part, tail->scores(part, space.points_of(tokens))));
  }

  std::size_t steps_, candidates_, top_;
};

}  // namespace

AttackInfo gcg_attack() {
  std::vector<SpecOption> options = TokenLimits::options("0.2");
  options.push_back({"steps", "20", "rounds of proposals"});
  options.push_back({"candidates", "64", "proposals a round, which the network judges in one batch"});
  options.push_back({"top", "32", "tokens of a position that are drawn from"});
  return {
      .name = "gcg",
      .summary =
          "greedy coordinate gradient: proposals by the gradient, of which the network's best is taken",
      .definition =
          "For `steps` rounds: `candidates` times a position and one of its `top` tokens by (E_v - E_x) * "
          "dL/dE are drawn, each a change of one token, and the one whose margin is least is taken, though "
          "it may be worse than the round before. Once `changes` tokens are others only these change. The "
          "search ends at the goal and returns the best round. Changes after which the text of the tokens "
          "would give other tokens are passed over.",
      .limits =
          "Texts may lose their meaning: look at what was found. Takes steps * candidates forward passes. "
          "Where a causal network is attacked in later `positions` alone, each computes those from the first "
          "that may change on; four further passes of whole texts check that this gives their scores.",
      .paper = "Zou et al., Universal and Transferable Adversarial Attacks on Aligned Language Models, 2023",
      .options = options,
      .make = [](const SpecOptions& given) -> std::unique_ptr<Attack> {
        return std::make_unique<Gcg>(given);
      }};
}

}  // namespace assay::attack
