// assay history: figures of results over weeks.

#include <fmt/format.h>

#include <algorithm>

#include <assay/error.h>
#include "apps/assay/command.h"
#include "assay/report/document_file.h"
#include "assay/report/history.h"
#include "assay/support/files/file.h"

namespace assay::app {
namespace {

class History final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::memory});
    action_flag_ = flags.of_the_program().add("action", action_, "before results: add them to the history",
                                              CLI::IsMember({"add"}));
    flags.skip_other_words();
    flags.naming(Concept::document)
        .add("results FILE.json", files_,
             "result documents written with --json, to be added; none: only show");
    flags.add_output("--history FILE", history_, "the history, a line for each result",
                     {.when = [this] { return !files_.empty(); }, .goes_on = [] { return true; }});
    flags.add_output("--badge FILE.svg", badge_, "picture with the last value of a figure");
    figure_flag_ = flags.add("--figure NAME", figure_, "figure of the badge (default: the first)");
  }

  // Functions of other languages name results without a word before them.
  void typed() override {
    if (action_.empty() && !files_.empty())
      fail(Fault::usage, "'{}': results are added by `assay history add {}`", files_[0],
           fmt::join(files_, " "));
  }

  bool plugins_of_folder() const override { return false; }
  report::Document run(Context& context) override {
    if (files_.empty() && !action_.empty())
      fail(Fault::usage, "add: no result is named; name files that commands wrote with --json");
    if (!files_.empty()) context.effective[frame::name_of(*action_flag_)] = {"add"};
    if (badge_.empty()) refuse_without_effect({figure_flag_}, of_flags("without --badge"));
    std::vector<report::HistoryEntry> entries = report::read_history(history_);
    std::size_t added = 0;
    for (const std::string& file : files_)
      added += report::add_entry(entries, report::entry_of(report::read_document_file(file), file)) ? 1 : 0;
    const std::string badge = badge_.empty() ? std::string() : report::badge_of(chosen(entries));
    if (added > 0) report::write_history(history_, entries);
    if (!badge_.empty()) write_file(badge_, badge);
    return report::document_of(entries, added);
  }

 private:
  report::Series chosen(const std::vector<report::HistoryEntry>& entries) const {
    const std::vector<report::Series> all = report::series_of(entries);
    if (all.empty()) refuse("--badge: the history is empty; name results that commands wrote with --json");
    if (figure_.empty()) return all.front();
    std::vector<std::string> names;
    for (const report::Series& series : all) {
      if (series.figure == figure_) return series;
      names.push_back(series.figure);
    }
    fail_unknown({"figure of the history"}, figure_, names);
  }

  std::vector<std::string> files_;
  std::string action_, history_ = "assay-history.jsonl", badge_, figure_;
  const CLI::Option *action_flag_ = nullptr, *figure_flag_ = nullptr;
};

}  // namespace

CommandInfo history_command() {
  return {
      "history", "figures of results over weeks: trends, what became worse, a badge",
      "  assay history add result.json\n"
      "  assay history add cover.json mutate.json --history nightly.jsonl --html trend.html --badge idc.svg "
      "--figure 'idc[m=6]'",
      make_command<History>, files_group};
}

}  // namespace assay::app
