// The published networks, from their .h5 and from the .onnx converted elsewhere. Needs the data folder; skips without.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "assay/model/keras.h"
#include "network.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

fs::path models() {
  const char* folder = std::getenv("ASSAY_SHARED_DATA");
  return (folder ? fs::path(folder) : fs::path(ASSAY_SOURCE_DIR) / ".." / "shared" / "data") / "models";
}

TEST(KerasPublished, LeNetsOfDeepImportanceRead) {
  if (!fs::exists(models())) GTEST_SKIP() << "no data folder";
  for (const char* name : {"LeNet1", "LeNet4", "LeNet5"}) {
    const Graph graph = read_keras_h5(models() / "deepimportance" / (std::string(name) + ".h5"));
    const auto outputs = run_graph(graph, {random_values({3, 28, 28, 1}, 1)});
    ASSERT_EQ(outputs[0].shape, (Shape{3, 10}));
    for (std::int64_t row = 0; row < 3; ++row) {
      double sum = 0;
      for (std::int64_t c = 0; c < 10; ++c) sum += at(outputs[0], {row, c});
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

}  // namespace
}  // namespace assay::testing
