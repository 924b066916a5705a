// Weights of .safetensors files: what is read, and that damaged and hostile files are refused.

#include "assay/model/safetensors.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include <assay/adapt.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include "onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

fs::path place(const std::string& name) {
  const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  const fs::path folder = fs::path(::testing::TempDir()) / (std::string("safetensors_") + test->name());
  fs::create_directories(folder);
  return folder / name;
}

template <typename T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  return raw(std::vector<std::uint64_t>{length}) + header + data;
}

struct Part {
  std::string name, type, shape, bytes;
};
std::string file_of(const std::vector<Part>& parts) {
  std::string header = R"({"__metadata__":{"format":"pt"})", data;
  for (const Part& part : parts) {
    header += fmt::format(R"(,"{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", part.name, part.type,
                          part.shape, data.size(), data.size() + part.bytes.size());
    data += part.bytes;
  }
  return file_of(header + "}", data);
}

fs::path put(const std::string& bytes) {
  const fs::path file = place("w.safetensors");
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

// y = x w + b.
Graph network() {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.weight(floats("w", {2, 2}, {1, 2, 3, 4}));
  file.weight(floats("b", {2}, {5, 6}));
  file.output("y");
  file.node("MatMul", {"x", "w"}, {"h"}, "fc");
  file.node("Add", {"h", "b"}, {"y"}, "add");
  return file.read();
}

std::vector<float> values(const Graph& graph, const std::string& name) {
  const auto all = graph.constant(*graph.find_value(name)).as<float>();
  return {all.begin(), all.end()};
}

const Part w{"w", "F32", "[2,2]", raw<float>({10, 20, 30, 40})}, b{"b", "F32", "[2]", raw<float>({50, 60})};

void refuse(Fault fault, const Names& parts, const std::string& bytes) {
  const fs::path file = put(bytes);
  Names all = parts;
  all.push_back(file.string());
  expect_error(fault, all, [&] { with_weights(network(), file); });
}

TEST(Safetensors, EveryTypeOfFloatBecomesFloat32) {
  const Graph graph = with_weights(network(), put(file_of({w, b})));
  EXPECT_THAT(values(graph, "w"), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(values(graph, "b"), ElementsAre(50, 60));
  EXPECT_EQ(graph.notices(), network().notices());
  const auto b_as = [](const std::string& type, const std::string& bytes) {
    return with_weights(network(), put(file_of({w, {"b", type, "[2]", bytes}})));
  };
  EXPECT_THAT(values(b_as("F64", raw<double>({0.5, -1e-3})), "b"), ElementsAre(0.5F, -1e-3F));
  // 1.5 and the smallest subnormal number; 1.5 and -2.
  EXPECT_THAT(values(b_as("F16", raw<std::uint16_t>({0x3E00, 0x0001})), "b"),
              ElementsAre(1.5F, std::ldexp(1.F, -24)));
  const Graph brain = b_as("BF16", raw<std::uint16_t>({0x3FC0, 0xC000}));
  EXPECT_THAT(values(brain, "b"), ElementsAre(1.5F, -2));
  EXPECT_THAT(brain.notices(), ::testing::Contains("1 BF16 tensor was converted to float32"));
}

TEST(Safetensors, CountersOfTrainingArePassedOver) {
  const Part counter{"bn.num_batches_tracked", "I64", "[]", raw<std::int64_t>({7})};
  EXPECT_THAT(values(with_weights(network(), put(file_of({w, counter, b}))), "b"), ElementsAre(50, 60));
}

TEST(Safetensors, NamesAndShapesAreThoseOfTheNetwork) {
  refuse(Fault::mismatch, {"no tensor is given for 'b'"}, file_of({w}));
  refuse(Fault::mismatch, {"no tensor is given for 'b'", "no constant for 'bias'"},
         file_of({w, {"bias", "F32", "[2]", b.bytes}}));
  refuse(Fault::mismatch, {"no constant for 'x'"}, file_of({w, b, {"x", "F32", "[1]", raw<float>({1})}}));
  refuse(Fault::mismatch, {"'b'", "[1, 2]", "[2]"}, file_of({w, {"b", "F32", "[1,2]", b.bytes}}));
  refuse(Fault::mismatch, {"no tensor is given for 'b', 'w'"}, file_of("{}", ""));
  std::vector<Part> many{w, b};
  for (int i = 0; i < 9; ++i) many.push_back({"more" + std::to_string(i), "F32", "[0]", ""});
  refuse(Fault::mismatch, {"'more4' and 4 more"}, file_of(many));
}

TEST(Safetensors, OtherTypesAreRefused) {
  const auto as = [](const std::string& type, const std::string& bytes) {
    return file_of({w, {"b", type, "[2]", bytes}});
  };
  refuse(Fault::unsupported, {"'b'", "I64"}, as("I64", std::string(16, '\0')));
  refuse(Fault::unsupported, {"'b'", "F8_E4M3"}, as("F8_E4M3", std::string(2, '\0')));
  refuse(Fault::unsupported, {"'b'", "'F99' is not known"}, as("F99", std::string(2, '\0')));
}

TEST(Safetensors, HeadersThatDoNotFitTheFileAreRefused) {
  const auto header = [](const std::string& text, const std::string& data = "abcdefgh") {
    return file_of(text, data);
  };
  const auto tensor = [&](const std::string& name, const std::string& rest) {
    return "\"" + name + R"(":{"dtype":"F32",)" + rest + "}";
  };
  refuse(Fault::model, {"cut short"}, "");
  refuse(Fault::model, {"cut short"}, "1234567");
  refuse(Fault::model, {"cut short"}, std::string(8, '\xff'));
  refuse(Fault::model, {"not a JSON object"}, header("nonsense"));
  refuse(Fault::model, {"not a JSON object"}, header("[]"));
  refuse(Fault::model, {"nested"}, header(std::string(5000, '[')));
  refuse(Fault::model, {"'a'", "'dtype'"}, header(R"({"a":{}})"));
  refuse(Fault::model, {"'a'", "'dtype'"}, header(R"({"a":3})"));
  refuse(Fault::model, {"'a'", "'shape'"}, header("{" + tensor("a", R"("data_offsets":[0,8])") + "}"));
  refuse(Fault::model, {"'a'", "'data_offsets'"}, header("{" + tensor("a", R"("shape":[2])") + "}"));
  for (const char* shape : {"[-2]", "[2.0]", "[\"2\"]", "[1e3]"})
    refuse(Fault::model, {"'a'", "sizes of axes"},
           header("{" + tensor("a", fmt::format(R"("shape":{},"data_offsets":[0,8])", shape)) + "}"));
  for (const char* offsets :
       {"[0]", "[0,8,8]", "[0,\"8\"]", "[-1,7]", "[8,0]", "[0,9]", "[0,18446744073709551615]"})
    refuse(Fault::model, {"'a'"},
           header("{" + tensor("a", fmt::format(R"("shape":[2],"data_offsets":{})", offsets)) + "}"));
  for (const char* shape : {"[3]", "[9223372036854775807,9223372036854775807]", "[18446744073709551615]",
                            "[4611686018427387904,4]"})
    refuse(Fault::model, {"'a'"},
           header("{" + tensor("a", fmt::format(R"("shape":{},"data_offsets":[0,8])", shape)) + "}"));
  const std::string axes = "[1" + [] {
    std::string more;
    for (int i = 0; i < 70; ++i) more += ",1";
    return more;
  }() + "]";
  refuse(Fault::model, {"71 axes"},
         header("{" + tensor("a", "\"shape\":" + axes + R"(,"data_offsets":[0,4])") + "}"));
}

TEST(Safetensors, OverlapsGapsAndDoubleNamesAreRefused) {
  const auto two = [](const std::string& first, int begin, int end, const std::string& second, int from,
                      int to) {
    const auto tensor = [](const std::string& name, int at, int until) {
      return fmt::format(R"("{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})", name, until - at, at,
                         until);
    };
    return file_of("{" + tensor(first, begin, end) + "," + tensor(second, from, to) + "}", "abcdefgh");
  };
  refuse(Fault::model, {"'c'", "overlap"}, two("a", 0, 5, "c", 4, 8));
  refuse(Fault::model, {"overlap"}, two("a", 0, 8, "c", 0, 8));
  refuse(Fault::model, {"1 bytes in front of tensor 'c'"}, two("a", 0, 3, "c", 4, 8));
  refuse(Fault::model, {"1 bytes at the end"}, two("a", 0, 3, "c", 3, 7));
  refuse(Fault::model, {"'a' twice"}, two("a", 0, 4, "a", 4, 8));
}

TEST(Safetensors, HeadersBeyondTheLimitAreNotRead) {
  const std::uint64_t length = std::uint64_t{17} << 20;
  const fs::path file = put(raw(std::vector<std::uint64_t>{length}));
  fs::resize_file(file, 8 + length);
  expect_error(Fault::resources, {"more than the 16777216 allowed"}, [&] { with_weights(network(), file); });
}

TEST(Safetensors, NamesThatActOnATerminalAreShown) {
  refuse(Fault::mismatch, {"'\\x1b[2J'"}, file_of({w, b, {"\\u001b[2J", "F32", "[1]", raw<float>({1})}}));
}

// Anything but a network or an Error is a defect.
TEST(Safetensors, AnyDamageIsAnError) {
  const std::string whole = file_of({w, b});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(with_weights(network(), put(whole.substr(0, size))), Error) << size;
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k) damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
    try {
      with_weights(network(), put(damaged));
    } catch (const Error&) {
    }
  }
}

TEST(Safetensors, AFileIsNamedBehindItsNetwork) {
  const fs::path weights = put(file_of({w, b})), net = place("net.onnx");
  write_onnx(network(), net);
  EXPECT_THAT(values(read_model(net.string() + ",weights=" + weights.string()), "b"), ElementsAre(50, 60));
  const NamedNetwork named("given", network());
  EXPECT_THAT(values(read_model("@given,weights=" + weights.string()), "b"), ElementsAre(50, 60));
  expect_error(Fault::io, {"absent.safetensors", "no such file"},
               [&] { read_model(net.string() + ",weights=absent.safetensors"); });
  expect_error(Fault::unsupported, {weights.string(), "without their network", ",weights="},
               [&] { read_model(weights); });
}

}  // namespace
}  // namespace assay
