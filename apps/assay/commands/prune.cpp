// assay prune: a network without some of its units.

#include <cmath>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "apps/assay/unit_choice.h"
#include "assay/inspection/prune.h"
#include "assay/results/document.h"
#include "assay/results/evaluation.h"

namespace assay::app {
namespace {

constexpr std::uint64_t prune_stream = 0x7072756e65;

class Prune final : public Command {
 public:
  void declare(CLI::App& app) override {
    model_.declare(app, true);
    test_.declare(app);
    units_.declare(app);
    app.add_flag("--mask", mask_, "set their activations to 0 and keep the shape of the network");
    app.add_option("--random-groups", random_groups_,
                   "compare with so many random choices of as many units of the same layers")
        ->check(CLI::Range(0, 10'000));
    app.add_option("--out", out_, "where the pruned network goes")->type_name("FILE.onnx");
  }

  std::vector<Output> outputs() const override { return {{"--out", out_}}; }

  report::Document run(Context& context) override {
    const DatasetPtr test = test_.open();
    const auto session = std::make_shared<const Session>(model_.open(context, test.get()));
    if (!units_.given())
      fail(Fault::usage, "which units? give --units layer=NAME,units=3+5, or from=FILE of `assay inspect`");
    const UnitsByLayer chosen = units_.of(session);
    const Graph pruned = without(*session, chosen);
    if (!out_.empty()) write_onnx(pruned, out_);
    const Session after_session(pruned, session->options());
    const Evaluation before = evaluate(*session, test, walk_options(context, "before"), context.progress),
                     after = evaluate(after_session, test, walk_options(context, "after"), context.progress);
    report::Document document;
    results::add_scores(document, before, "before");
    results::add_scores(document, after, "after");
    std::size_t units = 0;
    for (const auto& [layer, numbers] : chosen) units += numbers.size();
    document.facts.push_back(results::count_fact("units", mask_ ? "units masked" : "units removed", units));
    document.facts.push_back(
        results::count_fact("parameters_before", "parameters before",
                            static_cast<std::uint64_t>(session->graph().parameter_count())));
    document.facts.push_back(results::count_fact("parameters_after", "parameters after",
                                                 static_cast<std::uint64_t>(pruned.parameter_count())));
    document.headline = fmt::format("{} without {} units: {} -> {}", session->graph().name(), units,
                                    score_text(before), score_text(after));
    document.tables.push_back(layer_table(chosen));
    if (random_groups_ > 0) compare(*session, chosen, test, after, context, document);
    results::add_provenance(document, session->graph(), {{"test", test}});
    document.provenance.emplace_back("pruned_hash", pruned.hash());
    return document;
  }

 private:
  using UnitsByLayer = std::map<std::string, std::vector<std::size_t>>;

  static double score_of(const Evaluation& evaluation) {
    return evaluation.accuracy ? *evaluation.accuracy : evaluation.mean_squared_error.value_or(0);
  }
  static std::string score_text(const Evaluation& evaluation) {
    return evaluation.accuracy ? "accuracy " + report::percent(*evaluation.accuracy)
                               : fmt::format("mean squared error {:.4f}", score_of(evaluation));
  }

  // Layer after layer; names of layers stay.
  Graph without(const Session& session, const UnitsByLayer& chosen) const {
    Graph graph = session.graph();
    for (const auto& [name, units] : chosen) {
      const Session now(graph, session.options());
      const Layer& layer = now.layer(name);
      graph = mask_ ? inspection::with_units_masked(now, layer, units)
                    : inspection::without_units(now, layer, units);
    }
    return graph;
  }

  static report::Table layer_table(const UnitsByLayer& chosen) {
    report::Table table{"pruned",
                        "Units",
                        {{"layer", "layer"}, {"count", "units", results::Kind::count}, {"units", "numbers"}},
                        {}};
    for (const auto& [layer, units] : chosen)
      table.rows.push_back(
          {layer, report::count_cell(units.size()), fmt::format("{}", fmt::join(units, "+"))});
    return table;
  }

  void compare(const Session& session, const UnitsByLayer& chosen, const DatasetPtr& test,
               const Evaluation& after, const Context& context, report::Document& document) const {
    double sum = 0, least = INFINITY, greatest = -INFINITY;
    std::size_t lower = 0;
    Stage stage(context.progress, "random choices", random_groups_, "networks");
    for (std::size_t i = 0; i < random_groups_; ++i) {
      UnitsByLayer random;
      std::uint64_t number = 0;
      for (const auto& [layer, units] : chosen)
        random[layer] = Rng(context.settings.seed, {prune_stream, i, number++})
                            .sample(static_cast<std::size_t>(session.layer(layer).neurons), units.size());
      const Session other(without(session, random), session.options());
      const double score = score_of(evaluate(other, test, walk_options(context, "random choice"), silence()));
      sum += score, least = std::min(least, score), greatest = std::max(greatest, score);
      lower += score < score_of(after);
      stage.advance(1);
    }
    const auto kind = after.accuracy ? results::Kind::percent : results::Kind::number;
    document.facts.push_back({"random_mean", "after random choices of as many: mean",
                              sum / static_cast<double>(random_groups_), kind, 2});
    document.facts.push_back({"random_least", "least", least, kind, 2});
    document.facts.push_back({"random_greatest", "greatest", greatest, kind, 2});
    document.facts.push_back(
        results::count_fact("random_lower", "random choices below the chosen units", lower));
  }

  ModelInput model_;
  DataInput test_{"test", "records that the network is judged on before and after"};
  UnitsInput units_{"units to remove"};
  std::string out_;
  std::size_t random_groups_ = 0;
  bool mask_ = false;
};

}  // namespace

CommandInfo prune_command() {
  return {
      "prune", "a network without some of its units, such as those that follow a hypothesis",
      "  assay prune --model net.onnx --units layer=fc1,units=3+5+8-11 --test test.npz --out pruned.onnx\n"
      "  assay inspect --model net.onnx --data train.npz --hypotheses label --json seen.json\n"
      "  assay prune --model net.onnx --units from=seen.json,hypothesis=label:7,top=5 --test test.npz "
      "--random-groups 20",
      make_command<Prune>};
}

}  // namespace assay::app
