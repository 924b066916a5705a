// Builds a network node by node, and another from it in which one neuron is cut off; the rest is shared.
#include <assay/model.h>
#include <assay/session.h>

#include <iostream>

int main() {
  using namespace assay;
  GraphBuilder build("two neurons");
  const ValueId x = build.input("x", DType::float32, {-1, 2});
  const ValueId w = build.constant("w", Array::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4}));
  const ValueId active = build.add("Relu", "active", {build.add("MatMul", "hidden", {x, w})});
  build.output(build.add("ReduceSum", "sum", {active}));
  const Graph graph = build.build();

  GraphBuilder edit(graph);
  edit.replace_constant(w, Array::of<float>({2, 2}, std::vector<float>{1, 0, 3, 0}));
  for (const Graph& network : {graph, edit.build()}) {
    const Session session(network);
    const ValueId sum = network.outputs()[0];
    const Tensors given = session.bind(Array::of<float>({1, 2}, std::vector<float>{1, 1}));
    std::cout << "sum " << session.run(given, std::span(&sum, 1)).at(sum).as<float>()[0] << "\n";
  }
}
