// One token after the other, each where the gradient promises most.

#include <algorithm>
#include <limits>

#include <assay/attack.h>
#include <assay/error.h>
#include "assay/attack/tokens/tail_search.h"

namespace assay::attack {
namespace {

constexpr std::size_t passes_of_flip = 4;  // forward, backward twice as long, and the judgement

class HotFlip final : public TokenAttack {
 public:
  explicit HotFlip(const SpecOptions& options)
      : TokenAttack(TokenLimits(options)), tried_(options.count("tried", 1)) {}

 private:
  void search(const TokenSpace& space, const AttackProblem& problem,
              std::vector<TokenSearch>& records) const override {
    const std::vector<TokenRow> originals = space.tokens_of(problem.inputs);
    const auto search = [&](const AttackProblem&, TokenSearch& record, const TailScores* tail) {
      return search_all(space, problem, originals, {&record}, tail);
    };
    const auto passes = [](const TokenSearch& record) { return passes_of_flip * record.budget; };
    search_all(space, problem, originals, search_tails(space, problem, records, passes, search), nullptr);
  }

  // The margin of the record that was judged last.
  float search_all(const TokenSpace& space, const AttackProblem& problem,
                   const std::vector<TokenRow>& originals, std::vector<TokenSearch*> rest,
                   const TailScores* tail) const {
    float margin = std::numeric_limits<float>::infinity();
    while (!rest.empty()) {
      const AttackProblem part = problem_of_searches(problem, rest);
      const std::vector<TokenRow> tokens = tokens_of_searches(rest);
      const Array gradients = gradients_of(space, part, tokens, tail), rows = space.rows_of(tokens);
      std::vector<TokenSearch*> flipped;
      for (std::size_t r = 0; r < rest.size(); ++r) {
        if (flip(space, problem, *rest[r], originals[rest[r]->row], row_of(gradients, r), row_of(rows, r)))
          flipped.push_back(rest[r]);
      }
      if (flipped.empty()) break;
      const std::vector<float> margins =
          margins_of(space, problem_of_searches(problem, flipped), tokens_of_searches(flipped), tail);
      margin = margins.back();
      rest = still_searched(problem, flipped, margins);
    }
    return margin;
  }

  static std::span<const float> row_of(const Array& values, std::size_t row) {
    const std::size_t size = values.count() / values.size(0);
    return {values.elements<float>() + row * size, size};
  }

  // The best change after which the tokens are those of a text. Positions change once.
  bool flip(const TokenSpace& space, const AttackProblem& problem, TokenSearch& record,
            const TokenRow& original, std::span<const float> gradient, std::span<const float> rows) const {
    TokenSearch open = record;
    std::erase_if(open.positions, [&](std::size_t position) { return record.changed.contains(position); });
    for (const Flip& one : best_flips(space, open, gradient, rows, tried_, tried_)) {
      TokenRow changed = record.tokens;
      changed[one.position] = one.token;
      if (!space.is_text(changed)) continue;
      record.put(one.position, one.token, original[one.position]);
      return true;
    }
    problem.end(record.row, "no change of a token helps by its gradient and is that of a text");
    return false;
  }

  static std::vector<TokenSearch*> still_searched(const AttackProblem& problem,
                                                  const std::vector<TokenSearch*>& flipped,
                                                  const std::vector<float>& margins) {
    std::vector<TokenSearch*> rest;
    for (std::size_t r = 0; r < flipped.size(); ++r) {
      if (margins[r] < 0) continue;
      if (flipped[r]->changed.size() < flipped[r]->budget)
        rest.push_back(flipped[r]);
      else
        problem.end(flipped[r]->row, "all tokens that may change have changed");
    }
    return rest;
  }

  std::size_t tried_;
};

}  // namespace

AttackInfo hotflip_attack() {
  std::vector<SpecOption> options = TokenLimits::options("0.2");
  options.push_back(
      {"tried", "64", "changes tried in the order of their promise until one is that of a text"});
  return {
      .name = "hotflip",
      .summary = "tokens replaced one after the other, each where the gradient promises most",
      .definition =
          "As long as the goal is not reached and at most `changes` times: of all positions that have not "
          "changed and all tokens v, the change with the greatest (E_v - E_x) * dL/dE, where E are rows of "
          "the table of tokens and L is the cross-entropy with the label (less that with the target). "
          "Changes after which the text of the tokens would give other tokens are passed over.",
      .limits =
          "Texts may lose their meaning: look at what was found. To first order only. Where a causal network "
          "is "
          "attacked in later `positions` alone, each text is computed from the first that may change on; "
          "four "
          "further passes of whole texts check that this gives their scores.",
      .paper = "Ebrahimi et al., HotFlip: White-Box Adversarial Examples for Text Classification, ACL 2018",
      .options = options,
      .make = [](const SpecOptions& given) -> std::unique_ptr<Attack> {
        return std::make_unique<HotFlip>(given);
      }};
}

}  // namespace assay::attack
