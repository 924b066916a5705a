#include "assay/answers/testing/combination.h"

#include <algorithm>

#include "assay/coverage/settings.h"
#include "assay/inspection/state.h"
#include "assay/results/document.h"
#include "assay/results/networks/inspection.h"
#include "assay/results/testing/coverage.h"
#include "assay/results/testing/mutation.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/merge_files.h"
#include "assay/support/text/so_many.h"

namespace assay::answers {
namespace {

// Kind of the state in a file; empty when it cannot be read.
std::string schema_of(const std::string& file) {
  try {
    return read_binary(file).value("schema", "");
  } catch (const std::exception&) {
    pass_on_condition();
    return {};
  }
}

bool has_schema(const std::vector<std::string>& files, std::string_view schema) {
  return std::ranges::any_of(files, [&](const std::string& file) { return schema_of(file) == schema; });
}

bool are_of_mutants(const std::vector<std::string>& files) { return has_schema(files, "assay/mutation"); }

template <typename State>
struct Combined {
  State state;
  std::size_t read = 0;  // of the files
};

template <typename State>
Combined<State> combined(const CombinationQuestion& question, Progress& progress,
                         report::Document& document) {
  std::vector<std::string> unreadable;
  State state = merged_files<State>(question.files, question.skip_unreadable, unreadable, progress);
  const std::size_t read = question.files.size() - unreadable.size();
  for (std::string& text : unreadable)
    document.warnings.push_back(
        {"unreadable", std::move(text),
         "figures are of the other states alone; write this one again, or get a complete copy of it"});
  if (!question.out.empty()) state.write(question.out);
  return {std::move(state), read};
}

void combine_mutants(const CombinationQuestion& question, Progress& progress, report::Document& document) {
  mutation::MutationState state = combined<mutation::MutationState>(question, progress, document).state;
  state.sort();
  const std::string records = results::records_hash(state);
  report::check_baseline(question.conditions, state.model_hash(), "");
  report::check_baseline_records(question.conditions, records, false);
  const mutation::MutationScore result = mutation::score(state, question.score);
  results::append(document, results::document_of(state, result, question.score));
  document.notices.push_back(
      message("mutants that misclassify more than {} of T' are left out, whatever the runs left out; {}",
              report::percent(question.score.quality),
              About{"another share may be said", "{quality} says another share"}));
  report::apply(question.conditions, document, results::measurements_of(state, result));
  document.provenance = {
      {"model", state.model()}, {"model_hash", state.model_hash()}, {"records_hash", records}};
}

void combine_inspections(const CombinationQuestion& question, Progress& progress,
                         report::Document& document) {
  report::check_no_figures(question.conditions, "states of inspections hold scores of units and no coverage");
  const auto [state, read] = combined<inspection::InspectionState>(question, progress, document);
  inspection::InspectOptions options;
  options.stop_early = false;
  results::append(document,
                  results::document_of(state.result(), fmt::format("{} states", read), options, {}));
  report::apply(question.conditions, document, {});
}

void combine_coverage(const CombinationQuestion& question, Progress& progress, report::Document& document) {
  const auto [state, read] = combined<coverage::CoverageState>(question, progress, document);
  const coverage::Profile& profile = state.profile();
  report::check_baseline(question.conditions, profile.model_hash, results::records_hash(state));
  report::check_baseline_profile(question.conditions, profile.data_hash,
                                 profile.settings.empty() ? "" : coverage::text_of(profile.settings));
  const std::vector<report::Measurement> measured = results::measurements_of(state);
  report::check(question.conditions, measured);
  results::append(document,
                  results::combined_document_of(state, fmt::format("{}, {}", so_many(read, "state"),
                                                                   so_many(state.records(), "record"))));
  report::apply(question.conditions, document, measured);
}

}  // namespace

bool are_of_others(const std::vector<std::string>& files) {
  return !are_of_mutants(files) &&
         std::ranges::any_of(files, [](const std::string& file) { return !schema_of(file).empty(); });
}

report::Document combine(const CombinationQuestion& question, Progress& progress) {
  report::Document document;
  report::check(question.conditions, std::vector<std::string>());
  if (are_of_mutants(question.files))
    combine_mutants(question, progress, document);
  else if (has_schema(question.files, "assay/inspection"))
    combine_inspections(question, progress, document);
  else
    combine_coverage(question, progress, document);
  return document;
}

}  // namespace assay::answers
