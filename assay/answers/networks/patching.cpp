#include "assay/answers/networks/patching.h"

#include "assay/results/document.h"
#include "assay/results/networks/patching.h"
#include "assay/support/files/file.h"

namespace assay::answers {
namespace {

report::Document patched(const Session& session, const DatasetPtr& clean, const PatchingQuestion& question,
                         std::size_t batch, Progress& progress) {
  inspection::PatchOptions options = question.patching;
  options.batch = batch;
  const inspection::Patching found = inspection::patch(session, clean, question.corrupted, options, progress);
  report::Document document = results::document_of(found, options, session.graph(), question.top);
  if (!question.folder.empty()) {
    make_folders(question.folder);
    document.pictures = results::draw_effects(found, question.folder);
  }
  return document;
}

report::Document ablated(const Session& session, const DatasetPtr& data, const PatchingQuestion& question,
                         const Setting& setting, Progress& progress) {
  inspection::AblationOptions options = question.ablation;
  options.mean = question.ablate == "mean";
  options.batch = setting.batch;
  options.seed = setting.seed;
  return results::document_of(inspection::ablate(session, data, options, progress), options, session.graph());
}

}  // namespace

report::Document patching(const Session& session, const DatasetPtr& clean, const PatchingQuestion& question,
                          const Setting& setting, Progress& progress) {
  report::Document document;
  add_accuracy(document, question.accuracy, session, clean, setting, progress);
  if (!question.ablate.empty())
    results::append(document, ablated(session, clean, question, setting, progress));
  if (question.corrupted)
    results::append(document, patched(session, clean, question, setting.batch, progress));
  std::vector<std::pair<std::string, DatasetPtr>> datasets{{"clean", clean}};
  if (question.corrupted) datasets.emplace_back("corrupted", question.corrupted);
  results::add_provenance(document, session.graph(), datasets);
  return document;
}

}  // namespace assay::answers
