// assay evaluate: accuracy or mean squared error of a network on data, per class, with a confusion summary.

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
  }

  report::Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    report::Document document =
        results::document_of(check_.run(session, data, context), session.graph(), *data);
    results::add_provenance(document, session.graph(), {{"data", data}});
    return document;
  }

 private:
  ModelInput model_;
  DataInput data_{"data", "records to evaluate on"};
  AccuracyCheck check_;
};

}  // namespace

CommandInfo evaluate_command() {
  return {"evaluate", "accuracy or mean squared error of a network on data",
          "  assay evaluate --model lenet5.onnx --data t10k-images-idx3-ubyte.gz\n"
          "  assay evaluate --model net.h5 --data digits:1000 --expect-accuracy 0.98\n"
          "There is no --shard: counts of slices ('test.npz[:5000]') can be added up.",
          make_command<Evaluate>};
}

}  // namespace assay::app
