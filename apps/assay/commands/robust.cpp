// assay robust: accuracy of a network while attacks and corruptions grow.

#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "apps/frame/gate_options.h"
#include "assay/answers/testing/robustness.h"

namespace assay::app {
namespace {

class Robust final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    data_.declare(flags, true);
    flags.add_list(
        "--along SPEC,...", question_.along,
        "attack or corruption with one option as a range FROM:TO:STEP, such as "
        "pgd[eps=0:0.3:0.02], or as a list, noise[sigma=0/0.1/0.3]; may be repeated (`assay attacks` "
        "lists all)");
    flags.add("--independent", question_.options.independent,
              "along the radius of an attack (eps), attack each radius anew; otherwise a record that fell is "
              "also down at every greater radius and is not attacked there");
    flags.add("--levels", question_.options.levels,
              "judge records as 8-bit levels of the valid range, as pictures have them");
    flags.add_output(
        "--journal FILE", journal_,
        "keep finished records in FILE, from which the same command goes on after an interruption; "
        "removed at the end",
        {.instead = [this] {
          return std::vector<Output>{{"--journal", journal_, Output::Kind::journal}};
        }});
    margin_ =
        flags.add("--margin", question_.options.margin,
                  "regression: an output that moves by more than this away from its target is no longer "
                  "right; of records with many items: this share of them, decided otherwise",
                  CLI::NonNegativeNumber);
    model_.declare_task(flags, question_.task);
    check_.declare(flags);
    gates_.declare(flags);
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    if (question_.along.empty())
      refuse(
          "along what? give --along 'NAME[option=FROM:TO:STEP]', such as 'pgd[eps=0:0.3:0.02]'; `assay "
          "attacks` "
          "lists names and options");
    const DatasetPtr data = data_.open();
    if (data->target_width() == 0)
      refuse_without_effect(
          {margin_},
          of_flags("on classes: it is for regression and tasks of many items (targets= of --data)"));
    const Session session = model_.open(context, data.get());
    question_.options.journal = journal_;
    question_.accuracy = check_.declared();
    question_.conditions = gates_.conditions();
    return answers::robustness(session, data, question_, setting_of(context), context.progress);
  }

 private:
  ModelInput model_;
  DataInput data_{
      "data",
      "records to change; a valid range must be known (8-bit images know theirs, others say range=0:1)",
      Concept::test_data};
  AccuracyCheck check_;
  GateOptions gates_;
  const CLI::Option* margin_ = nullptr;
  std::string journal_;
  answers::RobustnessQuestion question_;
};

}  // namespace

CommandInfo robust_command() {
  return {
      "robust",
      "accuracy while attacks and corruptions grow: drop curves with area, half-drop and worst step",
      "  assay robust net.onnx test.npz,range=0:1 --along 'pgd[eps=0:0.3:0.02]' --along "
      "'noise[sigma=0:0.5:0.1]'\n"
      "  assay robust lenet5.onnx t10k-images-idx3-ubyte.gz --along 'rotation[amount=0:60:5]' --fail-under "
      "'area[along=rotation]=0.7' --fail-under 'accuracy[along=rotation,severity=10]=0.95'\n"
      "  assay robust net.onnx test.npz,range=0:1 --along 'apgd[eps=0/0.01/0.03/0.1]' --independent",
      make_command<Robust>,
      break_group,
      true};
}

}  // namespace assay::app
