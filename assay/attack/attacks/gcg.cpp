// Greedy coordinate gradient: the gradient proposes, the network decides.

#include <algorithm>
#include <limits>

#include <assay/array_math.h>
#include <assay/attack.h>
#include <assay/error.h>
#include "assay/attack/tokens/tail_search.h"

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
    const auto search = [&](const AttackProblem& alone, TokenSearch& record, const TailScores* tail) {
      return search_one(space, alone, record, originals[record.row], tail);
    };
    const auto passes = [this](const TokenSearch&) { return steps_ * candidates_; };
    for (TokenSearch* const record : search_tails(space, problem, records, passes, search))
      search(problem.at(array::tensor(TokenRow{static_cast<std::int64_t>(record->row)})), *record, nullptr);
  }

  // Of the only record of the problem. The least margin.
  float search_one(const TokenSpace& space, const AttackProblem& alone, TokenSearch& record,
                   const TokenRow& original, const TailScores* tail) const {
    Rng rng = alone.rng(0, candidates_stream);
    TokenSearch best = record;
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t step = 0; step < steps_ && least >= 0; ++step) {
      const std::vector<TokenSearch> candidates = drawn_candidates(space, alone, record, original, tail, rng);
      if (candidates.empty()) {
        alone.end(0, "no change of a token helps by its gradient and is that of a text");
        break;
      }
      const std::vector<float> margins = margins_of_candidates(space, alone, candidates, tail);
      const std::size_t first = std::ranges::min_element(margins) - margins.begin();
      record = candidates[first];
      if (margins[first] >= least) continue;
      least = margins[first];
      best = record;
    }
    record = std::move(best);
    return least;
  }

  // Each with one more change: a position by chance, a token by chance of the most promising there.
  std::vector<TokenSearch> drawn_candidates(const TokenSpace& space, const AttackProblem& alone,
                                            const TokenSearch& record, const TokenRow& original,
                                            const TailScores* tail, Rng& rng) const {
    const std::span<const TokenRow> tokens(&record.tokens, 1);
    const Array rows = space.rows_of(tokens).contiguous(),
                gradient = gradients_of(space, alone, tokens, tail).contiguous();
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

  static std::vector<float> margins_of_candidates(const TokenSpace& space, const AttackProblem& alone,
                                                  const std::vector<TokenSearch>& candidates,
                                                  const TailScores* tail) {
    std::vector<TokenRow> tokens;
    for (const TokenSearch& candidate : candidates) tokens.push_back(candidate.tokens);
    const TokenRow same_record(candidates.size(), 0);
    return margins_of(space, alone.at(array::tensor(same_record)), tokens, tail);
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
