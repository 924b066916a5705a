// assay faithful: how far explanations can be believed.

#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "apps/frame/gate_options.h"
#include "assay/answers/networks/faithfulness.h"

namespace assay::app {
namespace {

std::string measure_help() {
  std::string text = "Measures:\n";
  for (const relevance::QualityInfo& info : relevance::qualities()) {
    text += fmt::format("  {:26} {}\n", info.name, info.summary);
    for (const SpecOption& option : info.options)
      text +=
          fmt::format("    {:24} {}\n", fmt::format("[{}={}]", option.name, option.fallback), option.summary);
  }
  return text + "Methods: see `assay importance --help`.\n";
}

class Faithful final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    data_.declare(flags, true);
    flags.add_list("--method SPEC,...", question_.options.methods,
                   "attributions of `assay importance`, with options in brackets, may be repeated");
    flags.add_list("--measure SPEC,...", question_.options.measures,
                   "measures, see below, may be repeated (default: all)");
    check_.declare(flags);
    gates_.declare(flags);
    flags.describe(measure_help());
    seed_ = [flags] { return flags.named({"--seed"}); };
  }

  report::Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    if (!relevance::heeds_seed(question_.options))
      refuse_without_effect(
          seed_(), of_flags("on methods and measures that draw nothing at random, or name their seed"));
    question_.accuracy = check_.declared();
    question_.conditions = gates_.conditions();
    return answers::faithfulness(session, data, question_, setting_of(context), context.progress);
  }

 private:
  ModelInput model_;
  DataInput data_{"data", "records whose decisions are explained", Concept::test_data};
  AccuracyCheck check_;
  GateOptions gates_;
  std::function<std::vector<const CLI::Option*>()> seed_;  // declared after the command's own flags
  answers::FaithfulnessQuestion question_;
};

}  // namespace

CommandInfo faithful_command() {
  return {"faithful", "how far explanations can be believed: deletion and insertion, sensitivity, infidelity",
          "  assay faithful net.onnx 'test.npz[:100]' --method epsilon --method ig --method smoothgrad\n"
          "  assay faithful net.onnx test.npz --measure deletion --measure 'infidelity[samples=200]' "
          "--fail-under 'deletion[method=epsilon]<=0.2'",
          make_command<Faithful>, assure_group};
}

}  // namespace assay::app
