// Quantised operators of common exporters (domain com.microsoft), and numbers of 4 and 8 bits: against their
// definitions written out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <assay/session.h>
#include "assay/model/short_float.h"
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

onnx::TensorProto bytes(const std::string& name, int type, const Shape& dims,
                        const std::vector<int>& values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  for (const int value : values) tensor.add_int32_data(value);
  return tensor;
}

constexpr int unsigned_byte = onnx::TensorProto::UINT8, signed_byte = onnx::TensorProto::INT8;

// A network whose input is quantised with scale 0.5 and zero point 128, and whose result is de-quantised with
// scale 0.25 and zero point 100.
OnnxFile around(const std::string& op, const Names& inputs, const Shape& shape) {
  OnnxFile file(18);
  file.input("x", shape);
  file.weight(floats("x_scale", {}, {0.5F}));
  file.weight(bytes("x_zero", unsigned_byte, {}, {128}));
  file.weight(floats("y_scale", {}, {0.25F}));
  file.weight(bytes("y_zero", unsigned_byte, {}, {100}));
  file.node("QuantizeLinear", {"x", "x_scale", "x_zero"}, {"q"});
  file.node(op, inputs, {"r"}, "middle").set_domain("com.microsoft");
  file.node("DequantizeLinear", {"r", "y_scale", "y_zero"}, {"y"});
  file.output("y");
  return file;
}

onnx::NodeProto& middle(OnnxFile& file) { return *file.proto.mutable_graph()->mutable_node(1); }

std::vector<float> run_export(const OnnxFile& file, const Shape& shape, const std::vector<float>& x) {
  const Graph graph = file.read();
  const Session session(graph, {.threads = 1});
  const Tensors values = session.run({{graph.inputs()[0], Array::of<float>(shape, x)}}, graph.outputs());
  const Array array = values.at(graph.outputs()[0]).to(DType::float32).contiguous();
  return {array.as<float>().begin(), array.as<float>().end()};
}

// What quantising to steps of `scale` in [0, 255] around a zero point leaves of a number.
float kept(double value, double scale, int zero) {
  return static_cast<float>((std::clamp(std::nearbyint(value / scale) + zero, 0.0, 255.0) - zero) * scale);
}

TEST(QuantisedExports, AddAndMultiply) {
  for (const char* op : {"QLinearAdd", "QLinearMul"}) {
    OnnxFile file =
        around(op, {"q", "x_scale", "x_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"}, {-1, 3});
    file.weight(bytes("b", signed_byte, {3}, {-3, 0, 100}));
    file.weight(floats("b_scale", {}, {0.125F}));
    file.weight(bytes("b_zero", signed_byte, {}, {1}));
    const std::vector<float> x{1.2F, -7.4F, 100};
    std::vector<float> expected;
    const float b[] = {-4 * 0.125F, -0.125F, 99 * 0.125F};
    for (std::size_t i = 0; i < 3; ++i) {
      const float a = kept(x[i], 0.5, 128);
      expected.push_back(kept(op == std::string("QLinearAdd") ? a + b[i] : a * b[i], 0.25, 100));
    }
    EXPECT_EQ(run_export(file, {1, 3}, x), expected) << op;
  }
}

TEST(QuantisedExports, FunctionsOfOneOperand) {
  OnnxFile sigmoid = around("QLinearSigmoid", {"q", "x_scale", "x_zero", "y_scale", "y_zero"}, {-1, 2});
  EXPECT_THAT(run_export(sigmoid, {1, 2}, {0, 8}), ElementsAre(0.5, 1));
  OnnxFile leaky = around("QLinearLeakyRelu", {"q", "x_scale", "x_zero", "y_scale", "y_zero"}, {-1, 2});
  set(middle(leaky), "alpha", 0.5F);
  EXPECT_THAT(run_export(leaky, {1, 2}, {-3, 2}), ElementsAre(-1.5, 2));
  OnnxFile softmax = around("QLinearSoftmax", {"q", "x_scale", "x_zero", "y_scale", "y_zero"}, {-1, 2});
  set(middle(softmax), "opset", std::int64_t{12});
  EXPECT_THAT(run_export(softmax, {1, 2}, {3, 3}), ElementsAre(0.5, 0.5));
}

TEST(QuantisedExports, PoolingWithChannelsFirstAndLast) {
  const Names inputs{"q", "x_scale", "x_zero", "y_scale", "y_zero"};
  OnnxFile first = around("QLinearGlobalAveragePool", inputs, {-1, 2, 1, 2});
  EXPECT_THAT(run_export(first, {1, 2, 1, 2}, {1, 3, -2, -4}), ElementsAre(2, -3));
  OnnxFile last = around("QLinearGlobalAveragePool", inputs, {-1, 1, 2, 2});
  set(middle(last), "channels_last", std::int64_t{1});
  last.proto.mutable_graph()->mutable_value_info()->Add()->set_name("q");
  auto& shape = *last.proto.mutable_graph()->mutable_value_info(0)->mutable_type()->mutable_tensor_type();
  shape.set_elem_type(unsigned_byte);
  for (const std::int64_t dim : {1, 1, 2, 2}) shape.mutable_shape()->add_dim()->set_dim_value(dim);
  EXPECT_THAT(run_export(last, {1, 1, 2, 2}, {1, -2, 3, -4}), ElementsAre(2, -3));
  OnnxFile windows = around("QLinearAveragePool", inputs, {-1, 1, 2, 4});
  set(middle(windows), "kernel_shape", Ints{2, 2});
  set(middle(windows), "strides", Ints{2, 2});
  EXPECT_THAT(run_export(windows, {1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), ElementsAre(3.5, 5.5));
}

TEST(QuantisedExports, Concatenation) {
  OnnxFile file = around("QLinearConcat",
                         {"y_scale", "y_zero", "q", "x_scale", "x_zero", "q", "x_scale", "x_zero"}, {-1, 2});
  set(middle(file), "axis", std::int64_t{1});
  EXPECT_THAT(run_export(file, {1, 2}, {1, -1}), ElementsAre(1, -1, 1, -1));
}

TEST(QuantisedExports, DenseLayersWithABiasInUnitsOfBothScales) {
  for (const bool stays_float : {false, true}) {
    Names inputs{"q", "x_scale", "x_zero", "b", "b_scale", "b_zero", "c", "y_scale", "y_zero"};
    if (stays_float) inputs.resize(7);
    OnnxFile file = around("QGemm", inputs, {-1, 2});
    if (stays_float) {
      file.proto.mutable_graph()->mutable_node()->RemoveLast();
      middle(file).set_output(0, "y");
    }
    set(middle(file), "transB", std::int64_t{1});
    set(middle(file), "alpha", 2.0F);
    file.weight(bytes("b", signed_byte, {2, 2}, {1, 2, 3, -4}));
    file.weight(floats("b_scale", {2}, {0.25F, 0.5F}));
    file.weight(bytes("b_zero", signed_byte, {2}, {0, 0}));
    file.weight(bytes("c", onnx::TensorProto::INT32, {2}, {4, -8}));
    // 2 * (3 * 0.25 - 1 * 0.5) + 4 * (2 * 0.5 * 0.25), 2 * (3 * 1.5 + 1 * 2) - 8 * (2 * 0.5 * 0.5)
    EXPECT_THAT(run_export(file, {1, 2}, {3, -1}), ElementsAre(1.5, 9));
  }
}

TEST(QuantisedExports, ProductsThatQuantiseOnTheWay) {
  OnnxFile file(18);
  file.input("x", {-1, 2});
  file.weight(bytes("b", signed_byte, {2, 1}, {2, -1}));
  file.weight(floats("b_scale", {}, {0.5F}));
  file.weight(floats("bias", {1}, {10}));
  file.node("DynamicQuantizeMatMul", {"x", "b", "b_scale", "", "bias"}, {"y"}).set_domain("com.microsoft");
  file.output("y");
  // From 0 to 255 in steps of 1.
  EXPECT_THAT(run_export(file, {1, 2}, {255, 100}), ElementsAre(10 + 255 - 50));
}

TEST(QuantisedExports, OthersOfTheDomainAreRefused) {
  OnnxFile file = around("QLinearReduceMean", {"q"}, {-1, 2});
  expect_error(Fault::unsupported, {"'middle'", "com.microsoft"}, [&] { file.read(); });
}

TEST(FourBits, AreUnpackedFromTheLowerHalfOn) {
  OnnxFile file(21);
  file.input("x", {-1, 3});
  onnx::TensorProto packed;
  packed.set_name("w");
  packed.set_data_type(22);  // int4
  packed.add_dims(3);
  packed.set_raw_data(std::string("\x8f\x07", 2));
  file.weight(packed);
  file.weight(floats("scale", {}, {0.5F}));
  file.node("DequantizeLinear", {"w", "scale"}, {"weights"});
  file.node("Mul", {"x", "weights"}, {"y"});
  file.output("y");
  EXPECT_THAT(run_export(file, {1, 3}, {1, 1, 1}), ElementsAre(-0.5, -4, 3.5));
  EXPECT_THAT(ops(file.read()), ElementsAre("Mul")) << "weights are constants";
}

TEST(FourBits, HaveOneScaleABlock) {
  OnnxFile file(21);
  file.input("x", {-1, 4});
  file.weight(bytes("w", signed_byte, {4, 1}, {1, 2, 3, 4}));
  file.weight(floats("scale", {2, 1}, {1, 10}));
  auto& back = file.node("DequantizeLinear", {"w", "scale"}, {"weights"});
  set(back, "axis", std::int64_t{0});
  set(back, "block_size", std::int64_t{2});
  file.node("MatMul", {"x", "weights"}, {"y"});
  file.output("y");
  EXPECT_THAT(run_export(file, {4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}),
              ElementsAre(1, 2, 30, 40));
  EXPECT_THAT(ops(file.read()), ElementsAre("MatMul"));
}

TEST(ShortFloats, RoundToTheNearestAndKeepToTheirRange) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(from_short_float(ShortFloat::e4m3fn, 0x7e), 448);
  EXPECT_EQ(from_short_float(ShortFloat::e5m2, 0x7b), 57344);
  EXPECT_EQ(from_short_float(ShortFloat::e4m3fnuz, 0x7f), 240);
  EXPECT_EQ(from_short_float(ShortFloat::e5m2fnuz, 0x01), std::ldexp(1.0F, -17));
  EXPECT_TRUE(std::isnan(from_short_float(ShortFloat::e4m3fn, 0xff)));
  EXPECT_EQ(rounded_to(ShortFloat::e4m3fn, 17, true), 16) << "between 16 and 18, to the even one";
  EXPECT_EQ(rounded_to(ShortFloat::e4m3fn, 19, true), 20);
  EXPECT_EQ(rounded_to(ShortFloat::e4m3fn, -1000, true), -448);
  EXPECT_TRUE(std::isnan(rounded_to(ShortFloat::e4m3fn, 1000, false)));
  EXPECT_EQ(rounded_to(ShortFloat::e5m2, 1e6F, false), infinity);
  // OCP MX 1.0, tables 1 to 5.
  EXPECT_EQ(from_short_float(ShortFloat::e2m1, 0x7), 6);
  EXPECT_EQ(from_short_float(ShortFloat::e2m1, 0x9), -0.5F);
  EXPECT_EQ(from_short_float(ShortFloat::e2m3, 0x1f), 7.5F);
  EXPECT_EQ(from_short_float(ShortFloat::e2m3, 0x01), 0.125F);
  EXPECT_EQ(from_short_float(ShortFloat::e3m2, 0x1f), 28);
  EXPECT_EQ(from_short_float(ShortFloat::e3m2, 0x01), 0.0625F);
  EXPECT_EQ(rounded_to(ShortFloat::e2m1, 2.5F, true), 2) << "between 2 and 3, to the even one";
  EXPECT_EQ(rounded_to(ShortFloat::e2m1, -1e9F, false), -6) << "the type has nothing beyond";
  EXPECT_EQ(rounded_to_power(3, true, "up"), 4);
  EXPECT_EQ(rounded_to_power(3, true, "down"), 2);
  EXPECT_EQ(rounded_to_power(3, true, "nearest"), 4);
  EXPECT_EQ(rounded_to_power(2.9F, true, "nearest"), 2);
  EXPECT_EQ(rounded_to_power(4, true, "up"), 4);
  EXPECT_EQ(rounded_to_power(0, true, "up"), std::ldexp(1.0F, -127));
  EXPECT_TRUE(std::isnan(rounded_to_power(0, false, "nearest")));
  for (const int type : {17, 18, 19, 20, 23, 24, 27, 28}) {
    const auto kind = static_cast<ShortFloat>(type);
    for (int bits = 0; bits < 1 << bits_of(kind); ++bits) {
      const float value = from_short_float(kind, static_cast<std::uint8_t>(bits));
      if (!std::isfinite(value)) continue;
      EXPECT_EQ(rounded_to(kind, value, true), value) << type << " " << bits;
      EXPECT_EQ(to_short_float(kind, value), bits) << type << " " << value;
    }
  }
}

}  // namespace
}  // namespace assay
