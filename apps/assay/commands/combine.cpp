// assay combine: states of several runs as one.

#include <assay/error.h>
#include "apps/assay/command.h"
#include "assay/answers/testing/combination.h"

namespace assay::app {
namespace {

class Combine final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::memory});
    flags.add("states FILE", question_.files,
              "states written by `assay cover`, `assay mutate` or `assay inspect` with --state");
    flags.add_output("--out FILE", question_.out, "where the combined state goes");
    quality_ = flags.add("--quality", question_.score.quality,
                         "of mutants: leave out those that misclassify more than this share of T'",
                         CLI::Range(0.0, 1.0));
    gates_.declare(flags);
    flags.add("--skip-unreadable", question_.skip_unreadable,
              "combine what can be read and name the rest, instead of stopping");
  }

  bool plugins_of_folder() const override { return false; }
  report::Document run(Context& context) override {
    if (question_.files.empty())
      refuse(
          "which states? name files that `assay cover`, `assay mutate` or `assay inspect` wrote with "
          "--state FILE");
    if (quality_->count() > 0 && answers::are_of_others(question_.files))
      refuse_without_effect({quality_}, of_flags("on these states: it is for those of mutants"));
    question_.conditions = gates_.conditions();
    return answers::combine(question_, context.progress);
  }

 private:
  const CLI::Option* quality_ = nullptr;
  GateOptions gates_;
  answers::CombinationQuestion question_;
};

}  // namespace

CommandInfo combine_command() {
  return {"combine",
          "several states as one: of coverage, mutants or inspections, from machines, days or contexts",
          "  assay combine shard-*.cov --out all.cov\n"
          "  assay combine shard-*.mut --fail-under mutation=0.7\n"
          "  assay combine day.cov night.cov --json both.json",
          make_command<Combine>, files_group};
}

}  // namespace assay::app
