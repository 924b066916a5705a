// assay criteria: what each criterion counts.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/explained.h"
#include "assay/coverage/catalogue.h"

namespace assay::app {
namespace {

class Criteria final : public Command {
 public:
  void declare(CLI::App& app) override { app.add_option("name", name_, "the criterion to explain (default: list all)")->type_name("NAME"); }

  Document run(Context&) override {
    if (!name_.empty()) return explained(find_criterion(name_));
    Document document;
    document.headline = fmt::format("{} criteria; `assay criteria NAME` explains one", criteria().size());
    Table table{"criteria_known", "Criteria", {{"name", "name"}, {"summary", "what it is"}, {"paper", "source"}}, {}, false};
    for (const CriterionInfo& info : criteria()) table.rows.push_back({info.name, info.summary, info.paper});
    Table presets{"presets", "Presets (assay cover --preset NAME)", {{"name", "name"}, {"summary", "what it is"}}, {}, false};
    for (const CriterionPreset& preset : criterion_presets()) presets.rows.push_back({preset.name, preset.summary});
    document.tables = {std::move(table), std::move(presets)};
    return document;
  }

 private:
  static Document explained(const CriterionInfo& info) {
    std::vector<SpecOption> options = info.options;
    options.push_back(layer_option());
    Document document = app::explained(info.name, info, options, "docs/algorithms/criteria.md");
    const char* const needs[] = {"ranges of all neurons", "important neurons and the clusters of their activations", "activation traces of the subject layer"};
    document.facts = {{"learned", "learned from training data", std::string(needs[static_cast<int>(info.needs)])},
                      {"layers", "layers", std::string(info.all_layers ? "all, or --count-layer" : "the one before the last with weights, or --layer")}};
    return document;
  }

  std::string name_;
};

}  // namespace

CommandInfo criteria_command() {
  return {"criteria", "the coverage criteria: formula, options, defaults, source and limits of each",
          "  assay criteria\n"
          "  assay criteria kmnc",
          make_command<Criteria>};
}

}  // namespace assay::app
