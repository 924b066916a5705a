#include "cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/model.h>
#include <assay/session.h>
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/tensor.h"

namespace assay::conformance {
namespace {

namespace fs = std::filesystem;

// As the ONNX project compares, with room for values near zero: libraries sum in other orders.
constexpr double relative = 1e-3, absolute = 1e-6;

std::string bytes_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(text).str();
}

// bfloat16 numbers are stored as the whole numbers of their bits where the model declares the type alone.
Array read_tensor(const fs::path& file, const onnx::ValueInfoProto& declared) {
  onnx::TensorProto tensor;
  if (!tensor.ParseFromString(bytes_of(file)))
    fail(Fault::unsupported, "{} holds no tensor", file.filename().string());
  if (declared.type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16 &&
      tensor.data_type() == onnx::TensorProto::UINT16)
    tensor.set_data_type(onnx::TensorProto::BFLOAT16);
  return onnx_format::TensorReader(file.parent_path()).read(tensor, file.filename().string());
}

// A unit in the last place of the type in which the data were computed, of numbers around 1 that were summed;
// Assay computes in single precision.
double rounding_of(const onnx::ValueInfoProto& declared) {
  switch (declared.type().tensor_type().elem_type()) {
    case onnx::TensorProto::FLOAT16:
      return 0x1p-10;
    case onnx::TensorProto::BFLOAT16:
      return 0x1p-7;
    default:
      return 0;
  }
}

bool is_near(double actual, double expected, double rounding) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  const double size = std::abs(expected);
  return std::abs(actual - expected) <= absolute + relative * size + rounding * std::max(size, 1.0);
}

// What differs; empty where nothing does.
std::string difference(const Array& actual, const Array& expected, double rounding) {
  if (actual.shape() != expected.shape()) {
    return fmt::format("the shape is {}, not {}", to_string(actual.shape()), to_string(expected.shape()));
  }
  const Array have = actual.detach().to(DType::float64).contiguous(),
              want = expected.to(DType::float64).contiguous();
  for (std::int64_t i = 0; i < have.count(); ++i) {
    const double a = have.elements<double>()[i], e = want.elements<double>()[i];
    if (!is_near(a, e, rounding)) return fmt::format("element {} is {}, not {}", i, a, e);
  }
  return {};
}

// The inputs of a set by the graph's values. A file may belong to an input that the graph holds as a
// constant.
Tensors given_in(const fs::path& set, const onnx::GraphProto& proto, const Graph& graph) {
  Tensors given;
  for (int i = 0; i < proto.input_size(); ++i) {
    const fs::path file = set / fmt::format("input_{}.pb", i);
    if (!fs::exists(file)) continue;
    const auto id = graph.find_value(proto.input(i).name());
    if (!id) fail(Fault::unsupported, "input '{}' is no value of the graph", proto.input(i).name());
    given.emplace(*id, read_tensor(file, proto.input(i)));
  }
  return given;
}

// Networks whose inputs are declared whole are taken for networks of one record: an axis of records stands in
// front of what they are given. Whether it does.
bool put_batch_axis_first(const Graph& graph, Tensors& given) {
  const auto is_one_record = [&](const auto& entry) {
    return std::ssize(graph.value(entry.first).shape) == entry.second.rank() + 1;
  };
  if (given.empty() || !std::ranges::all_of(given, is_one_record)) return false;
  for (auto& [id, tensor] : given) tensor = tensor.unsqueeze(0);
  return true;
}

std::string run_set(const fs::path& set, const onnx::GraphProto& proto, const Session& session) {
  const Graph& graph = session.graph();
  Tensors given = given_in(set, proto, graph);
  const bool one_record = put_batch_axis_first(graph, given);
  Tensors results = session.run(given, graph.outputs());
  if (one_record)
    for (auto& [id, tensor] : results) tensor = tensor.squeeze(0);
  for (std::size_t o = 0; o < graph.outputs().size(); ++o) {
    const fs::path file = set / fmt::format("output_{}.pb", o);
    if (!fs::exists(file)) continue;
    const onnx::ValueInfoProto& declared = proto.output(static_cast<int>(o));
    const std::string differs =
        difference(results.at(graph.outputs()[o]), read_tensor(file, declared), rounding_of(declared));
    if (!differs.empty()) return fmt::format("{}, output {}: {}", set.filename().string(), o, differs);
  }
  return {};
}

std::vector<fs::path> sets_of(const Case& test) {
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(test.folder)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set"))
      sets.push_back(entry.path());
  }
  std::ranges::sort(sets);
  return sets;
}

}  // namespace

std::vector<Case> find_cases(const fs::path& data) {
  std::vector<Case> cases;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    const fs::path folder = entry.path().parent_path();
    if (entry.path().filename() != "model.onnx") continue;
    Case test{folder.lexically_relative(data).generic_string(), folder};
    if (!sets_of(test).empty()) cases.push_back(std::move(test));
  }
  std::ranges::sort(cases, {}, &Case::name);
  return cases;
}

Result run_case(const Case& test, const std::vector<std::string>& engines) {
  try {
    const onnx::ModelProto proto = onnx_format::parse(bytes_of(test.folder / "model.onnx"));
    const Graph graph = read_model(test.folder / "model.onnx");
    for (const std::string& engine : engines) {
      const Session session(graph, {.threads = 1, .engine = engine});
      for (const fs::path& set : sets_of(test)) {
        const std::string differs = run_set(set, proto.graph(), session);
        if (!differs.empty()) return {Outcome::wrong, fmt::format("engine {}: {}", engine, differs)};
      }
    }
    return {Outcome::passed, {}};
  } catch (const Error& error) {
    return {Outcome::refused, error.what()};
  }
}

}  // namespace assay::conformance
