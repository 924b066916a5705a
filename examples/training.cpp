// Trains a published architecture on data, says how good it is, and writes it as ONNX.
#include <assay/evaluate.h>
#include <assay/model.h>
#include <assay/training.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr train = open_dataset("digits:500"), test = open_dataset("digits:100,seed=2");
  const training::Recipe recipe{.optimiser = "adam", .learning_rate = 0.002, .batch = 32, .epochs = 3};
  const auto trained =
      training::train(training::architectures().find("lenet5").build(), train, test, recipe, {}, silence());
  for (const training::EpochResult& epoch : trained.epochs) std::cout << "loss " << epoch.loss << "\n";
  write_onnx(trained.graph, "lenet5.onnx");

  const Session network(read_model("lenet5.onnx"));
  const Evaluation evaluation = evaluate(network, test, {}, silence());
  std::cout << "accuracy " << evaluation.accuracy.value() << "\n";
  std::cout << (evaluation.accuracy > 0.5 ? "it has learned\n" : "it has not learned\n");
}
