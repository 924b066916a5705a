// assay attacks: what each attack does.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "assay/attack/catalogue.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

class Attacks final : public Command {
 public:
  void declare(CLI::App& app) override { app.add_option("name", name_, "the attack to explain (default: list all)")->type_name("NAME"); }

  Document run(Context&) override {
    if (!name_.empty()) return explained(find_attack(name_));
    Document document;
    document.headline = fmt::format("{} attacks; `assay attacks NAME` explains one", attacks().size());
    Table table{"attacks_known", "Attacks", {{"name", "name"}, {"summary", "what it is"}, {"paper", "source"}}, {}, false};
    for (const AttackInfo& info : attacks()) table.rows.push_back({info.name, info.summary, info.paper});
    Table presets{"presets", "Presets (assay attack --preset NAME)", {{"name", "name"}, {"summary", "what it is"}, {"attacks", "attacks"}}, {}, false};
    for (const AttackPreset& preset : attack_presets()) presets.rows.push_back({preset.name, preset.summary, joined(preset.attacks, " ")});
    document.tables = {std::move(table), std::move(presets)};
    return document;
  }

 private:
  static Document explained(const AttackInfo& info) {
    Document document;
    document.headline = fmt::format("{}: {}", info.name, info.summary);
    Table options{"options", "Options", {{"option", "option"}, {"fallback", "default"}, {"summary", "what it does"}}, {}, false};
    std::vector<SpecOption> declared = info.options;
    if (!info.target.empty()) declared.push_back(target_option(info));
    for (const SpecOption& option : declared) options.rows.push_back({option.name, option.fallback.empty() ? Cell() : Cell(option.fallback), option.summary});
    document.tables = {std::move(options)};
    document.definitions = {{"definition", info.definition, info.paper}, {"limits", info.limits, "docs/algorithms/attacks.md"}};
    return document;
  }

  std::string name_;
};

}  // namespace

CommandInfo attacks_command() {
  return {"attacks", "the attacks: definition, options, defaults, source and limits of each",
          "  assay attacks\n"
          "  assay attacks pgd",
          make_command<Attacks>};
}

}  // namespace assay::app
