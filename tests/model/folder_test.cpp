// Folders as exporters of language models write them, and what comes with such networks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "assay/model/folder.h"
#include "onnx_build.h"

namespace assay::testing_onnx {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string network_bytes() { return one_node(18, "Relu").bytes(); }

TEST(NetworkFolder, HoldsTheNetworkWhereExportersPutIt) {
  for (const char* const file : {"model.onnx", "onnx/model.onnx", "encoder.onnx"}) {
    const fs::path folder = fresh_folder("exported");
    put(folder / file, network_bytes());
    const Graph graph = read_model(folder);
    EXPECT_EQ(graph.name(), "exported") << file;
    EXPECT_THAT(ops(graph), ElementsAre("Relu")) << file;
    EXPECT_EQ(graph.hash(), read_model(folder / file).hash()) << file;
  }
}

TEST(NetworkFolder, SaysWhichNetworksThereAre) {
  const fs::path folder = fresh_folder("several");
  put(folder / "encoder.onnx", network_bytes());
  put(folder / "decoder.onnx", network_bytes());
  expect_error(Fault::usage, {"several networks and no model.onnx", "decoder.onnx, encoder.onnx"},
               [&] { read_model(folder); });
  const fs::path empty = fresh_folder("none");
  expect_error(Fault::unsupported, {"a folder without a network", "model.onnx"}, [&] { read_model(empty); });
}

TEST(NetworkFolder, BelongsToTheNetworkInIt) {
  const fs::path folder = fresh_folder("belongs");
  put(folder / "onnx/model.onnx", network_bytes());
  put(folder / "config.json", "{}");
  EXPECT_EQ(folder_of_network(folder.string()), folder);
  EXPECT_TRUE(fs::equivalent(*folder_of_network((folder / "onnx/model.onnx").string()), folder));
  const fs::path plain = fresh_folder("plain");
  put(plain / "net.onnx", network_bytes());
  const NamedNetwork alone("net", read_model(plain / "net.onnx")),
      kept("kept", read_model(plain / "net.onnx"), folder.string());
  for (const std::string& name : {(plain / "net.onnx").string(), std::string("@net"), std::string()})
    EXPECT_FALSE(folder_of_network(name)) << name;
  EXPECT_EQ(folder_of_network("@kept"), folder);
}

TextConfig config_of(const std::string& json) {
  const fs::path folder = fresh_folder("config");
  put(folder / "config.json", json);
  return read_text_config(folder).value();
}

TEST(TextConfig, HasLabelsPositionsAndTokens) {
  const TextConfig config = config_of(
      R"({"id2label": {"1": "POSITIVE", "0": "NEGATIVE"}, "vocab_size": 30522, "max_position_embeddings": 512})");
  EXPECT_THAT(config.labels, ElementsAre("NEGATIVE", "POSITIVE"));
  EXPECT_EQ(config.vocabulary, 30522);
  EXPECT_EQ(config.positions, 512);
  EXPECT_EQ(config_of(R"({"n_positions": 1024})").positions, 1024);
  // The positions of padding and those before it are no token's.
  EXPECT_EQ(
      config_of(R"({"model_type": "roberta", "pad_token_id": 1, "max_position_embeddings": 514})").positions,
      512);
  EXPECT_THAT(config_of(R"({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}})").labels, IsEmpty());
  EXPECT_FALSE(read_text_config(fresh_folder("without")));
}

TEST(TextConfig, SaysWhatIsWrong) {
  expect_error(Fault::data, {"config.json", "not JSON"}, [] { config_of("{"); });
  expect_error(Fault::data, {"not a JSON object"}, [] { config_of("[]"); });
  expect_error(Fault::data, {"id2label", "'2'"}, [] { config_of(R"({"id2label": {"0": "a", "2": "b"}})"); });
  expect_error(Fault::data, {"the same name"}, [] { config_of(R"({"id2label": {"0": "a", "1": "a"}})"); });
  expect_error(Fault::data, {"id2label"}, [] { config_of(R"({"id2label": [1]})"); });
}

// What attention of one step reads: keys of the tokens before and those of this step.
OnnxFile with_cache(bool gives_present = true) {
  OnnxFile file;
  const auto dims = [](onnx::ValueInfoProto& info, const Names& names) {
    auto& shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape.dim_size(); ++i)
      if (!names[static_cast<std::size_t>(i)].empty())
        shape.mutable_dim(i)->set_dim_param(names[static_cast<std::size_t>(i)]);
  };
  dims(file.input("input_ids", {-1, -1}, onnx::TensorProto::INT64), {"batch", "tokens"});
  dims(file.input("past_key_values.0.key", {-1, -1, 2}), {"batch", "past", ""});
  file.weight(floats("table", {3, 2}, {1, 2, 3, 4, 5, 6}));
  file.node("Gather", {"table", "input_ids"}, {"keys"});
  set(file.node("Concat", {"past_key_values.0.key", "keys"}, {gives_present ? "present.0.key" : "all_keys"}),
      "axis", std::int64_t{1});
  file.node("Shape", {"past_key_values.0.key"}, {"sizes"});
  file.output(gives_present ? "present.0.key" : "all_keys");
  file.output("sizes");
  return file;
}

TEST(Caches, AreEmptyForRecordsThatAreWholeTexts) {
  const Graph graph = with_cache().read();
  ASSERT_EQ(graph.inputs().size(), 1u);
  EXPECT_EQ(graph.value(graph.inputs()[0]).name, "input_ids");
  ASSERT_EQ(graph.notices().size(), 1u);
  EXPECT_THAT(graph.notices()[0],
              testing::HasSubstr(
                  "what was computed of earlier tokens ('past_key_values.0.key', 1 in all) is not an input"));
}

TEST(Caches, AreInputsWhereNoOutputIsTheNextStep) { EXPECT_EQ(with_cache(false).read().inputs().size(), 2u); }

}  // namespace
}  // namespace assay::testing_onnx
