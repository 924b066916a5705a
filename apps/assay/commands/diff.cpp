// assay diff: what one state covers and another does not.

#include <assay/error.h>
#include "apps/assay/commands/catalogue.h"
#include "assay/results/testing/comparison.h"

namespace assay::app {
namespace {

class Diff final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.add(
        "states FILE", files_,
        "two states written by `assay cover --state`: two test sets on one network, or one on two networks");
    flags.add("--examples", examples_,
              "items and neurons listed per criterion and layer, and records per state",
              CLI::Range(0, 1000000));
  }

  bool plugins_of_folder() const override { return false; }
  report::Document run(Context&) override {
    if (files_.size() != 2) fail(Fault::usage, "two states are compared, {} were named", files_.size());
    const coverage::CoverageState a = coverage::CoverageState::read(files_[0]),
                                  b = coverage::CoverageState::read(files_[1]);
    report::Document document = results::document_of(coverage::compare(a, b, examples_), a, b, examples_);
    document.provenance = {{"first", files_[0]},
                           {"second", files_[1]},
                           {"model_hash_a", a.profile().model_hash},
                           {"model_hash_b", b.profile().model_hash}};
    return document;
  }

 private:
  std::vector<std::string> files_;
  std::size_t examples_ = 3;
};

}  // namespace

CommandInfo diff_command() {
  return {"diff", "what one coverage state covers and another does not, down to neurons and records",
          "  assay diff before.cov after.cov\n"
          "  assay diff lenet4.cov lenet5.cov --examples 10 --json diff.json",
          make_command<Diff>, files_group};
}

}  // namespace assay::app
