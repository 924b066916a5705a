#pragma once

// What networks do with their scores before they give them out: functions that keep the order of classes (or
// the side of the threshold that a single score is on), by many spellings, and some that do not.

#include <functional>
#include <map>
#include <string>

#include "tests/engine/graphs.h"

namespace assay::test {

using Ending = std::function<ValueId(Net&, ValueId)>;
using Endings = std::map<std::string, Ending>;

inline ValueId number(Net& net, float value) {
  return net.builder.constant(net.builder.unused_name("number"),
                              Array::of<float>({}, std::vector<float>{value}));
}
inline ValueId numbers(Net& net, std::vector<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return net.builder.constant(net.builder.unused_name("numbers"), Array::of<float>({count}, values));
}
inline ValueId node(Net& net, const std::string& op, std::vector<ValueId> inputs,
                    Attributes attributes = {}) {
  return net.builder.add(op, net.builder.unused_name(op), std::move(inputs), std::move(attributes));
}
inline ValueId over_classes(Net& net, const std::string& op, ValueId x, std::int64_t keep = 1) {
  const ValueId axes = net.builder.constant(net.builder.unused_name("axes"), integers({1}));
  return node(net, op, {x, axes}, {{"keepdims", keep}});
}
inline ValueId shaped(Net& net, const std::string& op, ValueId x, const Ints& shape) {
  return node(net, op, {x, net.builder.constant(net.builder.unused_name("shape"), integers(shape))});
}
inline ValueId softmax(Net& net, ValueId z) {
  return node(net, "Softmax", {z}, {{"axis", std::int64_t{-1}}});
}

// 3 inputs, 6 rectified units, `classes` scores "z" and the ending.
inline Graph network_with(std::int64_t classes, const Ending& ending, std::uint64_t seed = 5) {
  Net net("ending", seed);
  const ValueId h = net.relu("relu", net.dense("hidden", net.input({-1, 3}), 3, 6));
  return net.build(ending(net, net.dense("z", h, 6, classes)));
}

// Of a network_with() one score z the network with the scores -z/2 and z/2: half of its last layer's weights,
// with the other sign in front.
inline Graph twin_of(const Graph& one) {
  GraphBuilder edit(one);
  for (const char* name : {"z/w", "z/b"}) {
    const ValueId id = *one.find_value(name);
    const Array& half = one.constant(id);
    std::vector<float> both;
    for (const float sign : {-0.5F, 0.5F}) {
      for (const float number : half.as<float>()) both.push_back(sign * number);
    }
    Shape shape = half.shape();
    shape[0] = 2;
    edit.replace_constant(id, Array::of<float>(shape, both));
  }
  edit.set_outputs({*one.find_value("z")});
  return edit.build();
}

// Softmax and log-softmax of 4 scores.
inline Endings softmaxes() {
  Endings all;
  all["Softmax"] = softmax;
  all["LogSoftmax"] = [](Net& net, ValueId z) { return node(net, "LogSoftmax", {z}); };
  all["Log of Softmax"] = [](Net& net, ValueId z) { return node(net, "Log", {softmax(net, z)}); };
  all["Exp of LogSoftmax"] = [](Net& net, ValueId z) {
    return node(net, "Exp", {node(net, "LogSoftmax", {z})});
  };
  const auto exp_less_max = [](Net& net, ValueId z) {
    return node(net, "Exp", {node(net, "Sub", {z, over_classes(net, "ReduceMax", z)})});
  };
  all["spelt out"] = [=](Net& net, ValueId z) {
    const ValueId e = exp_less_max(net, z);
    return node(net, "Div", {e, over_classes(net, "ReduceSum", e)});
  };
  all["spelt out, Log"] = [=](Net& net, ValueId z) {
    const ValueId e = exp_less_max(net, z);
    return node(net, "Log", {node(net, "Div", {e, over_classes(net, "ReduceSum", e)})});
  };
  all["spelt out without the greatest"] = [](Net& net, ValueId z) {
    const ValueId e = node(net, "Exp", {z});
    return node(net, "Div", {e, over_classes(net, "ReduceSum", e)});
  };
  all["times a reciprocal"] = [=](Net& net, ValueId z) {
    const ValueId e = exp_less_max(net, z);
    return node(net, "Mul", {node(net, "Reciprocal", {over_classes(net, "ReduceSum", e)}), e});
  };
  all["Reshape and Expand in between"] = [](Net& net, ValueId z) {
    const auto spread = [&](ValueId one) {
      return shaped(net, "Expand", shaped(net, "Reshape", one, {-1, 1}), {1, 4});
    };
    const ValueId greatest = spread(over_classes(net, "ReduceMax", z, 0));
    const ValueId e = node(net, "Exp", {node(net, "Sub", {z, greatest})});
    return node(net, "Div", {e, spread(over_classes(net, "ReduceSum", e, 0))});
  };
  all["bounded greatest"] = [](Net& net, ValueId z) {
    const ValueId greatest = node(net, "Max", {number(net, -1e30F), over_classes(net, "ReduceMax", z)});
    const ValueId e = node(net, "Exp", {node(net, "Sub", {z, node(net, "Identity", {greatest})})});
    return node(net, "Div", {e, over_classes(net, "ReduceSum", e)});
  };
  all["z less log-sum-exp"] = [](Net& net, ValueId z) {
    return node(net, "Sub", {z, over_classes(net, "ReduceLogSumExp", z)});
  };
  all["z less greatest less log of sum"] = [](Net& net, ValueId z) {
    const ValueId less = node(net, "Sub", {z, over_classes(net, "ReduceMax", z)});
    const ValueId sum = over_classes(net, "ReduceSum", node(net, "Exp", {less}));
    return node(net, "Sub", {less, node(net, "Log", {sum})});
  };
  all["through maps"] = [](Net& net, ValueId z) {
    const ValueId maps = shaped(net, "Reshape", z, {-1, 4, 1, 1});
    return net.flatten("flat", node(net, "Softmax", {maps}, {{"axis", std::int64_t{1}}}));
  };
  return all;
}

// [records] 0, 1, ... for as many records as z has; backwards: the last one first.
inline ValueId positions_of(Net& net, ValueId z, bool backwards) {
  const auto whole = [&](std::int64_t value) {
    return net.builder.constant(net.builder.unused_name("whole"),
                                Array::of<std::int64_t>({}, std::vector<std::int64_t>{value}));
  };
  const ValueId count = node(net, "Gather", {node(net, "Shape", {z}), whole(0)});
  const ValueId last = node(net, "Sub", {count, whole(1)});
  return backwards ? node(net, "Range", {last, whole(-1), whole(-1)})
                   : node(net, "Range", {whole(0), count, whole(1)});
}

// Each record of z by its number.
inline ValueId picked_by_position(Net& net, ValueId z, bool backwards) {
  return node(net, "Gather", {z, positions_of(net, z, backwards)});
}

// The greatest of 4 scores stays the greatest.
inline Endings keeping_order() {
  Endings all = softmaxes();
  all["nothing"] = [](Net&, ValueId z) { return z; };
  all["Log of Clip"] = [](Net& net, ValueId z) {
    return node(net, "Log", {node(net, "Clip", {softmax(net, z), number(net, 1e-7F), number(net, 1)})});
  };
  all["Clip"] = [](Net& net, ValueId z) {
    return node(net, "Clip", {softmax(net, z), number(net, 1e-7F), number(net, 1 - 1e-7F)});
  };
  all["Max with a number"] = [](Net& net, ValueId z) {
    return node(net, "Log", {node(net, "Max", {softmax(net, z), number(net, 1e-7F)})});
  };
  all["Log of a sum"] = [](Net& net, ValueId z) {
    return node(net, "Log", {node(net, "Add", {softmax(net, z), number(net, 1e-7F)})});
  };
  all["per cent"] = [](Net& net, ValueId z) { return node(net, "Mul", {number(net, 100), softmax(net, z)}); };
  all["over a number"] = [](Net& net, ValueId z) {
    return node(net, "Div", {softmax(net, z), number(net, 4)});
  };
  all["one number for each class"] = [](Net& net, ValueId z) {
    return node(net, "Add", {softmax(net, z), numbers(net, {2, 2, 2, 2})});
  };
  all["less a number"] = [](Net& net, ValueId z) {
    return node(net, "Sub", {softmax(net, z), number(net, 1)});
  };
  all["two negations"] = [](Net& net, ValueId z) {
    return node(net, "Neg", {node(net, "Neg", {softmax(net, z)})});
  };
  all["one less one less"] = [](Net& net, ValueId z) {
    return node(net, "Sub", {number(net, 1), node(net, "Sub", {number(net, 1), softmax(net, z)})});
  };
  all["smoothed"] = [](Net& net, ValueId z) {
    return node(net, "Add", {node(net, "Mul", {softmax(net, z), number(net, 0.9F)}), number(net, 0.025F)});
  };
  all["softmax of softmax"] = [](Net& net, ValueId z) { return softmax(net, softmax(net, z)); };
  all["Sqrt"] = [](Net& net, ValueId z) { return node(net, "Sqrt", {softmax(net, z)}); };
  all["Pow"] = [](Net& net, ValueId z) { return node(net, "Pow", {softmax(net, z), number(net, 0.5F)}); };
  all["Tanh"] = [](Net& net, ValueId z) { return node(net, "Tanh", {z}); };
  all["Sigmoid"] = [](Net& net, ValueId z) { return node(net, "Sigmoid", {z}); };
  all["normalised sigmoids"] = [](Net& net, ValueId z) {
    const ValueId p = node(net, "Sigmoid", {z});
    return node(net, "Div", {p, over_classes(net, "ReduceSum", p)});
  };
  all["less the greatest"] = [](Net& net, ValueId z) {
    return node(net, "Sub", {z, over_classes(net, "ReduceMax", z)});
  };
  all["less the mean"] = [](Net& net, ValueId z) {
    return node(net, "Sub", {z, over_classes(net, "ReduceMean", z)});
  };
  all["Identity, Reshape, Squeeze"] = [](Net& net, ValueId z) {
    const ValueId maps = shaped(net, "Reshape", softmax(net, node(net, "Identity", {z})), {-1, 4, 1});
    return shaped(net, "Squeeze", maps, {2});
  };
  all["Cast"] = [](Net& net, ValueId z) {
    return node(net, "Cast", {softmax(net, z)}, {{"to", std::int64_t{11}}});
  };
  all["Hardmax"] = [](Net& net, ValueId z) { return node(net, "Hardmax", {z}); };
  return all;
}

inline Endings changing_order() {
  Endings all;
  all["less one softmax"] = [](Net& net, ValueId z) {
    return node(net, "Sub", {number(net, 1), softmax(net, z)});
  };
  all["minus logarithm"] = [](Net& net, ValueId z) {
    return node(net, "Neg", {node(net, "LogSoftmax", {z})});
  };
  all["prior of classes"] = [](Net& net, ValueId z) {
    return node(net, "Mul", {softmax(net, z), numbers(net, {0.1F, 0.2F, 0.3F, 0.4F})});
  };
  all["negative factor"] = [](Net& net, ValueId z) {
    return node(net, "Mul", {softmax(net, z), number(net, -1)});
  };
  all["mean of two softmaxes"] = [](Net& net, ValueId z) {
    const ValueId other = net.dense("other", net.relu("again", z), 4, 4);
    return node(net, "Mul", {node(net, "Add", {softmax(net, z), softmax(net, other)}), number(net, 0.5F)});
  };
  all["over records"] = [](Net& net, ValueId z) {
    return node(net, "Softmax", {z}, {{"axis", std::int64_t{0}}});
  };
  all["times what may be negative"] = [](Net& net, ValueId z) {
    return node(net, "Mul", {softmax(net, z), over_classes(net, "ReduceMean", z)});
  };
  all["swish"] = [](Net& net, ValueId z) { return node(net, "Mul", {z, node(net, "Sigmoid", {z})}); };
  all["turned round"] = [](Net& net, ValueId z) {
    const auto list = [&](std::int64_t value) {
      return net.builder.constant(net.builder.unused_name("list"), integers({value}));
    };
    return node(net, "Slice", {softmax(net, z), list(-1), list(-100), list(1), list(-1)});
  };
  return all;
}

// A single score above 0 is above the threshold.
inline Endings keeping_side() {
  Endings all;
  all["nothing"] = [](Net&, ValueId z) { return z; };
  all["Sigmoid"] = [](Net& net, ValueId z) { return node(net, "Sigmoid", {z}); };
  all["Tanh"] = [](Net& net, ValueId z) { return node(net, "Tanh", {z}); };
  all["spelt out"] = [](Net& net, ValueId z) {
    const ValueId sum = node(net, "Add", {number(net, 1), node(net, "Exp", {node(net, "Neg", {z})})});
    return node(net, "Div", {number(net, 1), sum});
  };
  all["Reciprocal"] = [](Net& net, ValueId z) {
    const ValueId e = node(net, "Exp", {node(net, "Mul", {z, number(net, -1)})});
    return node(net, "Reciprocal", {node(net, "Add", {e, number(net, 1)})});
  };
  all["half a tanh"] = [](Net& net, ValueId z) {
    const ValueId t = node(net, "Mul", {number(net, 0.5F), node(net, "Tanh", {z})});
    return node(net, "Add", {t, number(net, 0.5F)});
  };
  all["clipped"] = [](Net& net, ValueId z) {
    return node(net, "Clip", {node(net, "Sigmoid", {z}), number(net, 1e-7F), number(net, 1 - 1e-7F)});
  };
  all["squeezed"] = [](Net& net, ValueId z) {
    return shaped(net, "Squeeze", node(net, "Sigmoid", {z}), {1});
  };
  all["gathered"] = [](Net& net, ValueId z) {
    const ValueId first =
        net.builder.constant("first", Array::of<std::int64_t>({}, std::vector<std::int64_t>{0}));
    return node(net, "Gather", {node(net, "Sigmoid", {z}), first}, {{"axis", std::int64_t{1}}});
  };
  all["twice the sigmoid less one"] = [](Net& net, ValueId z) {
    const ValueId twice = node(net, "Mul", {node(net, "Sigmoid", {z}), number(net, 2)});
    return node(net, "Sub", {twice, number(net, 1)});
  };
  return all;
}

inline Endings changing_side() {
  Endings all;
  all["probability of no"] = [](Net& net, ValueId z) {
    return node(net, "Sub", {number(net, 1), node(net, "Sigmoid", {z})});
  };
  all["another threshold"] = [](Net& net, ValueId z) {
    return node(
        net, "Clip",
        {node(net, "Sub", {node(net, "Sigmoid", {z}), number(net, 0.2F)}), number(net, 0), number(net, 1)});
  };
  all["mean of two sigmoids"] = [](Net& net, ValueId z) {
    const ValueId other = net.dense("other", net.relu("again", z), 1, 1);
    const ValueId sum = node(net, "Add", {node(net, "Sigmoid", {z}), node(net, "Sigmoid", {other})});
    return node(net, "Mul", {sum, number(net, 0.5F)});
  };
  return all;
}

}  // namespace assay::test
