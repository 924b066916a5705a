#include <assay/evaluate.h>

#include <assay/array_math.h>

#include <ostream>

#include <assay/error.h>
#include "assay/data/files/csv.h"
#include "assay/data/files/numpy.h"
#include "assay/data/given.h"
#include "assay/engine/elements.h"
#include "assay/engine/evaluation/decision.h"
#include "assay/engine/evaluation/evaluation_json.h"
#include "assay/engine/evaluation/evaluator.h"
#include "assay/engine/evaluation/output_collector.h"
#include "assay/engine/evaluation/output_rows.h"
#include "assay/engine/shared_walk.h"
#include "assay/support/files/file.h"
#include "assay/support/text/visible.h"

namespace assay::inline engine {
namespace {

void write_prediction_table(const std::filesystem::path& path, const Predictions& all) {
  constexpr std::size_t most_columns = 1000;
  const std::size_t records = all.ids.size();
  const std::size_t width = static_cast<std::size_t>(all.outputs.count()) / records,
                    targets = static_cast<std::size_t>(all.targets.count()) / records;
  if (width > most_columns)
    fail(Fault::usage, "{}: {} numbers for each record do not fit a table; write them as .npz", path.string(),
         width);
  write_file(path, [&](std::ostream& out) {
    out << "id" << (all.labels.empty() ? "" : ",label")
        << (all.evaluation.predictions.empty() ? "" : ",predicted");
    for (std::size_t k = 0; k < targets; ++k) out << fmt::format(",target_{}", k);
    for (std::size_t k = 0; k < width; ++k) out << fmt::format(",output_{}", k);
    out << '\n';
    for (std::size_t i = 0; i < records; ++i) {
      out << csv_field(all.ids[i]);
      if (!all.labels.empty()) out << ',' << all.labels[i];
      if (!all.evaluation.predictions.empty()) out << ',' << all.evaluation.predictions[i];
      for (std::size_t k = 0; k < targets; ++k)
        out << fmt::format(",{}", all.targets.as<float>()[i * targets + k]);
      for (std::size_t k = 0; k < width; ++k)
        out << fmt::format(",{}", all.outputs.as<float>()[i * width + k]);
      out << '\n';
    }
  });
}

// Says which outputs are not finite; nothing is compared.
Evaluation walk_for_outputs(const Session& session, const DatasetPtr& dataset, const WalkOptions& options,
                            Progress& progress, OutputCollector& outputs) {
  Evaluator evaluator(session, *dataset);
  const ValueId output = outputs.output();
  walk_together<OutputCollector::Said>(
      session, dataset, options, progress,
      [&](const Batch& batch, const Tensors& given) {
        return outputs.ask(batch, session.run(given, std::span(&output, 1)).at(output));
      },
      [&](const OutputCollector::Said& said) {
        const Array rows = Array::of<float>(said.output_shape, said.outputs);
        evaluator.add({said.indices, finite_rows(rows, said.indices.size()), {}, {}, {}});
        outputs.add(said);
      });
  Evaluation evaluation = evaluator.result();
  broadcast(evaluation);
  return evaluation;
}

}  // namespace

OutputCollector::OutputCollector(const Session& session, DatasetPtr dataset)
    : session_(session),
      dataset_(std::move(dataset)),
      output_(deciding_output(session.graph(), session.logits())),
      has_targets_(given_data(dataset_)->target_width() > 0) {}

OutputCollector::Said OutputCollector::ask(const Batch& batch, const Array& value) const {
  const Array rows = rows_of_output(session_, output_, value, std::ssize(batch.indices));
  Said said{batch.indices, batch.labels, floats_of(rows), {}, rows.shape(), {}};
  if (has_targets_) said.targets = floats_of(batch.targets), said.target_shape = batch.targets.shape();
  return said;
}

void OutputCollector::add(const Said& said) {
  for (const std::size_t i : said.indices) ids_.push_back(dataset_->id(i));
  labels_.insert(labels_.end(), said.labels.begin(), said.labels.end());
  outputs_.push_back(Array::of<float>(said.output_shape, said.outputs));
  if (has_targets_) targets_.push_back(Array::of<float>(said.target_shape, said.targets));
}

Predictions OutputCollector::result(Evaluation evaluation) const {
  Predictions all;
  all.evaluation = std::move(evaluation);
  if (!ranks().first()) return all;
  all.ids = ids_;
  all.labels = labels_;
  all.outputs = array::cat(outputs_);
  if (has_targets_) all.targets = array::cat(targets_);
  return all;
}

void to_json(nlohmann::json& json, const OutputCollector::Said& said) {
  json = {said.indices,      to_binary(said.labels), to_binary(said.outputs), to_binary(said.targets),
          said.output_shape, said.target_shape};
}

void from_json(const nlohmann::json& json, OutputCollector::Said& said) {
  said = {json.at(0).get<std::vector<std::size_t>>(),
          from_binary<std::int64_t>(json.at(1)),
          from_binary<float>(json.at(2)),
          from_binary<float>(json.at(3)),
          json.at(4).get<Shape>(),
          json.at(5).get<Shape>()};
}

PredictedEvaluation evaluate_and_predict(const Session& session, const DatasetPtr& dataset,
                                         const std::vector<std::vector<std::size_t>>& parts,
                                         const WalkOptions& options, Progress& progress) {
  OutputCollector outputs(session, dataset);
  const bool labelled = dataset->has_labels() || given_data(dataset)->target_width() > 0;
  PredictedEvaluation all;
  if (labelled || class_count(session) > 0) {
    all.found = evaluate_parts(session, dataset, parts, options, progress, outputs);
  } else {
    all.found.whole = walk_for_outputs(session, dataset, options, progress, outputs);
    all.found.parts.resize(parts.size());
  }
  all.predictions = outputs.result(all.found.whole);
  return all;
}

Predictions predict(const Session& session, DatasetPtr dataset, const WalkOptions& options,
                    Progress& progress) {
  return evaluate_and_predict(session, dataset, {}, options, progress).predictions;
}

void write_predictions(const std::filesystem::path& path, const Predictions& all) {
  if (path.extension() != ".npz") {
    write_prediction_table(path, all);
    return;
  }
  const auto count = std::ssize(all.ids);
  std::map<std::string, Array> arrays{{"ids", name_rows(all.ids)}, {"outputs", all.outputs}};
  if (!all.evaluation.predictions.empty())
    arrays.emplace("predicted", Array::of<std::int64_t>({count}, all.evaluation.predictions));
  if (!all.labels.empty()) arrays.emplace("y", Array::of<std::int64_t>({count}, all.labels));
  if (all.targets.count() > 0) arrays.emplace("y", all.targets);
  write_npz(path, arrays);
}

}  // namespace assay::inline engine
