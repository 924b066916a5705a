// assay reliability: what tests say about failures in operation.

#include "assay/answers/testing/reliability.h"
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"

namespace assay::app {
namespace {

class Reliability final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    test_.declare(flags, true);
    flags.add("--confidence", question_.confidence, "of intervals and bounds", CLI::Range(0.5, 0.999999));
    flags.add("--candidates", question_.candidates,
              "networks among which this one was chosen by the test records", CLI::Range(1, 1'000'000));
    flags.naming(Concept::input)
        .add("--domain FILE.toml", question_.domain,
             "weigh failures by the shares that values have in operation, as this file declares them");
    calibration_.declare(flags);
    out_ = flags.add_output("--out FILE.onnx", question_.out, "write the network with the fitted temperature",
                            {.product = Product::network});
    flags.naming(Concept::other_network)
        .add("--twin FILE", question_.twins,
             "a network of another training seed: how much do accuracy and decisions depend on it? may be "
             "repeated");
    train_.declare(flags);
    near_ = flags.add(
        "--near", question_.near,
        "a test record is almost a training record within this share of the training records' spread",
        CLI::Range(0.0, 1.0));
    gates_.declare(flags);
  }

  report::Document run(Context& context) override {
    if (!calibration_.given()) refuse_without_effect({out_}, of_flags("without --calibration"));
    if (!train_.given()) refuse_without_effect({near_}, of_flags("without --train"));
    const DatasetPtr test = test_.open();
    question_.calibration = calibration_.open_if_given();
    question_.training = train_.open_if_given();
    const Session session = model_.open(context, test.get());
    question_.form = model_.form();
    question_.reading = model_.reading();
    question_.conditions = gates_.conditions();
    return answers::reliability(session, test, question_, setting_of(context), context.progress);
  }

 private:
  ModelInput model_;
  DataInput test_{"test", "test records with labels, drawn as records in operation are", Concept::test_data};
  DataInput calibration_{"calibration", "further records with labels, to which a temperature is fitted",
                         Concept::data};
  DataInput train_{"train", "training records, among which test records are looked for",
                   Concept::training_data};
  GateOptions gates_;
  const CLI::Option *out_ = nullptr, *near_ = nullptr;
  answers::ReliabilityQuestion question_;
};

}  // namespace

CommandInfo reliability_command() {
  return {"reliability",
          "bounds on failures in operation, calibrated probabilities, training seeds, leaked records",
          "  assay reliability net.onnx test.npz --train train.npz --fail-under 'failure-probability<=0.03'\n"
          "  assay reliability net.onnx test.npz,metadata=test.csv,meta=weather --domain odd.toml\n"
          "  assay reliability net.onnx test.npz --calibration validation.npz --out calibrated.onnx\n"
          "  assay reliability seed1.onnx test.npz --twin seed2.onnx --twin seed3.onnx",
          make_command<Reliability>, assure_group};
}

}  // namespace assay::app
