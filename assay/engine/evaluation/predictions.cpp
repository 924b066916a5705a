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
#include "assay/engine/evaluation/output_rows.h"
#include "assay/engine/shared_walk.h"
#include "assay/support/files/file.h"
#include "assay/support/text/visible.h"

namespace assay::inline engine {
namespace {

// Outputs of a network for a batch.
struct Said {
  Evaluator::Answers answers;
  std::vector<float> outputs, targets;  // [records, ...]; no targets but for regression
  std::vector<std::int64_t> output_shape, target_shape;
};

void to_json(nlohmann::json& json, const Said& said) {
  json = {said.answers, to_binary(said.outputs), to_binary(said.targets), said.output_shape,
          said.target_shape};
}

void from_json(const nlohmann::json& json, Said& said) {
  said = {json.at(0).get<Evaluator::Answers>(), from_binary<float>(json.at(1)),
          from_binary<float>(json.at(2)), json.at(3).get<std::vector<std::int64_t>>(),
          json.at(4).get<std::vector<std::int64_t>>()};
}

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

}  // namespace

Predictions predict(const Session& session, DatasetPtr dataset, const WalkOptions& options,
                    Progress& progress, bool compared) {
  const ValueId logits = session.logits(), output = deciding_output(session.graph(), logits);
  const std::vector<ValueId> wanted{output, logits};
  const bool regression = given_data(dataset)->target_width() > 0;
  // Without anything to compare with, outputs of any shape are wanted for their values.
  const bool judged = compared && (regression || dataset->has_labels() || class_count(session) > 0);
  Predictions all;
  Evaluator evaluator(session, *dataset);
  std::vector<Array> outputs, targets;
  const auto ask = [&](const Batch& batch, const Tensors& given) {
    const Tensors values = session.run(given, wanted);
    const Array rows = rows_of_output(session, output, values.at(output), std::ssize(batch.indices));
    const auto answers = [&]() -> Evaluator::Answers {
      if (judged) return evaluator.ask(batch, values.at(logits));
      return {batch.indices, finite_rows(rows, batch.indices.size()), {}, {}, {}};
    };
    Said said{answers(), floats_of(rows), {}, rows.shape(), {}};
    if (regression) {
      said.targets = floats_of(batch.targets);
      said.target_shape = batch.targets.shape();
    }
    return said;
  };
  const auto add = [&](const Said& said) {
    evaluator.add(said.answers);
    for (const std::size_t i : said.answers.indices) all.ids.push_back(dataset->id(i));
    all.labels.insert(all.labels.end(), said.answers.labels.begin(), said.answers.labels.end());
    outputs.push_back(Array::of<float>(said.output_shape, said.outputs));
    if (regression) targets.push_back(Array::of<float>(said.target_shape, said.targets));
  };
  walk_together<Said>(session, dataset, options, progress, ask, add);
  all.evaluation = evaluator.result();
  broadcast(all.evaluation);
  if (!ranks().first()) return all;
  all.outputs = array::cat(outputs);
  if (regression) all.targets = array::cat(targets);
  return all;
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
