#pragma once

// Gates of LSTM and GRU layers, computed from the layer's inputs and hidden states.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/tensor.h>

namespace assay::inspection {

// LSTM: input, output, forget, candidate, cell (the cell state). GRU: update, reset, candidate. Empty for
// other operators.
std::vector<std::string> gate_names(std::string_view op);

// All of them by name, [records, steps, directions * hidden] each. `inputs`: the node's, undefined where
// absent; `hidden`: its first output. Beyond the end of a record's sequence they are NaN.
std::map<std::string, Array> gates_of(const Node& node, std::span<const Array> inputs, const Array& hidden);

// The first output of a recurrent node, [steps, directions, records, hidden] or by its layout, as [records,
// steps, directions * hidden].
Array by_record(const Node& node, const Array& hidden);

}  // namespace assay::inspection
