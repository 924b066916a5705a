// assay prune: a network without some of its units.

#include <assay/error.h>
#include <assay/model.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "apps/assay/unit_choice.h"
#include "assay/answers/task.h"
#include "assay/results/document.h"
#include "assay/results/networks/pruning.h"

namespace assay::app {
namespace {

class Prune final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    test_.declare(flags, true);
    units_.declare(flags);
    flags.add("--mask", options_.mask, "set their activations to 0 and keep the shape of the network");
    flags.add("--random-groups", options_.random_groups,
              "compare with this many random choices of as many units of the same layers",
              CLI::Range(0, 10'000));
    model_.declare_task(flags, task_);
    flags.add_output("--out FILE.onnx", out_, "where the pruned network goes", {.product = Product::network});
  }

  report::Document run(Context& context) override {
    const DatasetPtr given = test_.open();
    const auto session = std::make_shared<const Session>(model_.open(context, given.get()));
    const answers::Decided decision =
        answers::decided(task_, *session, given, {}, setting_of(context).batch, answers::Need::judgement);
    const DatasetPtr& test = decision.data;
    options_.task = decision.task;
    if (!units_.given())
      refuse("which units? give --units layer=NAME,units=3+5, or from=FILE of `assay inspect`");
    const inspection::UnitsByLayer units = units_.of(session);
    options_.seed = context.settings.seed;
    options_.batch = setting_of(context).batch;
    const inspection::Pruning pruning = inspection::prune(*session, units, test, options_, context.progress);
    const Graph pruned = in_form_of_file(pruning.graph, model_.form());
    if (!out_.empty()) write_onnx(pruned, out_);
    report::Document document = results::document_of(pruning, session->graph(), units, options_.mask);
    answers::add_task(document, decision);
    results::add_provenance(document, *session, {{"test", test}});
    document.provenance.emplace_back("pruned_hash", pruned.hash());
    return document;
  }

 private:
  ModelInput model_;
  DataInput test_{"test", "records that the network is judged on before and after", Concept::test_data};
  UnitsInput units_{"units to remove"};
  std::string out_, task_;
  inspection::PruneOptions options_;
};

}  // namespace

CommandInfo prune_command() {
  return {
      "prune", "a network without some of its units, such as those that follow a hypothesis",
      "  assay prune net.onnx test.npz --units layer=fc1,units=3+5+8-11 --out pruned.onnx\n"
      "  assay inspect net.onnx train.npz --hypotheses label --json seen.json\n"
      "  assay prune net.onnx test.npz --units from=seen.json,hypothesis=label:7,top=5 --random-groups 20",
      make_command<Prune>, files_group};
}

}  // namespace assay::app
