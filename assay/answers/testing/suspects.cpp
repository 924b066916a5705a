#include "assay/answers/testing/suspects.h"

#include <set>

#include <assay/error.h>
#include "assay/data/spec.h"
#include "assay/data/views.h"
#include "assay/explore/finding_set.h"
#include "assay/results/testing/suspects.h"

namespace assay::answers {
namespace {

constexpr std::size_t shown_rows = 20;

DatasetPtr opened_findings(const SuspectsQuestion& question) {
  std::vector<DatasetPtr> parts;
  for (const std::string& spec : question.findings) {
    const DatasetPtr findings = open_dataset(spec);
    if (question.between.empty()) {
      parts.push_back(findings);
      continue;
    }
    const auto positions = explore::findings_named(parse_spec(spec).path, *findings,
                                                   classes_named(question.between, *question.training));
    if (!positions.empty()) parts.push_back(selected(findings, positions));
  }
  if (parts.empty()) fail(Fault::data, "the networks name {} for no finding", question.between);
  return joined(std::move(parts));
}

}  // namespace

report::Document find_suspects(const SuspectsQuestion& question, const Setting& setting, Progress& progress) {
  const DatasetPtr &all = question.training,
                   training = question.label.empty() ? all : labelled_as(all, question.label),
                   findings = opened_findings(question);
  const std::set<std::string> truth =
      question.truth.empty() ? std::set<std::string>() : similarity::polluted_ids(*all, question.truth);
  similarity::SuspectOptions options = question.options;
  options.threads = static_cast<std::size_t>(setting.session.threads);
  const similarity::Suspicion suspicion = similarity::find_suspects(findings, training, options, progress);
  const std::vector<std::size_t> order = similarity::rank(suspicion.suspects, question.rank);
  report::Document document =
      results::document_of(suspicion, order, *training, *findings, options, shown_rows);
  if (!question.truth.empty()) results::add_truth(document, *training, order, truth, question.inspected);
  if (!question.out.empty()) similarity::write_suspects(question.out, suspicion, order, *training, *findings);
  document.pictures =
      results::draw_suspects(suspicion, order, *training, *findings, question.pictures, question.folder);
  return document;
}

}  // namespace assay::answers
