#include "assay/engine/preparation/token_checks.h"

#include <algorithm>
#include <array>
#include <span>

#include <assay/token_decision.h>
#include "assay/engine/preparation/each_batch.h"
#include "assay/engine/preparation/own_tokenizer.h"

namespace assay::inline engine {
namespace {

void look_at_tokens(const Dataset& data, std::span<const TokenCheckPtr> checks, Progress& progress) {
  const auto is_there = [](const TokenCheckPtr& check) { return check != nullptr; };
  if (std::ranges::none_of(checks, is_there)) return;
  each_batch(data, [&](const Batch& batch) {
    for (const TokenCheckPtr& check : checks)
      if (check) check->look(batch);
    return true;
  });
  for (const TokenCheckPtr& check : checks)
    if (check) check->tell(progress);
}

}  // namespace

void require_fitting_tokens(const Graph& graph, const std::string& folder, const Dataset& data,
                            Progress& progress) {
  const std::array checks{fitting_tokens(graph, folder, data), own_tokens(graph, folder, data, progress),
                          empty_texts(data)};
  look_at_tokens(data, checks, progress);
  tell_other_tokenizer(graph, folder, data, progress);
}

}  // namespace assay::inline engine
