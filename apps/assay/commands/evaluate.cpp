// assay evaluate: accuracy or mean squared error of a network on data, per class, with a confusion summary.

#include <assay/evaluate.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/results/document.h"
#include "assay/results/networks/evaluation.h"
#include "assay/results/warnings.h"
#include "assay/support/ranks/ranks.h"

namespace assay::app {
namespace {

class Evaluate final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    data_.declare(flags);
    check_.declare(flags);
    gates_.declare(flags);
    flags.add("--predictions FILE", predictions_,
              "write what the network says of each record: id, label, class and outputs (.csv or .npz)");
  }

  std::vector<Output> outputs() const override { return {{"--predictions", predictions_}}; }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    gates_.check(names_of(*data));
    gates_.check_baseline(session.graph().hash(), data->hash());
    Predictions predictions;
    Evaluation& evaluation = predictions.evaluation;
    if (predictions_.empty()) {
      evaluation = check_.run(session, data, context);
    } else {
      predictions = predict(session, data, walk_options(context, "evaluating"), context.progress);
      check_.apply(evaluation, session, data);
    }
    ranks().leave_to_first();
    if (!predictions_.empty()) write_predictions(predictions_, predictions);
    report::Document document = results::document_of(evaluation, session.graph(), *data);
    results::add_warnings(document, results::class_warnings(session, *data));
    if (evaluation.accuracy)
      results::add_warnings(document, results::accuracy_warnings(*evaluation.accuracy, class_count(session)));
    gates_.apply(document, results::measurements_of(evaluation, *data));
    results::add_provenance(document, session.graph(), {{"data", data}});
    return document;
  }

 private:
  // What gates can be about.
  static std::vector<std::string> names_of(const Dataset& data) {
    if (data.target_width() > 0) return {"mean-squared-error", "mean-absolute-error", "greatest-error"};
    return {"accuracy"};
  }

  ModelInput model_;
  DataInput data_{"data", "records to evaluate on"};
  AccuracyCheck check_;
  GateOptions gates_;
  std::string predictions_;
};

}  // namespace

CommandInfo evaluate_command() {
  return {"evaluate", "accuracy or mean squared error of a network on data",
          "  assay evaluate --model lenet5.onnx --data t10k-images-idx3-ubyte.gz\n"
          "  assay evaluate --model net.h5 --data digits:1000 --expect-accuracy 0.98\n"
          "  assay evaluate --model net.onnx --data test.npz --fail-under accuracy=0.97 --fail-under "
          "'accuracy[class=*]=0.9'\n"
          "  assay evaluate --model dave2.onnx --data test.tar,targets=steering.csv --fail-under "
          "'mean-absolute-error[target=0]<=0.05'\n"
          "  assay evaluate --model net.onnx --data test.npz --predictions said.csv\n"
          "There is no --shard: counts of slices ('test.npz[:5000]') can be added up.",
          make_command<Evaluate>};
}

}  // namespace assay::app
