// assay criteria, attacks, operators, constraints, measures, hypotheses, tasks: what each entry of a
// catalogue does.

#include "apps/assay/command.h"
#include "assay/results/bibliography.h"
#include "assay/results/catalogue.h"

namespace assay::app {
namespace {

struct Catalogue {
  const char *command, *entry;  // "attacks", "attack"
  report::Document (*explain)(const std::string& name);
  std::vector<const char*> flags;  // where the entries of each table are named
};

// Without a name all are listed, else the one is explained.
template <const Catalogue& catalogue>
class ExplainCatalogue : public Command {
 public:
  void declare(Flags& flags) override {
    flags.add("name NAME", name_, fmt::format("the {} to explain (default: list all)", catalogue.entry));
  }

  report::Document run(Context&) override {
    report::Document document = catalogue.explain(name_);
    if (!name_.empty()) {
      add_flags(document);
      return document;
    }
    document.headline += fmt::format("; `assay {} NAME` explains one", catalogue.command);
    for (std::size_t i = 0; i < catalogue.flags.size(); ++i) {
      if (*catalogue.flags[i] != 0) document.tables[i].title += fmt::format(" ({} NAME)", catalogue.flags[i]);
    }
    return document;
  }

 protected:
  const std::string& name() const { return name_; }

 private:
  static void add_flags(report::Document& document) {
    for (report::Fact& fact : document.facts) {
      if (fact.id != "layers") continue;
      auto& layers = std::get<std::string>(fact.value);
      layers += layers == "all" ? ", or --count-layer" : ", or --layer";
    }
  }

  std::string name_;
};

const Catalogue criteria_catalogue{
    "criteria", "criterion", results::explain_criteria, {"", "assay cover --preset"}};
const Catalogue attack_catalogue{
    "attacks", "attack", results::explain_attacks, {"", "assay attack --preset"}};
const Catalogue operator_catalogue{"operators", "operator", results::explain_operators, {}};
const Catalogue constraint_catalogue{"constraints",
                                     "constraint",
                                     results::explain_constraints,
                                     {"assay explore --constraint", "assay explore --choice"}};
const Catalogue measure_catalogue{
    "measures", "measure", results::explain_measures, {"assay inspect --measure", "assay inspect --measure"}};
const Catalogue task_catalogue{"tasks", "task", results::explain_tasks, {"assay evaluate --task"}};
const Catalogue hypothesis_catalogue{
    "hypotheses", "hypothesis", results::explain_hypotheses, {"assay inspect --hypotheses"}};

// With --bibtex, the papers to cite.
class ExplainCriteria final : public ExplainCatalogue<criteria_catalogue> {
 public:
  void declare(Flags& flags) override {
    ExplainCatalogue::declare(flags);
    flags.add("--bibtex", bibtex_, "the papers to cite, as BibTeX");
  }

  report::Document run(Context& context) override {
    return bibtex_ ? results::cite_criteria(name()) : ExplainCatalogue::run(context);
  }

  std::string printed(const report::Document& document) const override {
    return bibtex_ ? results::to_bibtex(document) : "";
  }

 private:
  bool bibtex_ = false;
};

}  // namespace

CommandInfo criteria_command() {
  return {"criteria", "the coverage criteria: formula, options, defaults, source and limits of each",
          "  assay criteria\n"
          "  assay criteria kmnc\n"
          "  assay criteria --bibtex > criteria.bib",
          make_command<ExplainCriteria>, look_up_group};
}

CommandInfo attacks_command() {
  return {"attacks", "the attacks: definition, options, defaults, source and limits of each",
          "  assay attacks\n"
          "  assay attacks pgd",
          make_command<ExplainCatalogue<attack_catalogue>>, look_up_group};
}

CommandInfo operators_command() {
  return {"operators", "the mutation operators: definition, options, defaults, source and limits of each",
          "  assay operators\n"
          "  assay operators gf",
          make_command<ExplainCatalogue<operator_catalogue>>, look_up_group};
}

CommandInfo constraints_command() {
  return {"constraints",
          "what exploration may do to a record: definition, options, defaults, source and limits of each "
          "constraint",
          "  assay constraints\n"
          "  assay constraints occl",
          make_command<ExplainCatalogue<constraint_catalogue>>, look_up_group};
}

CommandInfo measures_command() {
  return {"measures",
          "the measures of affinity between units and hypotheses: formula, options, defaults, source and "
          "limits of each",
          "  assay measures\n"
          "  assay measures pearson",
          make_command<ExplainCatalogue<measure_catalogue>>, look_up_group};
}

CommandInfo tasks_command() {
  return {
      "tasks",
      "what outputs mean that hold more than one decision a record: definition, options, defaults, source "
      "and limits of each task",
      "  assay tasks\n"
      "  assay tasks pixels",
      make_command<ExplainCatalogue<task_catalogue>>, look_up_group};
}

CommandInfo hypotheses_command() {
  return {"hypotheses",
          "the kinds of hypotheses that annotate records: definition, options, defaults, source and limits "
          "of each",
          "  assay hypotheses\n"
          "  assay hypotheses label",
          make_command<ExplainCatalogue<hypothesis_catalogue>>, look_up_group};
}

}  // namespace assay::app
