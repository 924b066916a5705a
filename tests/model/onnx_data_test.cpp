// Every .onnx of the shared data folder is read, and comes back equal from a file of our own.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <assay/model.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

fs::path shared_data() {
  const char* folder = std::getenv("ASSAY_SHARED_DATA");
  return folder != nullptr ? fs::path(folder) : fs::path(ASSAY_SOURCE_DIR) / ".." / "shared" / "data";
}

std::vector<fs::path> onnx_files() {
  std::vector<fs::path> files;
  if (!fs::exists(shared_data())) return files;
  for (const auto& entry : fs::recursive_directory_iterator(shared_data())) {
    if (entry.path().extension() == ".onnx") files.push_back(entry.path());
  }
  return files;
}

TEST(OnnxData, EveryFileIsReadAndComesBackEqual) {
  const auto files = onnx_files();
  if (files.empty()) GTEST_SKIP() << "no shared data";
  const fs::path copy = fs::path(testing::TempDir()) / "assay_onnx_data.onnx";
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    const Graph graph = read_model(file);
    EXPECT_GT(graph.parameter_count(), 0);
    EXPECT_EQ(graph.inputs().size(), 1U);
    write_onnx(graph, copy);
    EXPECT_EQ(read_model(copy).hash(), graph.hash());
  }
}

}  // namespace
}  // namespace assay
