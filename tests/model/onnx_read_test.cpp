// What the reader makes of ordinary files: values, constants, types, names, external data.

#include <gtest/gtest.h>

#include <cmath>

#include "assay/support/files/file.h"
#include "onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;

// y = x * w, w in any form.
OnnxFile with_weight(onnx::TensorProto tensor) {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.weight(std::move(tensor));
  file.output("y", Shape{-1, 2});
  file.node("Mul", {"x", "w"}, {"y"}, "n");
  return file;
}

onnx::TensorProto raw(int type, const Shape& shape, const void* data, std::size_t size) {
  onnx::TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(type);
  tensor.mutable_dims()->Assign(shape.begin(), shape.end());
  tensor.set_raw_data(data, size);
  return tensor;
}

TEST(OnnxRead, InputsOutputsAndWeights) {
  const Graph graph = with_weight(floats("w", {2}, {3, 4})).read();
  ASSERT_EQ(graph.inputs().size(), 1U);
  EXPECT_EQ(graph.value(graph.inputs()[0]).shape, (Shape{-1, 2}));
  EXPECT_EQ(graph.value(graph.outputs()[0]).shape, (Shape{-1, 2}));
  const Array weight = constant_input(graph, "n", 1);
  EXPECT_EQ(weight.as<float>()[1], 4);
  EXPECT_EQ(graph.name(), "test");
  EXPECT_TRUE(graph.notices().empty());
}

TEST(OnnxRead, InitializersListedAsInputsAreNoInputs) {
  OnnxFile file = with_weight(floats("w", {2}, {3, 4}));
  file.input("w", {2});
  EXPECT_EQ(file.read().inputs().size(), 1U);
}

TEST(OnnxRead, SixteenBitFloatsBecomeFloat32WithANotice) {
  // 1, -2, 65504 (largest), 2^-24 (smallest), infinity, NaN, -0.
  const std::uint16_t halves[] = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00, 0x7e00, 0x8000};
  const Graph graph = with_weight(raw(onnx::TensorProto::FLOAT16, {7}, halves, sizeof halves)).read();
  const Array weight = constant_input(graph, "n", 1);
  const auto values = weight.as<float>();
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -2);
  EXPECT_EQ(values[2], 65504);
  EXPECT_EQ(values[3], std::ldexp(1.0f, -24));
  EXPECT_TRUE(std::isinf(values[4]));
  EXPECT_TRUE(std::isnan(values[5]));
  EXPECT_TRUE(values[6] == 0 && std::signbit(values[6]));
  ASSERT_EQ(graph.notices().size(), 1U);
  EXPECT_EQ(graph.notices()[0], "1 float16 tensor was converted to float32");

  const std::uint16_t brain[] = {0x3f80, 0xc040};
  const Graph other = with_weight(raw(onnx::TensorProto::BFLOAT16, {2}, brain, sizeof brain)).read();
  EXPECT_EQ(constant_input(other, "n", 1).as<float>()[0], 1);
  EXPECT_EQ(constant_input(other, "n", 1).as<float>()[1], -3);
}

TEST(OnnxRead, EveryHalfAgreesWithItsDefinition) {
  std::vector<std::uint16_t> halves;
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    if ((i >> 10 & 0x1f) != 0x1f) halves.push_back(static_cast<std::uint16_t>(i));
  }
  const auto count = std::ssize(halves);
  const Graph graph =
      with_weight(raw(onnx::TensorProto::FLOAT16, {count}, halves.data(), halves.size() * 2)).read();
  const Array weight = constant_input(graph, "n", 1);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const int exponent = halves[i] >> 10 & 0x1f, fraction = halves[i] & 0x3ff;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(weight.as<float>()[i], (halves[i] & 0x8000) != 0 ? -magnitude : magnitude) << halves[i];
  }
}

TEST(OnnxRead, OtherTypesAreWidenedOrKept) {
  const auto held = [](int type, const void* data, std::size_t size) {
    const Graph graph = with_weight(raw(type, {2}, data, size)).read();
    return constant_input(graph, "n", 1);
  };
  const double doubles[] = {0.5, -1e300};
  EXPECT_EQ(held(onnx::TensorProto::DOUBLE, doubles, 16).as<float>()[0], 0.5f);
  EXPECT_EQ(held(onnx::TensorProto::DOUBLE, doubles, 16).as<float>()[1], -INFINITY);
  const std::uint16_t shorts[] = {65535, 1};
  EXPECT_EQ(held(onnx::TensorProto::UINT16, shorts, 4).as<std::int32_t>()[0], 65535);
  EXPECT_EQ(held(onnx::TensorProto::INT16, shorts, 4).as<std::int32_t>()[0], -1);
  const std::uint32_t words[] = {0xffffffffu, 1};
  EXPECT_EQ(held(onnx::TensorProto::UINT32, words, 8).as<std::int64_t>()[0], 4294967295);
  EXPECT_EQ(held(onnx::TensorProto::INT32, words, 8).as<std::int32_t>()[0], -1);
  const std::int64_t longs[] = {-5, 5};
  EXPECT_EQ(held(onnx::TensorProto::INT64, longs, 16).as<std::int64_t>()[0], -5);
  const std::uint64_t unsigned_longs[] = {9, 1};
  EXPECT_EQ(held(onnx::TensorProto::UINT64, unsigned_longs, 16).as<std::int64_t>()[0], 9);
}

TEST(OnnxRead, BytesOtherThanZeroAreTrue) {
  const std::uint8_t bytes[] = {7, 0};
  const Graph graph = with_weight(raw(onnx::TensorProto::BOOL, {2}, bytes, 2)).read();
  const Array weight = constant_input(graph, "n", 1);
  EXPECT_EQ(static_cast<int>(weight.data()[0]), 1);
  EXPECT_FALSE(weight.as<bool>()[1]);
}

TEST(OnnxRead, TypedFieldsAreRead) {
  onnx::TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::FLOAT16);
  tensor.add_dims(2);
  tensor.add_int32_data(0x3c00);
  tensor.add_int32_data(0xc000);
  EXPECT_EQ(constant_input(with_weight(tensor).read(), "n", 1).as<float>()[1], -2);
  tensor.set_data_type(onnx::TensorProto::INT8);
  tensor.set_int32_data(0, -7);
  expect_error(Fault::model, {"'w'", "does not fit"}, [&] { with_weight(tensor).read(); });
  tensor.set_int32_data(1, 5);
  EXPECT_EQ(constant_input(with_weight(tensor).read(), "n", 1).as<std::int8_t>()[0], -7);
}

TEST(OnnxRead, InputsOfOtherTypesAreDeclaredAsHeld) {
  OnnxFile file;
  file.input("x", {-1, 2}, onnx::TensorProto::FLOAT16);
  file.output("y");
  file.node("Relu", {"x"}, {"y"});
  const Graph graph = file.read();
  EXPECT_EQ(graph.value(graph.inputs()[0]).dtype, DType::float32);
  EXPECT_EQ(graph.notices().size(), 1U);
}

TEST(OnnxRead, ConstantsInEveryForm) {
  const auto constant = [](const std::function<void(onnx::NodeProto&)>& fill) {
    OnnxFile file;
    file.input("x", {-1, 2});
    file.output("y");
    fill(file.node("Constant", {}, {"c"}, "constant"));
    file.node("Mul", {"x", "c"}, {"y"}, "n");
    const Graph graph = file.read();
    EXPECT_EQ(graph.nodes().size(), 1U);
    return constant_input(graph, "n", 1);
  };
  EXPECT_EQ(constant([](auto& n) { set(n, "value_float", 2.0f); }).as<float>()[0], 2);
  EXPECT_EQ(constant([](auto& n) { set(n, "value_floats", std::vector<float>{1, 2}); }).shape(), Shape{2});
  EXPECT_EQ(constant([](auto& n) { set(n, "value_int", std::int64_t{3}); }).shape(), Shape{});
  EXPECT_EQ(constant([](auto& n) { set(n, "value_ints", Ints{3, 4}); }).template as<std::int64_t>()[1], 4);
  const auto tensor = [](auto& n) {
    auto& attribute = *n.add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    *attribute.mutable_t() = floats("", {1, 2}, {5, 6});
  };
  EXPECT_EQ(constant(tensor).as<float>()[1], 6);
  expect_error(Fault::unsupported, {"every output", "texts"},
               [&] { constant([](auto& n) { set(n, "value_string", "a"); }); });
  expect_error(Fault::model, {"'constant'"}, [&] { constant([](auto&) {}); });
}

TEST(OnnxRead, IdentityCastAndConstantOfShapeOfConstantsAreFolded) {
  OnnxFile file = with_weight(floats("w0", {2}, {3, 4}));
  file.weight(integers("dims", {2}));
  auto& nodes = *file.proto.mutable_graph()->mutable_node();
  nodes.Clear();
  file.node("Identity", {"w0"}, {"w"}, "identity");
  set(file.node("Cast", {"w"}, {"i"}, "cast"), "to", std::int64_t{onnx::TensorProto::INT64});
  file.node("ConstantOfShape", {"dims"}, {"zeros"}, "zeros");
  file.node("Sum", {"x", "w", "w0", "zeros"}, {"s"}, "n");
  file.node("Add", {"s", "i"}, {"y"}, "add");
  const Graph graph = file.read();
  EXPECT_EQ(ops(graph), (std::vector<std::string>{"Sum", "Add"}));
  EXPECT_TRUE(constant_input(graph, "n", 1).shares_storage(constant_input(graph, "n", 2)));
  EXPECT_EQ(graph.value(node_of(graph, "n").inputs[1]).name, "w");
  EXPECT_EQ(constant_input(graph, "n", 3).as<float>()[1], 0);
  EXPECT_EQ(constant_input(graph, "add", 1).as<std::int64_t>()[1], 4);
  EXPECT_EQ(graph.parameter_count(), 6);
}

TEST(OnnxRead, WhatIsTooLargeIsNotFolded) {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.weight(integers("dims", {std::int64_t{1} << 20, std::int64_t{1} << 20}));
  file.output("y");
  file.node("ConstantOfShape", {"dims"}, {"huge"}, "huge");
  file.node("Add", {"x", "huge"}, {"y"}, "n");
  EXPECT_EQ(ops(file.read()), (std::vector<std::string>{"ConstantOfShape", "Add"}));
}

TEST(OnnxRead, NodesWithoutANameTakeTheirOutputs) {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.output("12");
  file.node("Relu", {"x"}, {"hidden"});
  file.node("Neg", {"hidden"}, {"12"});
  const Graph graph = file.read();
  EXPECT_EQ(graph.nodes()[0].name, "hidden");
  EXPECT_EQ(graph.nodes()[1].name, "Neg_12");
}

TEST(OnnxRead, NodesOfTheSameNameAreToldApartWithANotice) {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.output("y");
  file.node("Relu", {"x"}, {"n"});  // would be named after its output, which the next node has as its name
  file.node("Neg", {"n"}, {"h"}, "n");
  file.node("Abs", {"h"}, {"y"}, "n");
  const Graph graph = file.read();
  EXPECT_EQ(node_of(graph, "n").op, "Neg");
  EXPECT_EQ(graph.nodes()[0].name, "n_1");
  EXPECT_EQ(graph.nodes()[2].name, "n_2");
  EXPECT_EQ(graph.notices().size(), 1U);
}

TEST(OnnxRead, DimensionsThatAreNotPositiveAreDynamic) {
  OnnxFile file;
  auto& info = file.input("x", {-1, 3, 4});
  info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(0);
  info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(2)->set_dim_value(-1);
  file.output("y");
  file.node("Relu", {"x"}, {"y"});
  const Graph graph = file.read();
  EXPECT_EQ(graph.value(graph.inputs()[0]).shape, (Shape{-1, -1, -1}));
}

// ---- external data
// ----------------------------------------------------------------------------------------------

onnx::TensorProto external(const std::string& name, const std::string& location,
                           const std::string& offset = "", const std::string& length = "") {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(2);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto entry = [&](const char* key, const std::string& value) {
    auto& added = *tensor.add_external_data();
    added.set_key(key);
    added.set_value(value);
  };
  entry("location", location);
  if (!offset.empty()) entry("offset", offset);
  if (!length.empty()) entry("length", length);
  return tensor;
}

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    folder = fresh_folder("assay_onnx_external");
    const float values[] = {1, 2, 3, 4};
    write_file(folder / "sub" / "weights.bin",
               std::string_view(reinterpret_cast<const char*>(values), sizeof values));
    write_file(folder.parent_path() / "assay_outside.bin", std::string(16, 'x'));
  }
  void refuse(const onnx::TensorProto& tensor, const Names& parts, Fault fault = Fault::model) {
    expect_error(fault, parts, [&] { with_weight(tensor).read(folder); });
  }
  std::filesystem::path folder;
};

TEST_F(ExternalData, IsReadFromItsOffset) {
  const Graph graph = with_weight(external("w", "sub/weights.bin", "8", "8")).read(folder);
  EXPECT_EQ(constant_input(graph, "n", 1).as<float>()[1], 4);
  EXPECT_EQ(constant_input(with_weight(external("w", "sub/weights.bin")).read(folder), "n", 1).as<float>()[1],
            2);
}

TEST_F(ExternalData, RegionsBeyondTheFileAreRefused) {
  refuse(external("w", "sub/weights.bin", "12"), {"'w'", "16 bytes", "8 from 12"});
  refuse(external("w", "sub/weights.bin", "18446744073709551612"), {"'w'"});
  refuse(external("w", "sub/weights.bin", "0", "16"), {"'w'", "needs 8 bytes", "have 16"});
  refuse(external("w", "sub/weights.bin", "-8"), {"'w'", "offset"});
  refuse(external("w", "sub/weights.bin", "8", "99999999999999999999999"), {"'w'", "length"});
  onnx::TensorProto huge = external("w", "sub/weights.bin");
  huge.set_dims(0, std::int64_t{1} << 61);
  refuse(huge, {"'w'"});
  huge.set_dims(0, std::int64_t{1} << 62);
  refuse(huge, {"'w'"}, Fault::resources);
}

TEST_F(ExternalData, MayNotLeaveTheFolder) {
  refuse(external("w", "../assay_outside.bin"), {"'w'", "outside"});
  refuse(external("w", (folder / "sub" / "weights.bin").string()), {"'w'", "relative"});
  std::filesystem::create_symlink(folder.parent_path() / "assay_outside.bin", folder / "link.bin");
  refuse(external("w", "link.bin"), {"'w'", "outside"});
  std::filesystem::create_directory_symlink(folder.parent_path(), folder / "up");
  refuse(external("w", "up/assay_outside.bin"), {"'w'", "outside"});
}

TEST_F(ExternalData, MustBeARegularFileThatExists) {
  refuse(external("w", "none.bin"), {"'w'", "'none.bin' is missing"});
  refuse(external("w", "sub"), {"'w'", "not a regular file"});
  refuse(external("w", ""), {"'w'", "without a location"});
  refuse(external("w", "a\nb"), {"'w'", "printable"});
}

TEST_F(ExternalData, RegionsThatOverlapAreRefused) {
  const auto two = [&](const char* first, const char* second) {
    OnnxFile file = with_weight(external("w", "sub/weights.bin", first));
    file.weight(external("v", "sub/../sub/weights.bin", second));
    return file.read(folder);
  };
  EXPECT_NO_THROW(two("0", "8"));
  EXPECT_NO_THROW(two("8", "0"));
  for (const auto& offsets : {std::pair{"0", "4"}, std::pair{"4", "0"}, std::pair{"0", "0"}}) {
    expect_error(Fault::model, {"'v'", "overlap"}, [&] { two(offsets.first, offsets.second); });
  }
}

TEST_F(ExternalData, DataInsideAndOutsideContradict) {
  onnx::TensorProto both = external("w", "sub/weights.bin");
  both.add_float_data(1);
  refuse(both, {"'w'", "inside the file and outside"});
}

}  // namespace
}  // namespace assay
