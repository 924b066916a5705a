// assay monitor: an alarm for records unlike those that a network is for.

#include "assay/answers/testing/monitor.h"
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"

namespace assay::app {
namespace {

class MonitorCommand final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    test_.declare(flags, true);
    flags
        .add("--score", score_,
             "energy, max-logit (both of the scores), or mdsa, dsa (of a layer's activations, from training "
             "records)")
        ->check(CLI::IsMember({"energy", "max-logit", "mdsa", "dsa"}));
    train_.declare(flags);
    layer_ = flags.add("--layer NAME", question_.options.layer,
                       "layer of mdsa and dsa, by name or number (default: the layer before the last with "
                       "weights)");
    references_ = flags.add("--references", question_.options.references,
                            "of dsa: so many training records of each class that the network names",
                            CLI::Range(1, 1'000'000));
    calibration_.declare(flags);
    flags.add("--false-alarms", question_.options.false_alarms,
              "share of usual records that may raise an alarm", CLI::Range(1e-6, 0.5));
    flags.naming(Concept::data)
        .add("--foreign SPEC", foreign_, "records that should raise an alarm: how many do? may be repeated");
    flags.add_list("--attack SPEC,...", question_.attacks,
                   "attack or corruption of the test records: how many raise an alarm? may be repeated");
    flags.add_output("--out FILE.onnx", question_.out,
                     "write the network with score and alarm as further outputs",
                     {.product = Product::network});
    flags.add_output("--source FILE.hpp", question_.source,
                     "write score and alarm as C++ that needs the standard library alone");
    gates_.declare(flags);
  }

  report::Document run(Context& context) override {
    question_.options.score = monitor::parse_score(score_);
    const monitor::Score score = question_.options.score;
    if (score != monitor::Score::dsa)
      refuse_without_effect({references_}, of_flags("without --score dsa: other scores keep no records"));
    if (score != monitor::Score::mdsa && score != monitor::Score::dsa)
      refuse_without_effect({layer_, train_.option()},
                            of_flags("without --score mdsa or dsa: other scores learn nothing"));
    const DatasetPtr test = test_.open();
    question_.training = train_.open_if_given();
    question_.calibration = calibration_.open_if_given();
    for (const std::string& spec : foreign_) question_.foreign.emplace_back(spec, open_dataset(spec));
    const Session session = model_.open(context, test.get());
    question_.form = model_.form();
    question_.conditions = gates_.conditions();
    return answers::make_monitor(session, test, question_, setting_of(context), context.progress);
  }

 private:
  ModelInput model_;
  DataInput test_{"test", "records like those in operation, on which false alarms are counted",
                  Concept::test_data};
  DataInput train_{"train", "training records, from which mdsa and dsa learn", Concept::training_data};
  DataInput calibration_{
      "calibration",
      "records like those in operation that set the threshold (default: every second of --test, and "
      "the others count)",
      Concept::data};
  GateOptions gates_;
  std::string score_ = "energy";
  std::vector<std::string> foreign_;
  const CLI::Option *layer_ = nullptr, *references_ = nullptr;
  answers::MonitorQuestion question_;
};

}  // namespace

CommandInfo monitor_command() {
  return {"monitor", "an alarm for records unlike those that a network is for, as a network and as C++",
          "  assay monitor net.onnx test.npz --foreign noise.npz --out monitored.onnx --source monitor.hpp\n"
          "  assay monitor net.onnx test.npz,range=0:1 --score mdsa --train train.npz --false-alarms 0.01 "
          "--attack "
          "'pgd[eps=0.1]' --attack 'noise[sigma=0.3]'\n"
          "  assay monitor net.onnx test.npz --foreign other.npz --fail-under 'detection[of=1]>=0.9'",
          make_command<MonitorCommand>, assure_group};
}

}  // namespace assay::app
