// assay evaluate: accuracy or mean squared error of a network on data, per class, with a confusion summary.

#include <assay/predictions.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/results/document.h"
#include "assay/results/evaluation.h"

namespace assay::app {
namespace {

class Evaluate final : public Command {
 public:
  void declare(CLI::App& app) override {
    model_.declare(app);
    data_.declare(app);
    check_.declare(app);
    app.add_option("--predictions", predictions_,
                   "write what the network says of each record: id, label, class and outputs (.csv or .npz)")
        ->type_name("FILE");
  }

  std::vector<Output> outputs() const override { return {{"--predictions", predictions_}}; }

  report::Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    report::Document document =
        results::document_of(check_.run(session, data, context), session.graph(), *data);
    if (!predictions_.empty())
      write_predictions(predictions_,
                        predict(session, data, walk_options(context, "predicting"), context.progress));
    results::add_provenance(document, session.graph(), {{"data", data}});
    return document;
  }

 private:
  ModelInput model_;
  DataInput data_{"data", "records to evaluate on"};
  AccuracyCheck check_;
  std::string predictions_;
};

}  // namespace

CommandInfo evaluate_command() {
  return {"evaluate", "accuracy or mean squared error of a network on data",
          "  assay evaluate --model lenet5.onnx --data t10k-images-idx3-ubyte.gz\n"
          "  assay evaluate --model net.h5 --data digits:1000 --expect-accuracy 0.98\n"
          "  assay evaluate --model net.onnx --data test.npz --predictions said.csv\n"
          "There is no --shard: counts of slices ('test.npz[:5000]') can be added up.",
          make_command<Evaluate>};
}

}  // namespace assay::app
