// Words whose meaning is blurred.

#include <algorithm>
#include <cmath>
#include <optional>

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include "assay/mutation/front.h"

namespace assay::mutation {
namespace {

// The greatest table from which an input chooses rows.
std::optional<RowTable> words_in_front(const Subject& subject, const SubjectLayer& layer) {
  std::optional<RowTable> words;
  for (RowTable& table : tables_in_front(subject, layer))
    if (table.given && (!words || table.rows > words->rows)) words = std::move(table);
  return words;
}

double deviation_of_table(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float value : values) sum += value;
  const double count = values.size();
  for (const float value : values) squares += (value - sum / count) * (value - sum / count);
  return std::sqrt(squares / count);
}

double share_of_rows(const SpecOptions& options) {
  const double ratio = options.number("ratio", 0);
  if (ratio > 1)
    fail(Fault::usage, "{}: ratio {} is more than all rows; give 0 to 1", options.owner(), ratio);
  return ratio;
}

void add_noise(const MutationSite& target, Edit& edit, const RowTable& table) {
  const Graph& graph = edit.subject().graph();
  const double sigma = target.options.number("sigma", 0) *
                       deviation_of_table(graph.constant(table.weights.constant).as<float>());
  const std::size_t rows = table.rows;
  const std::size_t wanted = std::llround(share_of_rows(target.options) * rows);
  for (const std::size_t row : target.rng.sample(rows, std::clamp<std::size_t>(wanted, 1, rows))) {
    for (std::int64_t k = 0; k < table.width; ++k) {
      const std::int64_t index = row * table.width + k;
      const double noise = sigma * target.rng.normal();
      edit.set_weight(target.layer, table.weights, index,
                      static_cast<float>(edit.weight(table.weights, index) + noise));
    }
  }
}

}  // namespace

OperatorInfo embedding_operator() {
  return {
      .name = "embedding",
      .title = "noise on embeddings",
      .summary = "some rows of the table of tokens get noise",
      .definition =
          "of the table in front of a layer whose rows an input chooses (the greatest, where there are "
          "several), round(ratio * rows) random rows, at least one, become draws from N(row, s²), s = sigma "
          "times the standard deviation of the table",
      .limits =
          "one table a network; rows of tokens that no test holds give mutants that none kills; a table "
          "that is also the last layer's stays there",
      .paper = "a fault of memory and of fine-tuning; noise as in NEFTune, Jain et al., ICLR 2024",
      .level = OperatorInfo::Level::layer,
      .options = {{"ratio", "0.1", "share of the rows"},
                  {"sigma", "1", "standard deviation, in those of the table"}},
      .variants = 1000,
      .refusal = [](const SubjectLayer&, const SpecOptions& options) -> std::string {
        share_of_rows(options);
        options.number("sigma", 0);
        return {};
      },
      .apply =
          [](const MutationSite& target, Edit& edit) {
            const auto words = words_in_front(edit.subject(), target.layer);
            if (words) add_noise(target, edit, *words);
          }};
}

}  // namespace assay::mutation
