// Builds a two-layer network with the library, writes it as ONNX, reads it back and runs it on one record.
// Prints the layers and the output, which is 0.5 * max(0, 1*1 + 2*1) = 1.5.

#include <assay/model.h>
#include <assay/session.h>

#include <iostream>

int main() {
  using namespace assay;
  GraphBuilder build("embed");
  const ValueId x = build.input("input", DType::float32, {-1, 2});
  const ValueId w = build.constant("w", Array::of<float>({2, 1}, std::vector<float>{1, 1}));
  const ValueId v = build.constant("v", Array::of<float>({1, 1}, std::vector<float>{0.5F}));
  const ValueId hidden = build.add("MatMul", "hidden", {x, w});
  const ValueId active = build.add("Relu", "active", {hidden});
  build.output(build.add("MatMul", "output", {active, v}));
  write_onnx(build.build(), "embed.onnx");

  const Session session(read_model("embed.onnx"));
  for (const Layer& layer : session.layers())
    std::cout << layer.name << ": " << layer.neurons << " neurons\n";
  const Tensors given = session.bind(Array::of<float>({1, 2}, std::vector<float>{1, 2}));
  const ValueId output = session.logits();
  const Tensors result = session.run(given, std::span(&output, 1));
  std::cout << "output " << result.at(output).as<float>()[0] << "\n";
}
