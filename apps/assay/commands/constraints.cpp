// assay constraints: what each constraint of exploration allows.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/explained.h"
#include "assay/explore/choice.h"
#include "assay/explore/constraints.h"

namespace assay::app {
namespace {

class Constraints final : public Command {
 public:
  void declare(CLI::App& app) override { app.add_option("name", name_, "the constraint to explain (default: list all)")->type_name("NAME"); }

  Document run(Context&) override {
    if (!name_.empty()) {
      const ConstraintInfo& info = find_constraint(name_);
      return explained(info.name, info, info.options, "docs/algorithms/exploration.md");
    }
    Document document;
    document.headline = fmt::format("{} constraints; `assay constraints NAME` explains one", constraints().size());
    Table table{"constraints", "Constraints (assay explore --constraint NAME)", {{"name", "name"}, {"summary", "what it allows"}, {"paper", "source"}}, {}, false};
    for (const ConstraintInfo& info : constraints()) table.rows.push_back({info.name, info.summary, info.paper});
    Table choices{"choices", "Choices of neurons (assay explore --choice NAME)", {{"name", "name"}, {"summary", "what is chosen"}}, {}, false};
    for (const NeuronChoice& choice : neuron_choices()) choices.rows.push_back({choice.name, choice.summary});
    document.tables = {std::move(table), std::move(choices)};
    return document;
  }

 private:
  std::string name_;
};

}  // namespace

CommandInfo constraints_command() {
  return {"constraints", "what exploration may do to a record: definition, options, defaults, source and limits of each constraint",
          "  assay constraints\n"
          "  assay constraints occl",
          make_command<Constraints>};
}

}  // namespace assay::app
