// LinearAttention: a state instead of all past keys, which is read by queries and written by keys and values
// (Katharopoulos et al., "Transformers are RNNs", 2020; gates: Yang et al., "Gated linear attention
// transformers", 2024; the delta rule: Yang et al., "Gated delta networks", 2025).

#include <cmath>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

// [records, steps, heads * size] -> [records, steps, heads, size]
Array by_head(const Array& x, std::int64_t heads, std::string_view what) {
  if (x.rank() != 3 || x.size(2) % heads != 0)
    fail(Fault::model, "{} of the shape {} do not have {} heads", what, to_string(x.shape()), heads);
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads});
}

}  // namespace

// O(steps), each of which takes one product of the state with a vector for each head.
Outputs linear_attention(const Call& call) {
  const std::int64_t query_heads = call.node.integer("q_num_heads", 0),
                     heads = call.node.integer("kv_num_heads", 0);
  if (heads < 1 || query_heads < 1 || query_heads % heads != 0)
    fail(Fault::model, "{} heads of queries do not share {} of keys", query_heads, heads);
  const std::string rule = call.node.text("update_rule", "gated_delta");
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta")
    fail(Fault::model, "update_rule '{}' is not linear, gated, delta or gated_delta", rule);
  const Array q = by_head(call.input(0), query_heads, "queries"), k = by_head(call.input(1), heads, "keys"),
              v = by_head(call.input(2), heads, "values");
  const std::int64_t records = q.size(0), steps = q.size(1), size = k.size(3);
  const float named = call.node.real("scale", 0);
  const double scale = named != 0 ? named : 1 / std::sqrt(static_cast<double>(q.size(3)));
  Array state = call.has(3) ? call.input(3).to(DType::float32)
                            : array::zeros({records, heads, size, v.size(3)}, DType::float32);
  const Array decay = gated ? array::exp(by_head(call.input(4), heads, "decays")) : Array();
  const Array rate = delta ? call.input(5) : Array();
  std::vector<Array> outputs;
  for (std::int64_t t = 0; t < steps; ++t) {
    if (gated) state = state * decay.select(1, t).unsqueeze(-1);
    const Array key = k.select(1, t).unsqueeze(-1);  // [records, heads, size, 1]
    Array value = v.select(1, t).unsqueeze(-2);      // [records, heads, 1, size of values]
    if (delta)
      value =
          (value - (state * key).sum(-2, /*keepdim=*/true)) * rate.select(1, t).unsqueeze(-1).unsqueeze(-1);
    state = state + key * value;
    const Array query = q.select(1, t).reshape({records, heads, query_heads / heads, size});
    outputs.push_back((array::matmul(query, state) * scale).reshape({records, query_heads * v.size(3)}));
  }
  const Array output =
      steps > 0 ? array::stack(outputs, 1) : array::zeros({records, 0, query_heads * v.size(3)}, v.dtype());
  return {output, state};
}

}  // namespace assay::operators
