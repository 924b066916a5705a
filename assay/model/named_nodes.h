#pragma once

// Nodes that are added to a graph for one purpose, with names under one prefix.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <assay/model.h>

namespace assay::inline model {

class NamedNodes {
 public:
  NamedNodes(GraphBuilder& edit, std::string prefix) : edit_(edit), prefix_(std::move(prefix)) {}

  GraphBuilder& edit() { return edit_; }
  // `role`: what the value is, below the prefix; empty: what all is for.
  std::string name(const std::string& role) const {
    return edit_.unused_name(role.empty() ? prefix_ : prefix_ + "/" + role);
  }
  ValueId add(const std::string& op, const std::string& role, std::vector<ValueId> inputs,
              std::map<std::string, Attribute> attributes = {}) {
    return edit_.add(op, name(role), std::move(inputs), std::move(attributes));
  }
  // A constant list of integers, and a constant number.
  ValueId whole(const std::string& role, const std::vector<std::int64_t>& numbers) {
    return edit_.constant(name(role), Array::of<std::int64_t>({std::ssize(numbers)}, numbers));
  }
  ValueId real(const std::string& role, float number) {
    return edit_.constant(name(role), Array::of<float>({}, std::vector{number}));
  }
  ValueId as_float(ValueId id, const std::string& role) {
    return add("Cast", role, {id}, {{"to", onnx_float}});
  }
  ValueId as_truth(ValueId id, const std::string& role) {
    return add("Cast", role, {id}, {{"to", onnx_bool}});
  }
  // A reduction along one axis, which is kept with size 1 or goes away.
  ValueId reduced(const std::string& op, const std::string& role, ValueId id, std::int64_t axis, bool keep) {
    return add(op, role, {id, whole(role + "/axis", {axis})}, {{"keepdims", std::int64_t{keep}}});
  }

 private:
  static constexpr std::int64_t onnx_float = 1, onnx_bool = 9;

  GraphBuilder& edit_;
  std::string prefix_;
};

}  // namespace assay::inline model
