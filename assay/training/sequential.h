#pragma once

// Writes the published architectures down layer by layer, with zero weights.

#include <string>

#include <assay/graph.h>
#include <assay/model.h>

namespace assay::training {

class Sequential {
 public:
  // Images of `channels` x `side` x `side`.
  Sequential(std::string name, std::int64_t channels, std::int64_t side);

  // Square kernels. `same` padding keeps the extent at stride 1.
  Sequential& conv(const std::string& name, std::int64_t filters, std::int64_t kernel, bool same,
                   std::int64_t stride = 1);
  Sequential& relu();
  Sequential& max_pool();  // 2 x 2
  Sequential& dropout(float rate);
  Sequential& flatten();
  Sequential& dense(const std::string& name, std::int64_t units);
  // Element-wise nodes by operator; named after the layer before.
  Sequential& apply(const std::string& op);
  Sequential& scale(float factor);

  Graph build();

 private:
  ValueId zeros(const std::string& name, Shape shape);

  GraphBuilder build_;
  ValueId at_;
  std::int64_t channels_, side_;
  std::string layer_ = "input";
  int pools_ = 0, dropouts_ = 0;
};

}  // namespace assay::training
