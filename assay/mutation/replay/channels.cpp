#include "assay/mutation/replay/channels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/engine/elements.h"

namespace assay::mutation {
namespace {

using Channels = std::vector<std::int64_t>;

// Positions along an axis at which elements differ; two NaNs are the same.
template <typename T>
Channels positions_that_differ(const Array& a, const Array& b, std::size_t axis) {
  const Shape& shape = a.shape();
  const std::size_t size = shape[axis];
  const std::size_t inner = element_count({shape.begin() + axis + 1, shape.end()});
  const std::span<const T> x = a.as<T>(), y = b.as<T>();
  std::vector<bool> differs(size);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]))) differs[i / inner % size] = true;
  }
  Channels positions;
  for (std::size_t i = 0; i < size; ++i) {
    if (differs[i]) positions.push_back(i);
  }
  return positions;
}

// Of float32 and float64.
Channels positions_that_differ(const Array& a, const Array& b, std::size_t axis) {
  return a.dtype() == DType::float32
             ? positions_that_differ<float>(a, b, axis)
             : positions_that_differ<double>(a.to(DType::float64), b.to(DType::float64), axis);
}

// Some positions along an axis.
Array cut(const Array& array, std::size_t axis, const Channels& positions) {
  return picked(array, positions, axis);
}

// Nodes in a row as a separate network, each reading what the one before gives.
class Row {
 public:
  // `shape`: of a record of what the first node reads.
  Row(const Session& session, Shape shape) : options_(session.options()) {
    shape.insert(shape.begin(), -1);
    at_ = builder_.input("value", DType::float32, std::move(shape));
    options_.record_shape.clear();
    options_.record_shapes.clear();
  }

  // `constants`: by input; none at `running`, which reads what the node before gives, and where a node has
  // no input.
  void add(Node node, std::vector<std::optional<Array>> constants, std::size_t running) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      node.inputs[i] = i == running ? at_ : constants[i] ? builder_.constant("", *constants[i]) : no_value;
    at_ = builder_.value("");
    node.outputs.assign(1, at_);
    builder_.node(std::move(node));
    empty_ = false;
  }

  // Null where there is no node.
  std::shared_ptr<const Session> session() {
    if (empty_) return nullptr;
    builder_.output(at_);
    return std::make_shared<const Session>(builder_.build(), options_);
  }

 private:
  SessionOptions options_;
  GraphBuilder builder_;
  ValueId at_ = no_value;
  bool empty_ = true;
};

Array run_row(const Session& session, const Array& value) {
  const ValueId end = session.graph().outputs()[0];
  return session.run({{session.graph().inputs()[0], value}}, std::span(&end, 1)).at(end);
}

// One reading of a node as output = f(running value, constants).
struct Reading {
  const Graph& graph;
  const Node& node;
  std::optional<std::size_t> running;  // position of the only input that is not a constant

  Reading(const Graph& graph_, const Node& node_) : graph(graph_), node(node_) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == no_value || graph.is_constant(node.inputs[i])) continue;
      if (running) {
        running.reset();
        return;
      }
      running = i;
    }
  }
  const Array* constant(std::size_t i) const {
    if (i >= node.inputs.size() || node.inputs[i] == no_value || !graph.is_constant(node.inputs[i]))
      return nullptr;
    return &graph.constant(node.inputs[i]);
  }
};

// Axis of the weights (input 1) along which output or input channels lie; -1 for forms that are not handled.
int weight_axis(const Node& node, const Array* weights, bool output) {
  if (!weights) return -1;
  const std::size_t dims = weights->shape().size();
  if (node.op == "Conv") return node.integer("group", 1) == 1 && dims >= 3 ? (output ? 0 : 1) : -1;
  if (node.op == "Gemm") {
    if (node.integer("transA", 0) != 0 || dims != 2) return -1;
    return (node.integer("transB", 0) != 0) == output ? 0 : 1;
  }
  if (node.op == "MatMul") return dims == 2 ? (output ? 1 : 0) : -1;
  return -1;
}

// Whether changed weights may be computed by themselves; otherwise the engine requested does it all.
bool computes_changes(const Session& session) {
  const SessionOptions& options = session.options();
  return options.device == "cpu" && (options.engine == "auto" || options.engine == "lanes");
}

// Whether a constant is one number, or one number a channel of a value with so many dimensions.
enum class Extent { number, channel, other };
Extent extent_of(const Array& constant, std::size_t dims, std::int64_t width) {
  if (constant.count() == 1) return Extent::number;
  const Shape& shape = constant.shape();
  if (constant.count() != width || shape.size() > dims || shape.size() + 1 < dims) return Extent::other;
  return shape[shape.size() + 1 - dims] == width ? Extent::channel : Extent::other;
}

// Whether constants of the operator are one number, or one number a channel, of its running value.
bool stretches_constants(const OperatorTraits& traits) {
  return traits.has(Trait::broadcasts) &&
         (traits.kind == OperatorKind::arithmetic || traits.kind == OperatorKind::activation);
}

class ChannelFinder {
 public:
  ChannelFinder(const Session& session, const Graph& mutant, const Difference& difference,
                const std::optional<ChangedWeights>& changed)
      : session_(session),
        original_(session.graph()),
        mutant_(mutant),
        difference_(difference),
        changed_(changed) {}

  std::optional<ChannelPath> find() {
    if (!start()) return std::nullopt;
    for (std::size_t i = 1; i < difference_.nodes.size(); ++i) {
      if (!pass(mutant_, node(i), at_)) return std::nullopt;
      at_ = node(i).outputs[0];
    }
    if (difference_.boundary != std::vector{at_}) return std::nullopt;
    follow_original();
    path_.end = at_;
    path_.channels = channels_;
    path_.steps = through();
    return std::move(path_);
  }

 private:
  // A node with its constants cut to the channels in question, by input; the one at `running` is what the
  // node before gives.
  struct Step {
    Node node;
    std::vector<std::optional<Array>> constants;
    std::size_t running = 0;
  };

  // The steps as a network.
  std::shared_ptr<const Session> through() const {
    const ValueId read = path_.start ? path_.started : path_.source;
    Shape shape = record_of(read);
    if (path_.start) shape[0] = std::ssize(path_.start->units());
    if (path_.source_channels && !path_.start) shape[0] = std::ssize(*path_.source_channels);
    Row row(session_, std::move(shape));
    for (const Step& step : steps_) row.add(step.node, step.constants, step.running);
    return row.session();
  }

  Shape record_of(ValueId id) const {
    const Shape& shape = session_.shape(id);
    return {shape.begin() + 1, shape.end()};
  }

  const Node& node(std::size_t i) const { return mutant_.node(difference_.nodes[i]); }

  std::size_t dims_of(ValueId id) const { return session_.shape(id).size(); }
  std::int64_t width_of(ValueId id) const { return session_.shape(id)[1]; }
  // Also a value of the original.
  bool is_known(ValueId id) const { return id != no_value && index_of(id) < original_.values().size(); }
  // Records along axis 0, channels along axis 1.
  bool plain(ValueId id) const {
    if (!is_known(id)) return false;
    const auto [axis, rows] = session_.record_axis(id);
    return axis == 0 && rows == 1 && dims_of(id) >= 2;
  }

  // The first node: which channels change, and from what they are computed.
  bool start() {
    if (difference_.nodes.empty() || difference_.sources.size() != 1) return false;
    const Node& first = node(0);
    const Reading now(mutant_, first);
    if (!now.running || first.outputs.size() != 1) return false;
    path_.source = difference_.sources.begin()->second;
    if (first.inputs[*now.running] != difference_.sources.begin()->first || !plain(path_.source))
      return false;
    // What is computed here has the shape of the boundary or of the value that the original's node of this
    // name computes.
    const auto was = original_.find_node(first.name);
    const bool started = was ? start_linear(now, original_.node(*was)) : start_edit(now);
    at_ = first.outputs[0];
    path_.changed = std::ssize(channels_);
    return started && !channels_.empty() && path_.changed < path_.width;
  }

  // A layer some of whose neurons have other weights.
  bool start_linear(const Reading& now, const Node& was_node) {
    const Reading was(original_, was_node);
    const Node& node = now.node;
    const int axis = weight_axis(node, now.constant(1), true);
    if (*now.running != 0 || was.running != now.running || axis < 0 || !plain(was_node.outputs[0]))
      return false;
    if (node.op != was_node.op || node.inputs.size() != was_node.inputs.size()) return false;
    if (node.op != "Conv" && dims_of(path_.source) != 2) return false;
    if (changed_) {
      path_.width = changed_->width();
      channels_ = changed_->units();
      path_.start = changed_;
      path_.started = was_node.outputs[0];
      return true;
    }
    std::set<std::int64_t> rows;
    path_.width = now.constant(1)->shape()[axis];
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const Array* a = now.constant(i);
      const Array* b = was.constant(i);
      if ((a == nullptr) != (b == nullptr)) return false;
      if (!a || same_elements(*a, *b)) continue;
      if (a->shape() != b->shape() || a->dtype() != b->dtype() || i > 2) return false;
      if (i == 2 && a->count() != path_.width) return false;
      const std::size_t along = i == 1 ? static_cast<std::size_t>(axis) : a->shape().size() - 1;
      const Channels differ = positions_that_differ(*a, *b, along);
      rows.insert(differ.begin(), differ.end());
    }
    channels_.assign(rows.begin(), rows.end());
    Step step{node, std::vector<std::optional<Array>>(node.inputs.size()), 0};
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const Array* constant = now.constant(i);
      if (!constant) continue;
      const std::size_t along = i == 1 ? static_cast<std::size_t>(axis) : constant->shape().size() - 1;
      step.constants[i] = i > 1 && constant->count() == 1 ? *constant : cut(*constant, along, channels_);
    }
    steps_.push_back(std::move(step));
    return true;
  }

  // A node that was put in: a factor or addend for each channel, or channels in another order.
  bool start_edit(const Reading& now) {
    const Node& node = now.node;
    path_.width = width_of(path_.source);
    Step step{node, std::vector<std::optional<Array>>(node.inputs.size()), *now.running};
    if (node.op == "Gather" && node.integer("axis", 0) == 1 && *now.running == 0 && now.constant(1)) {
      const Array order = now.constant(1)->to(DType::int64);
      if (order.shape().size() != 1 || order.count() != path_.width) return false;
      Channels from;
      for (std::int64_t i = 0; i < order.count(); ++i) {
        const std::int64_t source = order.as<std::int64_t>()[i];
        if (source == i) continue;
        channels_.push_back(i);
        from.push_back(source);
      }
      path_.source_channels = from;
      return true;  // reading the channels in that order is all there is to do
    }
    if ((node.op != "Mul" && node.op != "Add") || node.inputs.size() != 2) return false;
    const std::size_t other = 1 - *now.running;
    const Array& constant = *now.constant(other);
    if (constant.dtype() != DType::float32 ||
        extent_of(constant, dims_of(path_.source), width_of(path_.source)) != Extent::channel)
      return false;
    const auto numbers = constant.as<float>();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] != (node.op == "Mul" ? 1.0F : 0.0F)) channels_.push_back(i);
    }
    path_.source_channels = channels_;
    step.constants[other] = of_channels(constant, dims_of(path_.source));
    steps_.push_back(std::move(step));
    return true;
  }

  Array of_channels(const Array& constant, std::size_t dims) const {
    return constant.count() == 1 ? constant : cut(constant, constant.shape().size() + 1 - dims, channels_);
  }

  // Carries the channels through a node that treats each by itself; false when it does not.
  bool pass(const Graph& graph, const Node& node, ValueId from) {
    const Reading reading(graph, node);
    if (!reading.running || node.inputs[*reading.running] != from || node.outputs.empty()) return false;
    const bool known = is_known(from) && !session_.shape(from).empty();
    Step step{node, std::vector<std::optional<Array>>(node.inputs.size()), *reading.running};
    const auto constants = [&](auto&& prepare) {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const Array* constant = reading.constant(i);
        if (!constant) continue;
        step.constants[i] = prepare(*constant);
        if (!step.constants[i]) return false;
      }
      return true;
    };
    const OperatorTraits* traits = traits_of(node.op);
    if (!traits) return false;
    if (node.op == "BatchNormalization" && node.integer("training_mode", 0) == 0) {
      if (!constants([&](const Array& c) { return std::optional(cut(c, 0, channels_)); })) return false;
    } else if (stretches_constants(*traits)) {
      if (!known) return false;
      const bool handled = constants([&](const Array& c) {
        return extent_of(c, dims_of(from), width_of(from)) == Extent::other
                   ? std::nullopt
                   : std::optional(of_channels(c, dims_of(from)));
      });
      if (!handled) return false;
    } else if (traits->has(Trait::by_channel) && traits->kind != OperatorKind::normalisation) {
      if (!constants([](const Array& c) { return std::optional(c); })) return false;
    } else if (node.op == "Flatten" && node.integer("axis", 1) == 1 && known) {
      expand(from);
    } else {
      return false;
    }
    steps_.push_back(std::move(step));
    return true;
  }

  // Flattening makes a range of columns of each channel.
  void expand(ValueId from) {
    const Shape& shape = session_.shape(from);
    const std::int64_t positions =
        std::accumulate(shape.begin() + 2, shape.end(), std::int64_t{1}, std::multiplies<>());
    Channels columns;
    for (const std::int64_t c : channels_) {
      for (std::int64_t p = 0; p < positions; ++p) columns.push_back(c * positions + p);
    }
    channels_ = std::move(columns);
  }

  // Onwards through the original while one node alone reads the value.
  void follow_original() {
    while (plain(at_) && at_ != session_.logits()) {
      const auto readers = original_.consumers(at_);
      const bool is_output = std::ranges::find(original_.outputs(), at_) != original_.outputs().end();
      if (readers.size() != 1 || is_output) return;
      const Node& reader = original_.node(readers[0]);
      if (!plain(reader.outputs[0])) return;
      if (end_in(reader)) return;
      const Channels before = channels_;
      if (!pass(original_, reader, at_)) {
        channels_ = before;
        return;
      }
      at_ = reader.outputs[0];
    }
  }

  bool end_in(const Node& reader) {
    const Reading reading(original_, reader);
    const int axis = weight_axis(reader, reading.constant(1), false);
    if (!reading.running || *reading.running != 0 || axis < 0) return false;
    if (reader.op != "Conv" && dims_of(at_) != 2) return false;
    path_.next_value = reader.outputs[0];
    if (computes_changes(session_))
      path_.added = ChangedWeights::of_channels(original_, reader, channels_, session_.shape(at_),
                                                session_.shape(path_.next_value));
    if (path_.added) return true;
    Shape shape = record_of(at_);
    shape[0] = std::ssize(channels_);
    Row row(session_, shape);
    Node sum = reader;
    sum.inputs.resize(2);
    row.add(std::move(sum), {std::nullopt, cut(*reading.constant(1), axis, channels_)}, 0);
    path_.next = row.session();
    return true;
  }

  const Session& session_;
  const Graph& original_;
  const Graph& mutant_;
  const Difference& difference_;
  const std::optional<ChangedWeights>& changed_;
  ChannelPath path_;
  std::vector<Step> steps_;
  Channels channels_;
  ValueId at_ = no_value;
};

}  // namespace

Array ChannelPath::run(const Array& source_value, const Array& started_value, int threads) const {
  Array value = source_channels ? picked(source_value, *source_channels, 1) : source_value;
  if (start) value = start->run(value, picked(started_value, start->units(), 1), threads);
  return steps && value.defined() ? run_row(*steps, value) : value;
}

Array ChannelPath::run_next(const Array& before, const Array& change, int threads) const {
  return added ? added->run(change, before, threads) : before + run_row(*next, change);
}

std::optional<ChangedWeights> find_changed_weights(const Session& session, const Graph& mutant,
                                                   const Difference& difference) {
  const Graph& original = session.graph();
  if (!computes_changes(session) || difference.nodes.empty() || difference.sources.size() != 1)
    return std::nullopt;
  const Node& now = mutant.node(difference.nodes[0]);
  const auto index = original.find_node(now.name);
  if (!index || now.inputs.empty() || now.inputs[0] != difference.sources.begin()->first) return std::nullopt;
  const Node& was = original.node(*index);
  const ValueId source = difference.sources.begin()->second, made = was.outputs[0];
  const auto in_front = [&](ValueId id) {
    const auto [axis, rows] = session.record_axis(id);
    return axis == 0 && rows == 1;
  };
  if (was.inputs[0] != source || !same_function(was, now) || !in_front(source) || !in_front(made))
    return std::nullopt;
  return ChangedWeights::between(original, was, mutant, now, session.shape(source), session.shape(made));
}

std::optional<ChannelPath> find_channel_path(const Session& session, const Graph& mutant,
                                             const Difference& difference,
                                             const std::optional<ChangedWeights>& changed) {
  try {
    return ChannelFinder(session, mutant, difference, changed).find();
  } catch (const Error& error) {  // the nodes alone do not form a network that can run
    if (error.fault() == Fault::interrupted) throw;
    return std::nullopt;
  }
}

}  // namespace assay::mutation
