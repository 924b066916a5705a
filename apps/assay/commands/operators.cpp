// assay operators: what each mutation operator changes.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/explained.h"
#include "assay/mutation/catalogue.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

std::string level_of(const OperatorInfo& info) {
  switch (info.level) {
    case OperatorInfo::Level::weight: return "weights";
    case OperatorInfo::Level::neuron: return "neurons";
    case OperatorInfo::Level::layer: break;
  }
  return "layer";
}

class Operators final : public Command {
 public:
  void declare(CLI::App& app) override { app.add_option("name", name_, "the operator to explain (default: list all)")->type_name("NAME"); }

  Document run(Context&) override {
    if (!name_.empty()) {
      const OperatorInfo& info = find_mutation_operator(name_);
      Document document = explained(fmt::format("{} ({})", info.name, info.title), info, info.options, "docs/algorithms/mutation-operators.md");
      document.facts = {{"level", "acts on", level_of(info)}};
      return document;
    }
    Document document;
    document.headline = fmt::format("{} mutation operators; `assay operators NAME` explains one", mutation_operators().size());
    Table table{"operators_known", "Mutation operators", {{"name", "name"}, {"title", "operator"}, {"level", "acts on"}, {"summary", "what it does"}, {"paper", "source"}}, {}, false};
    for (const OperatorInfo& info : mutation_operators()) table.rows.push_back({info.name, info.title, level_of(info), info.summary, info.paper});
    Table presets{"presets", "Presets", {{"name", "name"}, {"summary", "what it is"}, {"operators", "operators"}}, {}, false};
    for (const MutationPreset& preset : mutation_presets()) presets.rows.push_back({preset.name, preset.summary, joined(preset.operators, " ")});
    document.tables = {std::move(table), std::move(presets)};
    return document;
  }

 private:
  std::string name_;
};

}  // namespace

CommandInfo operators_command() {
  return {"operators", "the mutation operators: definition, options, defaults, source and limits of each",
          "  assay operators\n"
          "  assay operators gf",
          make_command<Operators>};
}

}  // namespace assay::app
