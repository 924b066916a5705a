// assay evaluate: accuracy or mean squared error of a network on data, per class, with a confusion summary.

#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/answers/networks/evaluation.h"

namespace assay::app {
namespace {

class Evaluate final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    data_.declare(flags, true);
    check_.declare(flags);
    model_.declare_task(flags, question_.task);
    gates_.declare(flags);
    add_pairs(flags, question_.pairs);
    flags.add_output(
        "--predictions FILE", question_.predictions,
        "write what the network says of each record: id, label, class and outputs (.csv or .npz)",
        {.product = Product::predictions});
    flags.of_the_run().add("--pictures", question_.pictures,
                           "draw so many of the records with the largest share of wrong items (at most 10), "
                           "masks and boxes as labelled next to those that are decided",
                           CLI::Range(0, 10));
    folder_ = flags.add_output(
        "--out FOLDER", question_.folder, "folder for the pictures",
        {.members = {"decided-[0-9]*.png"}, .when = [this] { return question_.pictures > 0; }});
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    if (question_.pictures == 0) refuse_without_effect({folder_}, of_flags("without --pictures"));
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    question_.accuracy = check_.declared();
    question_.conditions = gates_.conditions();
    return answers::evaluate(session, data, question_, setting_of(context), context.progress);
  }

 private:
  ModelInput model_;
  DataInput data_{"data", "records to evaluate on", Concept::test_data};
  AccuracyCheck check_;
  GateOptions gates_;
  const CLI::Option* folder_ = nullptr;
  answers::EvaluationQuestion question_{.folder = "assay-evaluate"};
};

}  // namespace

CommandInfo evaluate_command() {
  return {
      "evaluate",
      "accuracy or mean squared error of a network on data",
      "  assay evaluate lenet5.onnx t10k-images-idx3-ubyte.gz\n"
      "  assay evaluate net.h5 digits:1000 --expect-accuracy 0.98\n"
      "  assay evaluate net.onnx test.npz --fail-under accuracy=0.97 --fail-under 'accuracy[class=*]=0.9'\n"
      "  assay evaluate dave2.onnx test.tar,targets=steering.csv --fail-under "
      "'mean-absolute-error[target=0]<=0.05'\n"
      "  assay evaluate net.onnx test.npz --predictions said.csv\n"
      "There is no --shard: counts of slices ('test.npz[:5000]') can be added up.",
      make_command<Evaluate>,
      begin_group,
      true};
}

}  // namespace assay::app
