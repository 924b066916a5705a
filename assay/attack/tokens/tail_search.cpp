#include "assay/attack/tokens/tail_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <assay/array_math.h>
#include "assay/attack/objective.h"
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

// Passes of whole texts that a search by a tail takes more: the trial and the judgement of what was found are
// four, and making the network of the rest takes about as long.
constexpr double trial = 8;

bool is_worth_it(const TokenSearch& record, std::size_t passes) {
  const double saved =
      static_cast<double>(record.positions.front()) / static_cast<double>(record.tokens.size());
  return static_cast<double>(passes) * saved > trial;
}

// Whether the tail alone gives the scores of texts that begin like the record.
bool takes(const TokenSpace& space, const AttackProblem& alone, const TokenSearch& record, TailScores& tail) {
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

// Whether the whole network gives the margin that the tail gave: what looks ahead only at some tokens passes
// its trial.
bool is_so_by_the_whole(const TokenSpace& space, const AttackProblem& alone, const TokenSearch& found,
                        float margin) {
  if (margin == std::numeric_limits<float>::infinity()) return true;  // nothing was judged
  const float whole = space.margins(alone, std::span(&found.tokens, 1))[0];
  return std::abs(whole - margin) <= 1e-3F * std::max(1.0F, std::abs(whole));
}

// Searches the record by the tail. False, and the record is as before, where that is not the whole network's.
bool is_found(const TokenSpace& space, const AttackProblem& problem, TokenSearch& record, TailScores& tail,
              const OneSearch& search) {
  const AttackProblem alone = problem.at(array::tensor(TokenRow{static_cast<std::int64_t>(record.row)}));
  if (!takes(space, alone, record, tail)) return false;
  const TokenSearch start = record;
  const float margin = search(alone, record, &tail);
  if (is_so_by_the_whole(space, alone, record, margin)) return true;
  record = start;
  return false;
}

}  // namespace

std::vector<TokenSearch*> search_tails(const TokenSpace& space, const AttackProblem& problem,
                                       std::vector<TokenSearch>& records,
                                       const std::function<std::size_t(const TokenSearch&)>& passes,
                                       const OneSearch& search) {
  const auto first = [](const TokenSearch* record) { return record->positions.front(); };
  std::vector<TokenSearch*> worthwhile, whole;
  for (TokenSearch& record : records)
    (is_worth_it(record, passes(record)) ? worthwhile : whole).push_back(&record);
  std::ranges::stable_sort(worthwhile, {}, first);  // a tail may be as large as the network: one at a time
  std::unique_ptr<TailScores> tail;
  for (std::size_t r = 0; r < worthwhile.size(); ++r) {
    TokenSearch& record = *worthwhile[r];
    if (r == 0 || first(&record) != first(worthwhile[r - 1])) {
      tail.reset();
      tail = TailScores::of(space, static_cast<std::int64_t>(first(&record)));
    }
    if (tail == nullptr || !is_found(space, problem, record, *tail, search)) whole.push_back(&record);
  }
  std::ranges::sort(whole, {}, &TokenSearch::row);
  return whole;
}

Array gradients_of(const TokenSpace& space, const AttackProblem& problem, std::span<const TokenRow> tokens,
                   const TailScores* tail) {
  const Array points = space.points_of(tokens);
  return tail == nullptr ? space.gradients(problem, points, {}, loss(problem))
                         : tail->gradients(problem, points, loss(problem));
}

std::vector<float> margins_of(const TokenSpace& space, const AttackProblem& problem,
                              std::span<const TokenRow> tokens, const TailScores* tail) {
  if (tail == nullptr) return space.margins(problem, tokens);
  return floats_of(margin(problem, tail->scores(problem, space.points_of(tokens))));
}

}  // namespace assay::attack
