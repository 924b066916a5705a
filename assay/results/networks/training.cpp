#include <assay/results.h>

#include <fmt/format.h>

#include "assay/results/document.h"

namespace assay::results {
namespace {

report::Table epoch_table(const training::TrainingResult& result, bool classification) {
  const auto epoch = [&](std::size_t e) -> const training::EpochResult& { return result.epochs[e]; };
  return table_of(
      "epochs", "Epochs", positions(result.epochs.size()),
      {{"epoch", [](auto e) { return e + 1; }},
       {"loss", 5, [&](auto e) { return epoch(e).loss; }},
       {when(classification), "accuracy", Kind::percent, [&](auto e) { return epoch(e).accuracy; }},
       {when(classification), "validation_accuracy", "validation accuracy", Kind::percent,
        [&](auto e) { return epoch(e).validation_accuracy; }},
       {"validation_loss", "validation loss", 5, [&](auto e) { return epoch(e).validation_loss; }}});
}

std::string score_text(const training::EpochResult& epoch) {
  if (epoch.validation_accuracy)
    return fmt::format("validation accuracy {:.2f} %", 100 * *epoch.validation_accuracy);
  if (epoch.validation_loss) return fmt::format("validation loss {:.5f}", *epoch.validation_loss);
  return fmt::format("training loss {:.5f}", epoch.loss);
}

}  // namespace

report::Document document_of(const training::TrainingResult& result, const training::Recipe& recipe,
                             const Dataset& data, const Dataset* validation) {
  report::Document document;
  document.headline = fmt::format("trained {} on {}: epoch {}, {}", result.graph.name(), data.describe(),
                                  result.best_epoch + 1, score_text(result.epochs.at(result.best_epoch)));
  document.facts = {{"parameters", "parameters", result.graph.parameter_count(), Kind::count},
                    count_fact("best_epoch", "epoch kept", result.best_epoch + 1),
                    {"learning_rate", "learning rate", training::learning_rate_of(recipe), Kind::number, 6}};
  if (result.stopped_early)
    document.notices.push_back(fmt::format("stopped after epoch {} of {}: patience {} ran out",
                                           result.epochs.size(), recipe.epochs, *recipe.patience));
  document.tables = {epoch_table(result, result.classifies)};
  document.provenance = {{"model_hash", result.graph.hash()}, {"recipe_hash", training::recipe_hash(recipe)}};
  add_provenance(document, "data", data);
  if (validation != nullptr) document.provenance.emplace_back("validation_hash", validation->hash());
  return document;
}

}  // namespace assay::results
