// What in a picture speaks for the decision? Writes the relevance of its pixels as a grey picture (PGM).
#include <assay/relevance.h>
#include <assay/training.h>

#include <algorithm>
#include <fstream>
#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:200");
  const training::Recipe recipe{.batch = 32, .epochs = 2};
  const Graph fresh = training::architectures().find("lenet5").build();
  const Session network(training::train(fresh, digits, nullptr, recipe, {}, silence()).graph);
  const ValueId input = network.graph().inputs()[0];
  const auto lrp = relevance::make_attribution("epsilon-plus", network, {.wanted = {input}});
  const std::size_t record = 0;
  const Tensors given = network.bind(digits->read(std::span(&record, 1)).inputs);
  const Array relevance = lrp->attribute(given, {}, std::span(&input, 1)).values.at(input).contiguous();
  const auto [least, most] = std::ranges::minmax(relevance.as<float>());
  std::ofstream picture("relevance.pgm");
  picture << "P2 28 28 255\n";
  for (const float r : relevance.as<float>()) picture << int(255 * (r - least) / (most - least)) << "\n";
  std::cout << "relevance.pgm shows " << relevance.count() << " pixels\n";
}
