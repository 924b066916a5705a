#pragma once

// The published architectures as graphs with zero weights, ready for initialise() and train().

#include <string>
#include <vector>

#include "assay/model/graph.h"

namespace assay {

struct ArchitectureInfo {
  std::string name, summary, paper;
  std::int64_t parameters;
  Shape record_shape;
  Graph (*build)();
};

// lenet1, lenet4, lenet5, deepmutation-a, -b, -c, cifar-convnet, dave2, dave2-dropout.
const std::vector<ArchitectureInfo>& architectures();
Graph build_architecture(const std::string& name);

}  // namespace assay
