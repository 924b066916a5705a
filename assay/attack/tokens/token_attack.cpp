#include "assay/attack/tokens/token_attack.h"

#include <algorithm>
#include <iterator>

#include <assay/array_layers.h>
#include <assay/array_math.h>

namespace assay::attack {

void TokenSearch::put(std::size_t position, std::int64_t token, std::int64_t original) {
  tokens[position] = token;
  if (token == original)
    changed.erase(position);
  else
    changed.insert(position);
}

Array TokenAttack::perturb(const AttackedNetwork& network, const AttackProblem& problem) const {
  const TokenSpace space(network, limits_);
  std::vector<TokenRow> rows = space.tokens_of(problem.inputs);
  const std::vector<std::vector<std::size_t>> positions = space.positions(problem);
  std::vector<TokenSearch> records;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t budget = limits_.budget(positions[r].size());
    if (budget > 0) records.push_back({r, rows[r], positions[r], budget});
    if (budget == 0 && !positions[r].empty()) problem.end(r, limits_.why_no_change(positions[r].size()));
  }
  if (!records.empty()) search(space, problem, records);
  for (TokenSearch& record : records) rows[record.row] = std::move(record.tokens);
  return space.points_of(rows);
}

AttackProblem problem_of_searches(const AttackProblem& problem, std::span<const TokenSearch* const> records) {
  std::vector<std::int64_t> rows;
  for (const TokenSearch* const record : records) rows.push_back(record->row);
  return problem.at(array::tensor(rows));
}

std::vector<TokenRow> tokens_of_searches(std::span<const TokenSearch* const> records) {
  std::vector<TokenRow> rows;
  for (const TokenSearch* const record : records) rows.push_back(record->tokens);
  return rows;
}

std::vector<Flip> best_flips(const TokenSpace& space, const TokenSearch& record,
                             std::span<const float> gradient, std::span<const float> row_now,
                             std::size_t most, std::size_t each) {
  std::vector<std::size_t> open;
  std::ranges::copy_if(record.positions, std::back_inserter(open),
                       [&](std::size_t position) { return record.may_change(position); });
  if (open.empty()) return {};
  const std::size_t width = gradient.size() / record.tokens.size();
  std::vector<float> slopes;
  for (const std::size_t position : open)
    slopes.insert(slopes.end(), gradient.begin() + position * width,
                  gradient.begin() + (position + 1) * width);
  const Array promised =
      array::matmul(Array::of<float>({std::ssize(open), static_cast<std::int64_t>(width)}, slopes),
                    space.rows_of_choices().transpose(0, 1))
          .contiguous();
  const float* const of_tokens = promised.elements<float>();
  const std::vector<std::int64_t>& choices = space.choices();
  std::vector<Flip> all;
  for (std::size_t p = 0; p < open.size(); ++p) {
    const std::size_t position = open[p];
    float now = 0;
    for (std::size_t i = 0; i < width; ++i) now += slopes[p * width + i] * row_now[position * width + i];
    std::vector<Flip> here;
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const float gain = of_tokens[p * choices.size() + c] - now;
      if (gain > 0 && choices[c] != record.tokens[position]) here.push_back({position, choices[c], gain});
    }
    const auto end = here.begin() + std::min(each, here.size());
    std::ranges::partial_sort(here, end, std::ranges::greater{}, &Flip::gain);
    all.insert(all.end(), here.begin(), end);
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Flip::gain);
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace assay::attack
