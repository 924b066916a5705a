// assay combine: states of several runs as one.

#include <fmt/format.h>

#include <algorithm>

#include <assay/error.h>
#include "apps/assay/commands/catalogue.h"
#include "assay/coverage/settings.h"
#include "assay/inspection/state.h"
#include "assay/results/document.h"
#include "assay/results/networks/inspection.h"
#include "assay/results/testing/coverage.h"
#include "assay/results/testing/mutation.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/merge_files.h"

namespace assay::app {
namespace {

class Combine final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.add("states FILE", files_,
              "states written by `assay cover`, `assay mutate` or `assay inspect` with --state");
    flags.add("--out FILE", out_, "where the combined state goes");
    flags.add("--quality", score_.quality,
              "of mutants: leave out those that get more than this share of T' wrong", CLI::Range(0.0, 1.0));
    gates_.declare(flags);
    flags.add("--skip-unreadable", skip_, "combine what can be read and name what cannot, rather than stop");
  }

  std::vector<Output> outputs() const override { return {{"--out", out_}}; }

  report::Document run(Context& context) override {
    if (files_.empty())
      fail(Fault::usage,
           "which states? name files that `assay cover`, `assay mutate` or `assay inspect` wrote with "
           "--state FILE");
    gates_.check();
    report::Document document;
    if (has_schema("assay/mutation")) {
      mutation::MutationState state = combined<mutation::MutationState>(context, document);
      state.sort();
      gates_.check_baseline(state.model_hash(), "");
      gates_.check_baseline_records(results::records_hash(state), false);
      const mutation::MutationScore result = mutation::score(state, score_);
      results::append(document, results::document_of(state, result, score_));
      document.notices.push_back(
          fmt::format("mutants that get more than {} of T' wrong are left out, whatever the runs left out; "
                      "--quality says another share",
                      report::percent(score_.quality)));
      gates_.apply(document, results::measurements_of(state, result));
      document.provenance = {{"model", state.model()},
                             {"model_hash", state.model_hash()},
                             {"records_hash", results::records_hash(state)}};
    } else if (has_schema("assay/inspection")) {
      gates_.check_no_figures("states of inspections hold scores of units and no coverage");
      const auto state = combined<inspection::InspectionState>(context, document);
      const inspection::Inspection seen = state.result();
      inspection::InspectOptions options;
      options.stop_early = false;
      results::append(document, results::document_of(seen, fmt::format("{} states", read_), options, {}));
      gates_.apply(document, {});
    } else {
      const auto state = combined<coverage::CoverageState>(context, document);
      const coverage::Profile& profile = state.profile();
      gates_.check_baseline(profile.model_hash, results::records_hash(state));
      gates_.check_baseline_profile(profile.data_hash,
                                    profile.settings.empty() ? "" : coverage::text_of(profile.settings));
      gates_.check(results::measurements_of(state));
      const std::string subject = fmt::format("{} states, {} records", read_, state.records());
      results::append(document, results::combined_document_of(state, subject));
      gates_.apply(document, results::measurements_of(state));
    }
    return document;
  }

 private:
  // What kind of state a file holds; empty when it cannot be read.
  static std::string schema_of(const std::string& file) {
    try {
      return read_binary(file).value("schema", "");
    } catch (const std::exception&) {
      return {};
    }
  }

  bool has_schema(std::string_view schema) const {
    return std::ranges::any_of(files_, [&](const std::string& file) { return schema_of(file) == schema; });
  }

  template <typename State>
  State combined(Context& context, report::Document& document) {
    std::vector<std::string> unreadable;
    State all = merged_files<State>(files_, skip_, unreadable, context.progress);
    read_ = files_.size() - unreadable.size();
    for (std::string& text : unreadable)
      document.warnings.push_back(
          {"unreadable", std::move(text),
           "figures are of the other states alone; write this one again, or get a whole copy of it"});
    if (!out_.empty()) all.write(out_);
    return all;
  }

  std::vector<std::string> files_;
  std::size_t read_ = 0;  // of these
  std::string out_;
  GateOptions gates_;
  mutation::ScoreOptions score_;
  bool skip_ = false;
};

}  // namespace

CommandInfo combine_command() {
  return {"combine",
          "states of coverage, mutants or inspections from several machines, days or contexts as one",
          "  assay combine shard-*.cov --out all.cov\n"
          "  assay combine shard-*.mut --fail-under mutation=0.7\n"
          "  assay combine day.cov night.cov --json both.json",
          make_command<Combine>};
}

}  // namespace assay::app
