#pragma once

// A quantiser for tests: the int8 form of a network, in the way exporters write it.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/model.h>
#include <assay/session.h>

namespace assay::test {

// Weights of Conv and of Gemm with transB as int8, one scale an output channel, behind a DequantizeLinear.
// The input and what each layer gives go through QuantizeLinear and DequantizeLinear, with scales that hold
// what `records` make of them.
inline Graph quantised(const Graph& graph, const Array& records) {
  const Session session(graph, {.threads = 1});
  std::vector<ValueId> values{graph.inputs()[0]};
  for (const Layer& layer : session.layers()) values.push_back(layer.value);
  const Tensors seen = session.run(session.bind(records), values);
  GraphBuilder edit(graph);
  const auto zero = [&](const std::string& name, std::int64_t count) {
    return edit.constant(name, Array::zeros(DType::int8, count == 1 ? Shape{} : Shape{count}));
  };
  for (const ValueId id : values) {
    const std::string name = graph.value(id).name;
    const float scale = seen.at(id).abs().max().item<float>() / 127;
    const ValueId step = edit.constant(name + "/int8_scale", Array::of<float>({}, std::vector{scale}));
    const ValueId none = zero(name + "/zero", 1);
    const ValueId whole = edit.insert_after(id, "QuantizeLinear", name + "/quantised", {step, none});
    edit.insert_after(whole, "DequantizeLinear", name + "/dequantised", {step, none});
  }
  for (const Node& node : graph.nodes()) {
    const bool by_row = node.op == "Conv" || (node.op == "Gemm" && node.integer("transB", 0) != 0);
    if (!by_row || !graph.is_constant(node.inputs[1])) continue;
    const Array& weights = graph.constant(node.inputs[1]);
    const std::int64_t rows = weights.shape()[0], width = weights.count() / rows;
    std::vector<std::int8_t> whole;
    std::vector<float> scales;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto row =
          weights.as<float>().subspan(static_cast<std::size_t>(r * width), static_cast<std::size_t>(width));
      float most = 1e-6F;
      for (const float w : row) most = std::max(most, std::abs(w));
      scales.push_back(most / 127);
      for (const float w : row) whole.push_back(static_cast<std::int8_t>(std::nearbyint(w / scales.back())));
    }
    const std::string name = graph.value(node.inputs[1]).name;
    const ValueId stored = edit.constant(name + "/int8", Array::of<std::int8_t>(weights.shape(), whole));
    const ValueId step = edit.constant(name + "/int8_scale", Array::of<float>({rows}, scales));
    const ValueId back = edit.add("DequantizeLinear", name + "/dequantised",
                                  {stored, step, zero(name + "/zero", rows)}, {{"axis", std::int64_t{0}}});
    edit.redirect(node.inputs[1], back);
  }
  return edit.build();
}

}  // namespace assay::test
