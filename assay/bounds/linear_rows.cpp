#include "assay/bounds/linear_rows.h"

#include <algorithm>
#include <functional>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/model.h>
#include "assay/engine/parameters.h"

namespace assay::bounds {
namespace {

std::vector<double> doubles(const Array& array) {
  const Array wide = array.to(DType::float64).contiguous();
  const auto elements = wide.as<double>();
  return {elements.begin(), elements.end()};
}

// Calls visit for all positions below the sizes, the last axis fastest.
void for_positions(const std::vector<std::int64_t>& sizes,
                   const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> at(sizes.size(), 0);
  if (std::ranges::find(sizes, 0) != sizes.end()) return;
  while (true) {
    visit(at);
    std::size_t axis = sizes.size();
    while (axis > 0 && ++at[axis - 1] == sizes[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

std::int64_t offset(const std::vector<std::int64_t>& at, const std::vector<std::int64_t>& sizes) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) offset = offset * sizes[axis] + at[axis];
  return offset;
}

// Positions of a window over a picture: which element of the kernel lies on which element of the picture.
class Windows {
 public:
  Windows(SlidingWindow window, const Shape& input, const Shape& output)
      : window_(std::move(window)),
        picture_(input.begin() + 2, input.end()),
        results_(output.begin() + 2, output.end()) {}

  std::int64_t plane() const { return element_count(picture_); }
  std::int64_t kernel() const { return element_count(window_.kernel); }
  // For every result of a plane, in order, its elements of kernel and picture.
  void each(
      const std::function<void(const std::vector<std::pair<std::int64_t, std::int64_t>>&)>& take) const {
    for_positions(results_, [&](const std::vector<std::int64_t>& result) {
      std::vector<std::pair<std::int64_t, std::int64_t>> entries;
      for_positions(window_.kernel, [&](const std::vector<std::int64_t>& k) {
        std::vector<std::int64_t> at(result.size());
        for (std::size_t d = 0; d < at.size(); ++d) {
          at[d] = result[d] * window_.strides[d] - window_.left[d] + k[d] * window_.dilations[d];
          if (at[d] < 0 || at[d] >= picture_[d]) return;
        }
        entries.emplace_back(offset(k, window_.kernel), offset(at, picture_));
      });
      take(entries);
    });
  }

 private:
  SlidingWindow window_;
  std::vector<std::int64_t> picture_, results_;
};

// What a single node computes of one operand; the others are constants.
Array run_alone(const StaticNetwork& network, const Node& node, std::size_t output, const Array& operand) {
  GraphBuilder build("node");
  const ValueId in = build.input("x", operand.dtype(), operand.shape());
  Node alone{.name = "node", .op = node.op, .inputs = {}, .outputs = {}, .attributes = node.attributes};
  for (const ValueId id : node.inputs)
    alone.inputs.push_back(id == no_value                  ? no_value
                           : network.graph.is_constant(id) ? build.constant("", network.graph.constant(id))
                                                           : in);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) alone.outputs.push_back(build.value(""));
  const ValueId out = alone.outputs[output];
  build.node(std::move(alone));
  build.output(out);
  const Session session(build.build(), {.threads = 1, .engine = "reference"});
  Tensors given;
  given.emplace(session.graph().inputs()[0], operand);
  const ValueId wanted = session.graph().outputs()[0];
  return session.run(given, std::span(&wanted, 1)).at(wanted);
}

std::size_t data_operand(const StaticNetwork& network, const Node& node) {
  std::size_t at = 0;
  while (network.graph.is_constant(node.inputs[at])) ++at;
  return at;
}

Rows diagonal(const std::vector<double>& factors) {
  Rows rows;
  for (std::size_t i = 0; i < factors.size(); ++i)
    rows.add(static_cast<std::int32_t>(i), factors[i]), rows.end_row();
  return rows;
}

// Where each element of the result comes from, by moving their numbers, counted from 1; 0: from nowhere. In
// two parts, since float32 does not count beyond 2^24.
std::vector<std::int64_t> sources(const StaticNetwork& network, const Node& node, std::size_t output,
                                  ValueId of) {
  constexpr std::int64_t half = 4096;
  const std::int64_t count = network.size(of);
  std::vector<float> low, high;
  for (std::int64_t i = 1; i <= count; ++i) {
    const std::int64_t below = i % half, above = i / half;
    low.push_back(static_cast<float>(below));
    high.push_back(static_cast<float>(above));
  }
  const auto moved = [&](const std::vector<float>& numbers) {
    return doubles(run_alone(network, node, output, Array::of<float>(network.shape(of), numbers)));
  };
  const std::vector<double> a = moved(low), b = moved(high);
  std::vector<std::int64_t> from;
  for (std::size_t i = 0; i < a.size(); ++i)
    from.push_back(static_cast<std::int64_t>(a[i]) + half * static_cast<std::int64_t>(b[i]));
  return from;
}

Rows gathered(const std::vector<std::int64_t>& from) {
  Rows rows;
  for (const std::int64_t source : from) {
    if (source > 0) rows.add(static_cast<std::int32_t>(source - 1), 1);
    rows.end_row();
  }
  return rows;
}

// The node, constants that it moves being 0 so that they are not taken for elements of the operand.
LinearNode movement(const StaticNetwork& network, const Node& node, std::size_t output) {
  const ValueId of = node.inputs[data_operand(network, node)];
  const Array nothing = array::zeros(network.shape(of));
  std::vector<double> added = doubles(run_alone(network, node, output, nothing));
  if (std::ranges::all_of(added, [](double one) { return one == 0; })) added.clear();
  std::vector<std::int64_t> from = sources(network, node, output, of);
  for (std::size_t i = 0; i < added.size(); ++i)
    if (added[i] != 0) from[i] = 0;
  LinearNode made{.operands = {{of, gathered(from)}}, .added = std::move(added)};
  return made;
}

// Values one after the other along an axis.
LinearNode concatenation(const StaticNetwork& network, const Node& node) {
  const Shape& shape = network.shape(node.outputs[0]);
  std::int64_t axis = node.integer("axis", 1), first = 0;
  if (axis < 0) axis += std::ssize(shape);
  LinearNode made{.operands = {}, .added = std::vector<double>(network.size(node.outputs[0]), 0.0)};
  for (const ValueId id : node.inputs) {
    const bool constant = network.graph.is_constant(id);
    const Shape& part = constant ? network.graph.constant(id).shape() : network.shape(id);
    const std::vector<double> values = constant ? doubles(network.graph.constant(id)) : std::vector<double>();
    std::vector<std::int64_t> from(network.size(node.outputs[0]), 0);
    for_positions(part, [&](std::vector<std::int64_t> at) {
      const std::int64_t source = offset(at, part);
      at[axis] += first;
      const std::size_t place = offset(at, shape);
      if (constant)
        made.added[place] = values[source];
      else
        from[place] = source + 1;
    });
    if (!constant) made.operands.push_back({id, gathered(from)});
    first += part[axis];
  }
  return made;
}

// x + y, x - y, of values and constants that may be broadcast.
LinearNode sum(const StaticNetwork& network, const Node& node) {
  const Shape& shape = network.shape(node.outputs[0]);
  LinearNode made;
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueId id = node.inputs[i];
    const double sign = i == 1 && node.op == "Sub" ? -1 : 1;
    if (network.graph.is_constant(id)) {
      made.added = doubles(network.graph.constant(id).to(DType::float64).expand(shape));
      for (double& one : made.added) one *= sign;
      continue;
    }
    std::vector<double> numbers(network.size(id));
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = k;
    Rows rows;
    for (const double source : doubles(Array::of<double>(network.shape(id), numbers).expand(shape)))
      rows.add(static_cast<std::int32_t>(source), sign), rows.end_row();
    made.operands.push_back({id, std::move(rows)});
  }
  return made;
}

LinearNode convolution(const StaticNetwork& network, const Node& node) {
  const Array kernel = network.graph.constant(node.inputs[1]);
  const std::vector<double> weights = doubles(kernel);
  const Shape &input = network.shape(node.inputs[0]), &output = network.shape(node.outputs[0]);
  const Windows windows(
      sliding_window(node, input, output, {kernel.shape().begin() + 2, kernel.shape().end()}), input, output);
  const std::int64_t channels = kernel.size(1), units = kernel.size(0),
                     per_group = units / node.integer("group", 1);
  LinearNode made{.operands = {{node.inputs[0], {}}}, .added = {}};
  const std::vector<double> bias = node.inputs.size() > 2 && node.inputs[2] != no_value
                                       ? doubles(network.graph.constant(node.inputs[2]))
                                       : std::vector<double>(units, 0.0);
  for (std::int64_t u = 0; u < units; ++u) {
    const std::int64_t first = u / per_group * channels;
    windows.each([&](const auto& entries) {
      for (std::int64_t c = 0; c < channels; ++c)
        for (const auto& [k, at] : entries)
          made.operands[0].rows.add(static_cast<std::int32_t>((first + c) * windows.plane() + at),
                                    weights[(u * channels + c) * windows.kernel() + k]);
      made.operands[0].rows.end_row();
      made.added.push_back(bias[u]);
    });
  }
  return made;
}

Rows pooled(const StaticNetwork& network, const Node& node, bool mean) {
  const Shape &input = network.shape(node.inputs[0]), &output = network.shape(node.outputs[0]);
  const Windows windows(pool_window(node, input, output), input, output);
  const bool padded = node.integer("count_include_pad", 0) != 0;
  Rows rows;
  for (std::int64_t c = 0; c < input[1]; ++c)
    windows.each([&](const auto& entries) {
      const double size =
          padded ? static_cast<double>(windows.kernel()) : static_cast<double>(entries.size());
      for (const auto& [k, at] : entries)
        rows.add(static_cast<std::int32_t>(c * windows.plane() + at), mean ? 1 / size : 1);
      rows.end_row();
    });
  return rows;
}

// x W, W x and Gemm, of operands of two axes or, on the left, more.
LinearNode product(const StaticNetwork& network, const Node& node) {
  const std::size_t data = data_operand(network, node);
  const auto is_turned = [&](std::size_t i) {
    return node.op == "Gemm" && node.integer(i == 0 ? "transA" : "transB", 0) != 0;
  };
  Array weights = network.graph.constant(node.inputs[1 - data]);
  if (data != 0 || is_turned(0) || weights.rank() != 2)
    fail(Fault::unsupported,
         "bounds by linear functions: {} is not a product of records with a matrix on the right; bound by {} "
         "only",
         node.describe(), About{"intervals", "{method=interval}"});
  if (is_turned(1)) weights = weights.t().contiguous();
  const std::vector<double> w = doubles(weights);
  const double alpha = node.op == "Gemm" ? node.real("alpha", 1) : 1;
  const std::size_t inner = weights.size(0), units = weights.size(1),
                    rows = network.size(node.inputs[0]) / inner;
  LinearNode made{.operands = {{node.inputs[0], {}}}, .added = {}};
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t u = 0; u < units; ++u) {
      for (std::size_t i = 0; i < inner; ++i)
        made.operands[0].rows.add(static_cast<std::int32_t>(row * inner + i), alpha * w[i * units + u]);
      made.operands[0].rows.end_row();
    }
  }
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
    made.added = doubles(
        network.graph.constant(node.inputs[2]).to(DType::float64).expand(network.shape(node.outputs[0])));
    for (double& one : made.added) one *= node.real("beta", 1);
  }
  return made;
}

LinearNode normalisation(const StaticNetwork& network, const Node& node) {
  const auto of = [&](std::size_t i) { return doubles(network.graph.constant(node.inputs[i])); };
  const std::vector<double> scale = of(1), shift = of(2), mean = of(3), variance = of(4);
  const std::size_t plane = network.size(node.inputs[0]) / scale.size();
  std::vector<double> factors, added;
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const double factor = scale[c] / std::sqrt(variance[c] + node.real("epsilon", 1e-5F));
    factors.insert(factors.end(), plane, factor);
    added.insert(added.end(), plane, shift[c] - factor * mean[c]);
  }
  return {.operands = {{node.inputs[0], diagonal(factors)}}, .added = std::move(added)};
}

// Mean or sum over axes.
LinearNode reduction(const StaticNetwork& network, const Node& node) {
  const Shape& input = network.shape(node.inputs[0]);
  std::vector<bool> reduced(input.size(), false);
  std::vector<std::int64_t> axes = node.integers("axes", {});
  if (node.inputs.size() > 1 && node.inputs[1] != no_value)
    for (const double axis : doubles(network.graph.constant(node.inputs[1]))) axes.push_back(axis);
  for (const std::int64_t axis : axes) reduced.at(axis < 0 ? axis + std::ssize(input) : axis) = true;
  if (axes.empty()) reduced.assign(input.size(), true);
  std::vector<std::int64_t> kept, lost;
  for (std::size_t d = 0; d < input.size(); ++d) {
    kept.push_back(reduced[d] ? 1 : input[d]);
    lost.push_back(reduced[d] ? input[d] : 1);
  }
  const double factor = node.op == "ReduceMean" ? 1 / static_cast<double>(element_count(lost)) : 1;
  LinearNode made{.operands = {{node.inputs[0], {}}}, .added = {}};
  for_positions(kept, [&](const std::vector<std::int64_t>& at) {
    for_positions(lost, [&](std::vector<std::int64_t> along) {
      for (std::size_t d = 0; d < at.size(); ++d) along[d] += at[d];
      made.operands[0].rows.add(static_cast<std::int32_t>(offset(along, input)), factor);
    });
    made.operands[0].rows.end_row();
  });
  return made;
}

// Each element times a number, found by multiplying ones.
LinearNode scaled(const StaticNetwork& network, const Node& node) {
  const ValueId of = node.inputs[data_operand(network, node)];
  if (network.shape(of) != network.shape(node.outputs[0]))
    fail(Fault::unsupported, "bounds by linear functions: {} repeats its operand; bound by {} only",
         node.describe(), About{"intervals", "{method=interval}"});
  return {.operands = {{of, diagonal(doubles(run_alone(network, node, 0, array::ones(network.shape(of)))))}},
          .added = {}};
}

LinearNode affine(const StaticNetwork& network, const Node& node) {
  if (node.op == "Conv") return convolution(network, node);
  if (node.op == "Gemm" || node.op == "MatMul") return product(network, node);
  if (node.op == "BatchNormalization") return normalisation(network, node);
  if (node.op == "ReduceMean" || node.op == "ReduceSum") return reduction(network, node);
  if (node.op == "AveragePool" || node.op == "GlobalAveragePool")
    return {.operands = {{node.inputs[0], pooled(network, node, true)}}, .added = {}};
  return scaled(network, node);
}

}  // namespace

LinearNode linear_node(const StaticNetwork& network, const Node& node, std::size_t output) {
  const Rule rule = rule_of(network.graph, node);
  if (rule == Rule::sum) return sum(network, node);
  if (node.op == "Concat") return concatenation(network, node);
  return rule == Rule::movement ? movement(network, node, output) : affine(network, node);
}

Rows windows_of(const StaticNetwork& network, const Node& node) { return pooled(network, node, false); }

}  // namespace assay::bounds
