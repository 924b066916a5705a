#include "assay/model/onnx/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "assay/model/onnx/body.h"
#include "assay/model/stable_order.h"

namespace assay::onnx_format {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// The names that a node reads, including those captured by its bodies.
std::set<std::string> read_names(const onnx::NodeProto& node) {
  std::set<std::string> names(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) names.merge(captured_names(attribute.g()));
  }
  names.erase("");
  return names;
}

// For each node the places of those that make what it reads.
std::vector<std::vector<std::size_t>> makers_of(const Nodes& nodes) {
  std::map<std::string, std::size_t> made;
  std::size_t place = 0;
  for (const onnx::NodeProto& node : nodes) {
    for (const std::string& name : node.output()) made.emplace(name, place);
    ++place;
  }
  std::vector<std::vector<std::size_t>> makers;
  for (const onnx::NodeProto& node : nodes) {
    auto& of_node = makers.emplace_back();
    for (const std::string& name : read_names(node)) {
      if (const auto found = made.find(name); found != made.end()) of_node.push_back(found->second);
    }
  }
  return makers;
}

bool in_order(const std::vector<std::vector<std::size_t>>& makers) {
  for (std::size_t n = 0; n < makers.size(); ++n) {
    if (std::ranges::any_of(makers[n], [&](std::size_t maker) { return maker >= n; })) return false;
  }
  return true;
}

void sort_nodes(Nodes& nodes) {
  const auto makers = makers_of(nodes);
  if (in_order(makers)) return;
  std::vector<std::size_t> order = stable_order(makers);
  std::vector<bool> placed(makers.size());
  for (const std::size_t n : order) placed[n] = true;
  for (std::size_t n = 0; n < placed.size(); ++n) {
    if (!placed[n]) order.push_back(n);
  }
  Nodes sorted;
  sorted.Reserve(nodes.size());
  for (const std::size_t n : order) sorted.Add()->Swap(nodes.Mutable(static_cast<int>(n)));
  nodes.Swap(&sorted);
}

void sort_all(Nodes& nodes) {
  for (auto& node : nodes) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) sort_all(*attribute.mutable_g()->mutable_node());
      for (auto& graph : *attribute.mutable_graphs()) sort_all(*graph.mutable_node());
    }
  }
  sort_nodes(nodes);
}

}  // namespace

void sort_nodes(onnx::ModelProto& model) {
  sort_all(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) sort_all(*function.mutable_node());
}

}  // namespace assay::onnx_format
