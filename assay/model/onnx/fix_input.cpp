// An input that becomes a constant: the network is read anew, so that what follows from it is folded.

#include <assay/adapt.h>
#include <assay/error.h>

#include "assay/model/onnx/reader.h"
#include "assay/model/onnx/write.h"

namespace assay {
namespace {

Array filled_with(const Value& input, double number) {
  for (const std::int64_t size : input.shape) {
    if (size < 0)
      fail(Fault::usage, "input '{}' has the shape {}; one that is open cannot be fixed", input.name,
           to_string(input.shape));
  }
  const std::vector<double> values(static_cast<std::size_t>(element_count(input.shape)), number);
  return Array::of<double>(input.shape, values).to(input.dtype);
}

}  // namespace

Graph with_fixed_input(const Graph& graph, std::string_view input, double value) {
  onnx::ModelProto model = onnx_format::body_model(graph);
  auto& inputs = *model.mutable_graph()->mutable_input();
  const auto id = graph.find_value(input);
  int place = -1;
  for (int i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name() == input) place = i;
  }
  if (place < 0 || !id) fail(Fault::usage, "network '{}' has no input '{}'", graph.name(), input);
  if (inputs.size() == 1)
    fail(Fault::usage, "input '{}' is the only one of network '{}' and cannot be fixed", input, graph.name());
  onnx_format::write_tensor(filled_with(graph.value(*id), value), std::string(input),
                            *model.mutable_graph()->add_initializer());
  inputs.DeleteSubrange(place, 1);
  return onnx_format::Reader(std::move(model), {}, graph.name()).body();
}

}  // namespace assay
