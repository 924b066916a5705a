#include "assay/monitor/score_graph.h"

#include <limits>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/model.h>
#include "assay/engine/evaluation/scores.h"

namespace assay::monitor {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

class Nodes {
 public:
  explicit Nodes(GraphBuilder& edit) : edit_(edit) {}

  ValueId add(const char* op, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes = {}) {
    return edit_.add(op, edit_.unused_name(std::string("monitor/") + op), std::move(inputs),
                     std::move(attributes));
  }
  ValueId constant(const char* name, Array array) {
    return edit_.constant(edit_.unused_name(std::string("monitor/") + name), std::move(array));
  }
  // Over axis 1, which goes or stays.
  ValueId reduce(const char* op, ValueId of, bool keep) {
    const ValueId axes = constant("axes", Array::of<std::int64_t>({1}, std::vector<std::int64_t>{1}));
    return add(op, {of, axes}, {{"keepdims", std::int64_t{keep}}});
  }

 private:
  GraphBuilder& edit_;
};

// Less the logarithm of the sum of exp, from the greatest score down, so that nothing overflows.
ValueId energy(Nodes& nodes, ValueId scores) {
  const ValueId top = nodes.reduce("ReduceMax", scores, true);
  const ValueId sum = nodes.reduce("ReduceSum", nodes.add("Exp", {nodes.add("Sub", {scores, top})}), false);
  return nodes.add("Neg",
                   {nodes.add("Add", {nodes.add("Log", {sum}), nodes.reduce("ReduceMax", scores, false)})});
}

ValueId named_class(Nodes& nodes, ValueId scores, bool keep) {
  return nodes.add("ArgMax", {scores}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{keep}}});
}

ValueId distance(Nodes& nodes, ValueId scores, ValueId features, const Monitor& monitor) {
  const std::int64_t classes = monitor.classes, width = monitor.features;
  const ValueId means = nodes.constant("means", Array::of<float>({classes, width}, monitor.means)),
                whitening = nodes.constant("whitening", Array::of<float>({width, width}, monitor.whitening));
  const ValueId named = named_class(nodes, scores, false);
  const ValueId mean = nodes.add("Gather", {means, named}, {{"axis", std::int64_t{0}}});
  const ValueId white = nodes.add("MatMul", {nodes.add("Sub", {features, mean}), whitening});
  return nodes.add("Sqrt", {nodes.reduce("ReduceSum", nodes.add("Mul", {white, white}), false)});
}

// By which the nearest reference is found: |r|^2 / 2 - a.r, both from the mean of the references, so that
// little is lost to rounding; infinite for references of other classes.
ValueId nearness(Nodes& nodes, ValueId features, ValueId named, const Monitor& monitor) {
  const auto count = std::ssize(monitor.reference_classes);
  const std::int64_t width = monitor.features;
  std::vector<double> mean(monitor.features);
  for (std::size_t i = 0; i < monitor.references.size(); ++i)
    mean[i % monitor.features] += static_cast<double>(monitor.references[i]) / count;
  const std::vector<float> centre(mean.begin(), mean.end());
  std::vector<float> transposed(monitor.references.size()), halves;
  for (std::int64_t r = 0; r < count; ++r) {
    double half = 0;
    for (std::int64_t f = 0; f < width; ++f) {
      const float moved = monitor.references[r * width + f] - centre[f];
      transposed[f * count + r] = moved;
      half += 0.5 * moved * moved;
    }
    halves.push_back(static_cast<float>(half));
  }
  const ValueId moved =
      nodes.add("Sub", {features, nodes.constant("centre", Array::of<float>({width}, centre))});
  const ValueId products =
      nodes.add("MatMul", {moved, nodes.constant("turned", Array::of<float>({width, count}, transposed))});
  const ValueId near =
      nodes.add("Sub", {nodes.constant("halves", Array::of<float>({count}, halves)), products});
  const ValueId classes =
      nodes.constant("classes", Array::of<std::int64_t>({1, count}, monitor.reference_classes));
  return nodes.add("Where", {nodes.add("Equal", {classes, named}), near,
                             nodes.constant("never", Array::of<float>({}, std::vector<float>{infinite}))});
}

// The exact distance to the nearest reference of the class, by that one's to other classes; infinite for a
// class without references.
ValueId surprise(Nodes& nodes, ValueId scores, ValueId features, const Monitor& monitor) {
  const auto count = std::ssize(monitor.reference_classes);
  const std::int64_t width = monitor.features;
  const ValueId near = nearness(nodes, features, named_class(nodes, scores, true), monitor);
  const ValueId nearest =
      nodes.add("ArgMin", {near}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  const auto of_nearest = [&](const char* name, Array array) {
    return nodes.add("Gather", {nodes.constant(name, std::move(array)), nearest},
                     {{"axis", std::int64_t{0}}});
  };
  const ValueId away = nodes.add(
      "Sub", {features, of_nearest("references", Array::of<float>({count, width}, monitor.references))});
  const ValueId length =
      nodes.add("Sqrt", {nodes.reduce("ReduceSum", nodes.add("Mul", {away, away}), false)});
  const ValueId ratio =
      nodes.add("Div", {length, of_nearest("apart", Array::of<float>({count}, monitor.apart))});
  const ValueId most =
      nodes.constant("most", Array::of<float>({}, std::vector<float>{std::numeric_limits<float>::max()}));
  const ValueId known = nodes.add("LessOrEqual", {nodes.reduce("ReduceMin", near, false), most});
  return nodes.add(
      "Where", {known, ratio, nodes.constant("never", Array::of<float>({}, std::vector<float>{infinite}))});
}

// Of one score z, as of the network with the scores -z/2 and z/2.
ValueId two_scores(Nodes& nodes, const DecisionScores& decision) {
  const auto row = [&](const char* name, const Shape& shape, std::vector<float> numbers) {
    return nodes.constant(name, Array::of<float>(shape, numbers));
  };
  const ValueId shape =
      nodes.constant("shape", Array::of<std::int64_t>({2}, std::vector<std::int64_t>{-1, 1}));
  const ValueId score = nodes.add("Reshape", {decision.value, shape});
  const ValueId over = nodes.add("Sub", {score, row("border", {}, {static_cast<float>(decision.threshold)})});
  return nodes.add("Mul", {over, row("sides", {1, 2}, {-0.5F, 0.5F})});
}

// Scores as [N, classes].
ValueId scores_by_class(Nodes& nodes, const Session& session) {
  const DecisionScores decision = assay::scores_of(session);
  if (decision.single) return two_scores(nodes, decision);
  const ValueId value = session.logits();
  return session.shape(value).size() == 2 ? value : nodes.add("Flatten", {value});
}

}  // namespace

ValueId add_features(GraphBuilder& edit, const Session& session, const Layer& layer) {
  if (layer.batch_axis != 0 || layer.batch_multiple != 1 || layer.neuron_axes != std::vector<int>{1})
    fail(Fault::unsupported, "the neurons of layer '{}' do not lie along axis 1; choose another one with {}",
         layer.name, About{"the layer", "{layer=NAME}"});
  Nodes nodes(edit);
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 2; axis < std::ssize(session.shape(layer.value)); ++axis)
    positions.push_back(axis);
  if (positions.empty()) return layer.value;
  const ValueId axes =
      nodes.constant("positions", Array::of<std::int64_t>({std::ssize(positions)}, positions));
  return nodes.add("ReduceMean", {layer.value, axes}, {{"keepdims", std::int64_t{0}}});
}

Graph with_score(const Session& session, const Monitor& monitor) {
  GraphBuilder edit(session.graph());
  Nodes nodes(edit);
  const ValueId scores = scores_by_class(nodes, session);
  ValueId score = no_value;
  switch (monitor.options.score) {
    case Score::max_logit:
      score = nodes.add("Neg", {nodes.reduce("ReduceMax", scores, false)});
      break;
    case Score::energy:
      score = energy(nodes, scores);
      break;
    case Score::mdsa:
      score = distance(nodes, scores, add_features(edit, session, session.layer(monitor.layer)), monitor);
      break;
    case Score::dsa:
      score = surprise(nodes, scores, add_features(edit, session, session.layer(monitor.layer)), monitor);
  }
  const ValueId threshold = nodes.constant(
      "threshold", Array::of<float>({}, std::vector<float>{static_cast<float>(monitor.threshold)}));
  const ValueId named = edit.add("Identity", score_name, {score});
  // What is not a number is not at most the threshold.
  const ValueId usual = nodes.add("LessOrEqual", {named, threshold});
  const ValueId alarm = edit.add("Not", alarm_name, {usual});
  edit.output(named);
  edit.output(alarm);
  edit.set_type(named, DType::float32, {-1});
  edit.set_type(alarm, DType::boolean, {-1});
  return edit.build();
}

}  // namespace assay::monitor
