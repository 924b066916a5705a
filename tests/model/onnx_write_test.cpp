// Written files: what they contain, and that reading them back gives the same graph.

#include <gtest/gtest.h>

#include <assay/model.h>
#include "assay/support/files/file.h"
#include "onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;

onnx::ModelProto parsed(const std::filesystem::path& path) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(read_file(path)));
  return model;
}

// A graph with every kind of attribute, element type and optional input.
Graph varied() {
  GraphBuilder builder("varied");
  const ValueId x = builder.input("x", DType::float32, {-1, 2, -1});
  const ValueId w = builder.constant("w", Array::of<float>({2}, {1, -0.0f}));
  const ValueId low = builder.constant("low", Array::of<float>({}, {0.5f}));
  const ValueId empty = builder.constant("empty", Array::of<std::int64_t>({0}, std::vector<std::int64_t>{}));
  const ValueId clipped = builder.add("Clip", "clip", {x, no_value, low});
  const ValueId odd = builder.add("Odd", "odd", {clipped, w, empty},
                                  {{"i", std::int64_t{-3}},
                                   {"f", 0.25f},
                                   {"s", std::string("text")},
                                   {"is", std::vector<std::int64_t>{1, -1}},
                                   {"fs", std::vector<float>{1, 2}},
                                   {"ss", std::vector<std::string>{"a", ""}},
                                   {"none", std::vector<std::int64_t>{}},
                                   {"t", Array::of<std::int32_t>({1, 2}, {7, 8})}});
  const ValueId mask = builder.value("mask");
  const ValueId dropped = builder.value("dropped");
  builder.node(
      {.name = "drop", .op = "Dropout", .inputs = {odd}, .outputs = {dropped, mask}, .attributes = {}});
  const ValueId best = builder.add("ArgMax", "best", {dropped});
  for (const ValueId id : {dropped, mask, best}) builder.output(id);
  return builder.build();
}

TEST(OnnxWrite, ReadingBackGivesTheSameGraph) {
  const auto folder = fresh_folder("assay_onnx_write");
  const Graph graph = varied();
  write_onnx(graph, folder / "a.onnx");
  const Graph back = read_model(folder / "a.onnx");
  EXPECT_EQ(back.hash(), graph.hash());
  EXPECT_TRUE(back.notices().empty());
  EXPECT_EQ(back.name(), "a");
  EXPECT_EQ(back.value(*back.find_value("best")).dtype, DType::int64);
  EXPECT_EQ(back.value(*back.find_value("mask")).dtype, DType::boolean);
}

TEST(OnnxWrite, AnOutputWithoutElementsIsReadAgainWhateverItsOtherAxes) {
  const auto folder = fresh_folder("assay_onnx_write_none");
  GraphBuilder build("none");
  build.output(build.constant(
      "none", Array::zeros(DType::float32, {0, std::int64_t{1} << 21, std::int64_t{1} << 20})));
  const Graph graph = build.build();
  write_onnx(graph, folder / "none.onnx");
  EXPECT_EQ(read_model(folder / "none.onnx").hash(), graph.hash());
}

TEST(OnnxWrite, TheSameGraphGivesTheSameBytes) {
  const auto folder = fresh_folder("assay_onnx_write");
  write_onnx(varied(), folder / "a.onnx");
  write_onnx(varied(), folder / "b.onnx");
  EXPECT_EQ(read_file(folder / "a.onnx"), read_file(folder / "b.onnx"));
}

TEST(OnnxWrite, TheBatchIsCalledNAndUnusedConstantsAreLeftOut) {
  const auto folder = fresh_folder("assay_onnx_write");
  GraphBuilder builder;
  const ValueId x = builder.input("x", DType::float32, {-1, 3});
  builder.constant("unused", Array::of<float>({1}, {1.0f}));
  builder.output(builder.add("Relu", "relu", {x}));
  write_onnx(builder.build(), folder / "a.onnx");
  const onnx::ModelProto model = parsed(folder / "a.onnx");
  EXPECT_EQ(model.graph().initializer_size(), 0);
  EXPECT_EQ(model.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "N");
  EXPECT_EQ(model.graph().input(0).type().tensor_type().shape().dim(1).dim_value(), 3);
}

TEST(OnnxWrite, OutputsHaveAShapeAsFarAsItFollows) {
  const auto folder = fresh_folder("assay_onnx_write");
  const auto shape_of = [&](const std::string& op, std::vector<Shape> operands,
                            std::map<std::string, Attribute> attributes = {}) {
    GraphBuilder builder;
    const ValueId x = builder.input("x", DType::float32, {-1, 3, 2, 2});
    std::vector<ValueId> inputs{op == "Gemm" ? builder.add("Flatten", "flat", {x}) : x};
    for (const Shape& shape : operands)
      inputs.push_back(builder.constant(
          "",
          Array::of<float>(shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), 1.0f))));
    builder.output(builder.add(op, "n", inputs, std::move(attributes)));
    write_onnx(builder.build(), folder / "a.onnx");
    const onnx::ModelProto model = parsed(folder / "a.onnx");
    const auto& type = model.graph().output(0).type().tensor_type();
    EXPECT_TRUE(type.has_shape()) << op;
    Shape shape;
    for (const auto& dim : type.shape().dim()) shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    return shape;
  };
  EXPECT_EQ(shape_of("Relu", {}), (Shape{-1, 3, 2, 2}));
  EXPECT_EQ(shape_of("Flatten", {}), (Shape{-1, 12}));
  EXPECT_EQ(shape_of("Gemm", {{5, 12}}, {{"transB", std::int64_t{1}}}), (Shape{-1, 5}));
  EXPECT_EQ(shape_of("MatMul", {{2, 7}}), (Shape{-1, 3, 2, 7}));
  EXPECT_EQ(shape_of("Add", {{4, 1, 1, 1, 2}}), (Shape{4, -1, 3, 2, 2}));
  EXPECT_EQ(shape_of("GlobalAveragePool", {}), (Shape{-1, -1, -1, -1})) << "the rank alone";
}

TEST(OnnxWrite, TheOperatorSetIsTheLowestThatHasEveryOperator) {
  const auto folder = fresh_folder("assay_onnx_write");
  const auto versions = [&](const std::string& op, std::map<std::string, Attribute> attributes) {
    GraphBuilder builder;
    const ValueId x = builder.input("x", DType::float32, {-1, 4, 8, 8});
    const ValueId w = builder.constant("w", Array::of<float>({4}, {1, 1, 1, 1}));
    builder.output(builder.add(op, "n", {x, w, w}, std::move(attributes)));
    write_onnx(builder.build(), folder / "a.onnx");
    const onnx::ModelProto model = parsed(folder / "a.onnx");
    return std::pair{model.opset_import(0).version(), model.ir_version()};
  };
  using Versions = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(versions("Sum", {}), (Versions{18, 8}));
  EXPECT_EQ(versions("Pad", {{"mode", std::string("reflect")}}), (Versions{18, 8}));
  EXPECT_EQ(versions("Pad", {{"mode", std::string("wrap")}}), (Versions{19, 9}));
  EXPECT_EQ(versions("AveragePool", {{"dilations", std::vector<std::int64_t>{2, 2}}}), (Versions{19, 9}));
  EXPECT_EQ(versions("Gelu", {}), (Versions{20, 9}));
  EXPECT_EQ(versions("GroupNormalization", {{"num_groups", std::int64_t{2}}}), (Versions{21, 10}));
  expect_error(Fault::unsupported, {"'n'", "Swish", "Sigmoid"}, [&] { versions("Swish", {}); });
}

TEST(OnnxWrite, LargeWeightsGoToAFileBeside) {
  const auto folder = fresh_folder("assay_onnx_write");
  GraphBuilder builder;
  std::vector<float> large(1000);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i);
  const ValueId x = builder.input("x", DType::float32, {-1, 1000});
  const ValueId a = builder.constant("a", Array::of<float>({1000}, large));
  const ValueId b = builder.constant("b", Array::of<float>({10, 100}, large));
  const ValueId small = builder.constant("small", Array::of<float>({1}, {2.0f}));
  builder.output(builder.add("Sum", "n", {x, a, b, small}));
  const Graph graph = builder.build();
  write_onnx(graph, folder / "m.onnx", 7999);
  EXPECT_EQ(std::filesystem::file_size(folder / "m.onnx.data"), 4096U + 4000U);
  EXPECT_TRUE(parsed(folder / "m.onnx").graph().initializer(2).has_raw_data());
  EXPECT_EQ(read_model(folder / "m.onnx").hash(), graph.hash());
  write_onnx(graph, folder / "inside.onnx", 8004);
  EXPECT_FALSE(std::filesystem::exists(folder / "inside.onnx.data"));
}

TEST(OnnxWrite, AFolderInTheWayIsAnError) {
  const auto folder = fresh_folder("assay_onnx_write");
  std::filesystem::create_directory(folder / "a.onnx");
  expect_error(Fault::io, {"a.onnx"}, [&] { write_onnx(varied(), folder / "a.onnx"); });
}

TEST(OnnxWrite, UpgradedGraphsComeBackEqual) {
  const auto folder = fresh_folder("assay_onnx_write");
  OnnxFile file(9);
  file.input("x", {-1, 2, 4});
  for (const char* name : {"scale", "bias", "mean", "variance"})
    file.weight(floats(name, {2, 4}, std::vector<float>(8, 1)));
  file.output("y");
  set(file.node("Clip", {"x"}, {"c"}), "max", 6.0f);
  set(file.node("Softmax", {"c"}, {"s"}), "axis", std::int64_t{1});
  file.node("Dropout", {"s"}, {"d"});
  set(file.node("ReduceMean", {"d"}, {"y"}), "axes", Ints{2});
  const Graph graph = file.read();
  write_onnx(graph, folder / "a.onnx");
  EXPECT_EQ(read_model(folder / "a.onnx").hash(), graph.hash());
}

}  // namespace
}  // namespace assay
