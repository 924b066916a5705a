#include "assay/answers/networks/inspection.h"

#include <utility>

#include <assay/error.h>
#include "assay/answers/networks/network.h"
#include "assay/answers/tokenizer.h"
#include "assay/inspection/requested_hypotheses.h"
#include "assay/inspection/units/close_up.h"
#include "assay/report/document_file.h"
#include "assay/results/document.h"
#include "assay/results/networks/chosen_units.h"
#include "assay/results/networks/text_map.h"
#include "assay/results/warnings.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"
#include "assay/support/files/input_file.h"
#include "assay/support/files/journal.h"
#include "assay/support/text/text.h"
#include "assay/workbench/query/named_text.h"

namespace assay::answers {
namespace {

using inspection::AlignOptions;
using inspection::UnitBehaviour;

constexpr std::uint64_t largest_query = std::uint64_t{16} << 20;  // bytes of a file of SQL

UnitBehaviour behaviour_of(const InspectionQuestion& question) {
  return question.behaviour == "change"     ? UnitBehaviour::change
         : question.behaviour == "gradient" ? UnitBehaviour::gradient
                                            : UnitBehaviour::activation;
}

AlignOptions alignment_of(const InspectionQuestion& question) {
  AlignOptions align;
  align.rows = question.align == "units"    ? AlignOptions::Rows::units
               : question.align == "record" ? AlignOptions::Rows::record
                                            : AlignOptions::Rows::hypothesis;
  align.reduce = question.reduce == "mean"   ? AlignOptions::Reduce::mean
                 : question.reduce == "max"  ? AlignOptions::Reduce::max
                 : question.reduce == "last" ? AlignOptions::Reduce::last
                                             : AlignOptions::Reduce::automatic;
  return align;
}

std::vector<inspection::InspectedModel> opened_models(const InspectionQuestion& question,
                                                      const Setting& setting, Progress& progress) {
  std::vector<inspection::InspectedModel> models;
  for (const std::string& text : question.models) {
    const workbench::NamedModel model = workbench::parse_model(text);
    const Graph graph = read_network(model.file, progress);
    const Dataset* data = question.data.get();
    const AdaptOptions adaptation = adapt_options_of(question.adaptation, model.file);
    AdaptedNetwork network = adapted(graph, adaptation, data, progress);
    const auto session =
        std::make_shared<const Session>(session_of(network, setting.session_for(data), data, progress));
    tell_rounding(graph, *session, adaptation, data, progress);
    models.push_back({model.name, session});
  }
  return models;
}

// Whether those of some network change each other's results: they are read one at a time then.
bool records_interact(const std::vector<inspection::InspectedModel>& models, const Dataset& data) {
  return std::ranges::any_of(
      models, [&](const auto& model) { return !results::influence_warnings(*model.session, &data).empty(); });
}

std::vector<inspection::UnitGroup> chosen_groups(const InspectionQuestion& question,
                                                 const std::vector<inspection::InspectedModel>& models) {
  std::vector<inspection::UnitGroup> groups;
  for (const std::string& text : question.units) {
    for (inspection::UnitGroup& group : results::parse_units(text, models))
      groups.push_back(std::move(group));
  }
  if (question.units.empty()) groups = results::usual_groups(models);
  for (std::size_t m = 0; m < models.size() && !question.units.empty(); ++m) {
    std::vector<std::string> layers;
    for (const inspection::UnitGroup& group : groups)
      if (group.model == m) layers.push_back(group.layer);
    require_views_count(*models[m].session, question.adaptation, layers);
  }
  for (inspection::UnitGroup& group : groups) group.behaviour = behaviour_of(question);
  return groups;
}

// What tokens mean is known where texts became tokens here, or from the folder of the network.
void take_vocabulary(InspectionQuestion& question) {
  if (question.vocabulary.empty() && question.data && results::is_text(*question.data) &&
      !question.models.empty())
    question.vocabulary = tokenizer_for(question.data_spec, workbench::parse_model(question.models[0]).file);
  if (!question.vocabulary.empty())
    question.options.vocabulary = inspection::read_vocabulary(question.vocabulary, question.padding);
  else if (!question.padding.empty())
    fail(Fault::usage, "{} is a symbol of a vocabulary; give {}", About{"what fills records up", "{padding}"},
         About{"a vocabulary", "{vocabulary=FILE}"});
}

// Completes the options.
void settle(InspectionQuestion& question, const Setting& setting) {
  inspection::InspectOptions& options = question.options;
  options.measures.clear();
  for (const std::string& spec : split_specs(question.measures))
    options.measures.push_back(inspection::measure_choice(spec));
  take_vocabulary(question);
  options.align = alignment_of(question);
  options.seed = question.verification.seed = setting.seed;
  options.batch = setting.batch;
  options.keep_curve = setting.detailed;
  options.state = question.state;
  if (!question.state.empty()) options.journal = question.state + ".journal";
}

// Of all that scores depend on.
std::string key_of(const InspectionQuestion& question, const std::vector<inspection::InspectedModel>& models,
                   const std::vector<inspection::AnnotatorChoice>& hypotheses) {
  Hasher hash;
  for (const auto& model : models) hash.text(model.name).text(model.session->graph().hash());
  hash.text(question.data->hash()).text(joined(question.units, "\n"));
  for (const auto& choice : hypotheses) {
    const auto annotator = inspection::make_annotator(choice, question.data, models[0].session->options());
    hash.text(choice.spec().text()).text(annotator->version());
  }
  const inspection::InspectOptions& options = question.options;
  for (const std::string& text :
       {question.behaviour, question.measures, question.vocabulary, question.padding, question.align,
        question.reduce, question.shard, options.documents})
    hash.text(text);
  hash.text(fmt::format("{} {} {} {} {} {} {}", options.stop_early, options.tolerance, options.block,
                        options.permutations, options.bootstrap, options.confidence, options.seed));
  return hash.hex();
}

void fill(workbench::Workbench& workbench, const InspectionQuestion& question,
          const std::vector<inspection::InspectedModel>& models,
          const std::vector<inspection::AnnotatorChoice>& hypotheses) {
  workbench.set_options(question.options, behaviour_of(question));
  for (std::size_t m = 0; m < models.size(); ++m) {
    const workbench::NamedModel text = workbench::parse_model(question.models[m]);
    workbench.add_model({text.name, models[m].session, text.file, text.attributes});
  }
  if (question.data) workbench.add_records(question.data_spec, question.data);
  workbench.add_hypotheses(hypotheses);
}

// The answer to the question, or where there is none which relations documents went into.
report::Document answer_of(workbench::Workbench& workbench, const DatabaseQuestion& question,
                           Progress& progress) {
  std::vector<std::string> relations;
  for (const std::string& text : question.documents) {
    const auto [name, file] = workbench::named_file(text);
    for (std::string& relation : workbench.add_document(name, report::read_document_file(file)))
      relations.push_back(std::move(relation));
  }
  const std::string sql =
      question.sql_file.empty() ? question.sql : read_stream(question.sql_file, largest_query);
  if (!sql.empty()) return workbench.ask(sql, progress, question.seconds);
  report::Document document = workbench.ask(
      "SELECT relation, document, title, rows FROM document_tables ORDER BY relation, document", progress);
  const std::size_t count = question.documents.size();
  document.headline = fmt::format("{} {} in the database: {}", count,
                                  count == 1 ? "document is" : "documents are", joined(relations));
  return document;
}

void add_models(report::Document& document, const std::vector<inspection::InspectedModel>& models,
                const Dataset& data) {
  for (const auto& model : models) {
    const std::string which = models.size() == 1 ? "" : " " + model.name;
    results::add_warnings(document, results::influence_warnings(*model.session, &data));
    results::add_network_notices(document, *model.session);
    document.provenance.emplace_back("model" + which, model.session->graph().name());
    document.provenance.emplace_back("model_hash" + which, model.session->graph().hash());
  }
}

}  // namespace

report::Document inspect(InspectionQuestion question, const Setting& setting, Progress& progress) {
  const std::vector<inspection::InspectedModel> models = opened_models(question, setting, progress);
  const std::vector<inspection::UnitGroup> groups = chosen_groups(question, models);
  settle(question, setting);
  inspection::InspectOptions& options = question.options;
  if (setting.batch == 0 && records_interact(models, *question.data)) options.batch = 1;
  const DatasetPtr& data = question.data;
  const std::vector<inspection::AnnotatorChoice> hypotheses =
      inspection::annotator_choices(question.hypotheses);
  const std::string& database = question.database.file;
  std::string key;
  if (!database.empty()) {
    key = key_of(question, models, hypotheses);
    if (options.journal.empty()) options.journal = fmt::format("{}.{}.journal", database, key.substr(0, 8));
  }
  const inspection::Inspection seen =
      inspection::inspect(models, groups, data, hypotheses, options, progress);
  if (!database.empty()) {
    workbench::Workbench workbench(database);
    fill(workbench, question, models, hypotheses);
    workbench.keep(seen, groups, key);
  }
  if (!options.journal.empty()) Journal::remove(options.journal);
  if (!question.scores.empty()) write_file(question.scores, report::to_csv(results::scores_table(seen)));
  std::vector<std::string> names;
  for (const auto& model : models) names.push_back(model.name);
  report::Document document = results::document_of(seen, joined(names), options, question.detail);
  if (question.verified > 0) {
    const auto claims =
        results::strongest_claims(seen, models, groups, question.verified, question.detail.top);
    results::append(document,
                    results::document_of(inspection::verify(models, groups, data, hypotheses, options, claims,
                                                            question.verification, progress),
                                         groups));
  }
  if (setting.detailed) {
    constexpr std::size_t claims = 8, sample = 256, records = 3;
    const auto close =
        inspection::close_ups(models, groups, data, hypotheses, options,
                              results::strongest_claims(seen, models, groups, claims, 1), sample, records);
    document.tables.push_back(results::close_up_table(close, *data));
  }
  add_models(document, models, *data);
  results::add_provenance(document, "data", *data);
  return document;
}

report::Document ask_database(InspectionQuestion question, const Setting& setting, Progress& progress) {
  settle(question, setting);
  workbench::Workbench workbench(question.database.file);
  const std::vector<inspection::InspectedModel> models = opened_models(question, setting, progress);
  fill(workbench, question, models, inspection::annotator_choices(question.hypotheses));
  report::Document document = answer_of(workbench, question.database, progress);
  for (const auto& model : models) {
    results::add_warnings(document, results::influence_warnings(*model.session, question.data.get()));
    results::add_network_notices(document, *model.session);
    document.provenance.emplace_back("model_hash " + model.name, model.session->graph().hash());
  }
  if (question.data) results::add_provenance(document, "data", *question.data);
  return document;
}

}  // namespace assay::answers
