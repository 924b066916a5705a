#include "assay/answers/networks/patching.h"

#include "assay/results/document.h"
#include "assay/results/networks/patching.h"
#include "assay/support/files/file.h"

namespace assay::answers {
namespace {

using Figures = std::vector<report::Measurement>;

void append_figures(Figures& all, const Figures& more) { all.insert(all.end(), more.begin(), more.end()); }

// Figures that there will be, of no records yet, for conditions.
Figures expected(const Session& session, const PatchingQuestion& question) {
  Figures all;
  inspection::Ablation heads;
  inspection::Patching sites;
  if (!question.ablate.empty())
    for (const auto& site : inspection::ablation_sites(session))
      heads.heads.push_back({.effect = {.site = site}});
  if (question.corrupted)
    for (const auto& site : inspection::patch_sites(session, question.patching))
      sites.effects.push_back({.site = site});
  append_figures(all, results::measurements_of(heads));
  append_figures(all, results::measurements_of(sites));
  return all;
}

// Adds the figures to those for conditions.
report::Document patched(const Session& session, const DatasetPtr& clean, const PatchingQuestion& question,
                         std::size_t batch, Figures& figures, Progress& progress) {
  inspection::PatchOptions options = question.patching;
  options.batch = batch;
  const inspection::Patching found = inspection::patch(session, clean, question.corrupted, options, progress);
  append_figures(figures, results::measurements_of(found));
  report::Document document = results::document_of(found, options, session.graph(), question.top);
  if (!question.folder.empty()) {
    make_folders(question.folder);
    document.pictures = results::draw_effects(found, question.folder);
  }
  return document;
}

report::Document ablated(const Session& session, const DatasetPtr& data, const PatchingQuestion& question,
                         const Setting& setting, Figures& figures, Progress& progress) {
  inspection::AblationOptions options = question.ablation;
  options.mean = question.ablate == "mean";
  options.batch = setting.batch;
  options.seed = setting.seed;
  const inspection::Ablation found = inspection::ablate(session, data, options, progress);
  append_figures(figures, results::measurements_of(found));
  return results::document_of(found, options, session.graph());
}

}  // namespace

report::Document patching(const Session& session, const DatasetPtr& clean, const PatchingQuestion& question,
                          const Setting& setting, Progress& progress) {
  if (!question.conditions.gates.empty()) report::check(question.conditions, expected(session, question));
  report::check_baseline(question.conditions, session.graph().hash(), clean->hash());
  if (question.corrupted)
    report::check_baseline_set(question.conditions, "set of corrupted records", "corrupted",
                               question.corrupted->hash());
  report::Document document;
  Figures figures;
  add_accuracy(document, question.accuracy, session, clean, setting, progress);
  if (!question.ablate.empty())
    results::append(document, ablated(session, clean, question, setting, figures, progress));
  if (question.corrupted)
    results::append(document, patched(session, clean, question, setting.batch, figures, progress));
  document.tables.push_back(results::figures_for_gates(figures));
  report::apply(question.conditions, document, figures);
  std::vector<std::pair<std::string, DatasetPtr>> datasets{{"data", clean}};
  if (question.corrupted) datasets.emplace_back("corrupted", question.corrupted);
  results::add_provenance(document, session, datasets);
  return document;
}

}  // namespace assay::answers
