// Which neurons of a layer decide? Trains a LeNet-5 on drawn digits and ranks a layer's neurons by relevance.
#include <assay/relevance.h>
#include <assay/training.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:200");
  const training::Recipe recipe{.batch = 32, .epochs = 2};
  const Session network(training::train(training::architectures().find("lenet5").build(), digits, nullptr,
                                        recipe, {}, silence())
                            .graph);

  const Layer& layer = network.penultimate_layer();
  const auto found = relevance::analyse_importance(network, digits, std::span(&layer, 1), {}, silence());
  const relevance::LayerImportance& importance = found.layers.front();
  std::cout << found.used << " of " << found.records << " records are classified correctly\n";
  for (const std::size_t neuron : importance.ranking())
    std::cout << layer.name << " " << neuron << ": " << importance.relevance[neuron] << "\n";
  std::cout << importance.smallest_m(0.5, 100) << " neurons of " << layer.neurons << " hold half\n";
}
