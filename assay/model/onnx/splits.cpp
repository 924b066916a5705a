#include "assay/model/onnx/splits.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace assay::onnx_format {
namespace {

enum class Toward { below, above, equal_only };

// By the numbers of version 5.
Toward toward_of(int mode) {
  constexpr int at_most = 0, below = 1, at_least = 2, above = 3;
  if (mode == at_most || mode == above) return Toward::below;
  return mode == below || mode == at_least ? Toward::above : Toward::equal_only;
}

Toward toward_of(std::string_view mode) {
  if (mode == "BRANCH_LEQ" || mode == "BRANCH_GT") return Toward::below;
  return mode == "BRANCH_LT" || mode == "BRANCH_GTE" ? Toward::above : Toward::equal_only;
}

float rounded_split(double split, Toward toward) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto near = static_cast<float>(split);
  if (static_cast<double>(near) == split || std::isnan(split)) return near;
  if (toward == Toward::equal_only) return std::numeric_limits<float>::quiet_NaN();
  if (toward == Toward::below) return near > split ? std::nextafter(near, -infinity) : near;
  return near < split ? std::nextafter(near, infinity) : near;
}

std::vector<Toward> directions_of_splits(const onnx::NodeProto& trees) {
  std::vector<Toward> all;
  for (const auto& one : trees.attribute()) {
    if (one.name() != "nodes_modes") continue;
    for (const auto& mode : one.strings()) all.push_back(toward_of(std::string_view(mode)));
    for (const char mode : one.t().raw_data()) all.push_back(toward_of(static_cast<int>(mode)));
    for (const int mode : one.t().int32_data()) all.push_back(toward_of(mode));
  }
  return all;
}

std::vector<double> doubles_of(const onnx::TensorProto& tensor) {
  std::vector<double> values(tensor.double_data().begin(), tensor.double_data().end());
  if (!values.empty()) return values;
  values.resize(tensor.raw_data().size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), tensor.raw_data().data(), values.size() * sizeof(double));
  return values;
}

}  // namespace

void round_splits(onnx::NodeProto& trees) {
  for (auto& one : *trees.mutable_attribute()) {
    const bool splits = one.name() == "nodes_splits" || one.name() == "nodes_values_as_tensor";
    if (!splits || one.t().data_type() != onnx::TensorProto::DOUBLE) continue;
    const std::vector<Toward> toward = directions_of_splits(trees);
    const std::vector<double> values = doubles_of(one.t());
    if (toward.size() != values.size()) continue;  // what reads the lists says so
    one.mutable_t()->clear_double_data();
    one.mutable_t()->clear_raw_data();
    one.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
    for (std::size_t i = 0; i < values.size(); ++i)
      one.mutable_t()->add_float_data(rounded_split(values[i], toward[i]));
  }
}

}  // namespace assay::onnx_format
