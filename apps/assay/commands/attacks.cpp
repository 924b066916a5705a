// assay attacks: what each attack does.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/explained.h"
#include "assay/attack/catalogue.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

class Attacks final : public Command {
 public:
  void declare(CLI::App& app) override { app.add_option("name", name_, "the attack to explain (default: list all)")->type_name("NAME"); }

  Document run(Context&) override {
    if (!name_.empty()) {
      const AttackInfo& info = find_attack(name_);
      std::vector<SpecOption> options = info.options;
      if (!info.target.empty()) options.push_back(target_option(info));
      return explained(info.name, info, options, "docs/algorithms/attacks.md");
    }
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
