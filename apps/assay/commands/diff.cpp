// assay diff: what one state covers and another does not; two results side by side.

#include <algorithm>

#include <assay/error.h>
#include "apps/assay/command.h"
#include "assay/report/difference.h"
#include "assay/report/document_file.h"
#include "assay/results/testing/comparison.h"

namespace assay::app {
namespace {

class Diff final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::memory});
    flags.add(
        "states FILE", files_,
        "two states written by `assay cover --state`: two test sets on one network, or one on two networks; "
        "or two result documents (.json) of one command");
    examples_flag_ = flags.add("--examples", examples_,
                               "items and neurons listed per criterion and layer, and records per state",
                               CLI::Range(0, 1000000));
  }

  bool plugins_of_folder() const override { return false; }
  report::Document run(Context&) override {
    if (files_.size() != 2) fail(Fault::usage, "two states are compared, {} were named", files_.size());
    const auto are_results =
        std::ranges::count_if(files_, [](const std::string& file) { return file.ends_with(".json"); });
    if (are_results == 1) fail(Fault::usage, "a state and a result are not compared; name two of a kind");
    return are_results == 2 ? difference_of_results() : difference_of_states();
  }

 private:
  report::Document difference_of_results() const {
    refuse_without_effect({examples_flag_}, of_flags("on results: it is for coverage states"));
    report::Document document =
        report::difference_of(report::read_document_file(files_[0]), report::read_document_file(files_[1]));
    document.provenance = {{"first", files_[0]}, {"second", files_[1]}};
    return document;
  }

  report::Document difference_of_states() const {
    const coverage::CoverageState a = coverage::CoverageState::read(files_[0]),
                                  b = coverage::CoverageState::read(files_[1]);
    report::Document document = results::document_of(coverage::compare(a, b, examples_), a, b, examples_);
    document.provenance = {{"first", files_[0]},
                           {"second", files_[1]},
                           {"model_hash_a", a.profile().model_hash},
                           {"model_hash_b", b.profile().model_hash}};
    return document;
  }

  std::vector<std::string> files_;
  std::size_t examples_ = 3;
  const CLI::Option* examples_flag_ = nullptr;
};

}  // namespace

CommandInfo diff_command() {
  return {"diff", "what one coverage state covers and another does not; two results side by side",
          "  assay diff before.cov after.cov\n"
          "  assay diff lenet4.cov lenet5.cov --examples 10 --json diff.json\n"
          "  assay diff last-week.json today.json --html side-by-side.html",
          make_command<Diff>, files_group};
}

}  // namespace assay::app
