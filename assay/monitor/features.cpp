#include "assay/monitor/features.h"

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/monitor/score_graph.h"

namespace assay::monitor {
namespace {

Features features_of(const Session& session, const Layer& layer, const DatasetPtr& training,
                     std::size_t batch, Progress& progress) {
  GraphBuilder edit(session.graph());
  const ValueId features = add_features(edit, session, layer);
  edit.output(features);
  const Session reader(edit.build(), session.options());
  const ValueId logits = session.logits();
  const ValueId wanted[] = {features, logits};
  Features found;
  walk(reader, training, {.batch = batch, .stage = "activations"}, progress,
       [&](const Batch& some, const Tensors& given) {
         const Tensors values = reader.run(given, wanted);
         const Array rows = values.at(features).to(DType::float32).contiguous();
         found.width = rows.size(1);
         const std::vector<std::int64_t> named =
             predicted_classes(session, values.at(logits), some.indices.size());
         for (std::size_t i = 0; i < named.size(); ++i) {
           const auto row = rows.as<float>().subspan(i * found.width, found.width);
           if (named[i] < 0 || std::ranges::any_of(row, [](float one) { return !std::isfinite(one); }))
             continue;
           found.rows.insert(found.rows.end(), row.begin(), row.end());
           found.classes.push_back(named[i]);
         }
       });
  return found;
}

}  // namespace

Features training_features(Monitor& monitor, const Session& session, const DatasetPtr& training,
                           Progress& progress) {
  if (!training)
    fail(Fault::usage, "the score {} needs training records; give them with {}",
         to_string(monitor.options.score), About{"training", "{train=SPEC}"});
  const Layer& layer =
      monitor.options.layer.empty() ? session.penultimate_layer() : session.layer(monitor.options.layer);
  monitor.layer = layer.name;
  Features features = features_of(session, layer, training, monitor.options.batch, progress);
  if (features.classes.empty())
    fail(Fault::data, "{}: no record has finite activations in layer '{}'", training->describe(), layer.name);
  monitor.features = features.width;
  return features;
}

}  // namespace assay::monitor
