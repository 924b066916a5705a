#include "assay/model/graph_hash.h"

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "assay/support/files/hash.h"

namespace assay::inline model {
namespace {

struct HashAttribute {
  Hasher& hasher;
  void operator()(std::int64_t v) const { hasher.number(v); }
  void operator()(float v) const { hasher.real(v); }
  void operator()(const std::string& v) const { hasher.text(v); }
  void operator()(const Array& v) const {
    hasher.number(static_cast<int>(v.dtype()))
        .text(array::to_string(v.shape()))
        .bytes(v.data(), v.byte_size());
  }
  template <typename T>
  void operator()(const std::vector<T>& v) const {
    hasher.number(std::ssize(v));
    for (const T& item : v) (*this)(item);
  }
};

// Inputs with type and shape, nodes in order, each constant where it is read first, outputs.
class GraphHash {
 public:
  explicit GraphHash(const Graph& graph) : values_(graph.values()), seen_(graph.values().size()) {
    inputs(graph.inputs());
    for (const Node& one : graph.nodes()) node(one);
    references(graph.outputs());
  }
  std::string hex() const { return hasher_.hex(); }

 private:
  void inputs(std::span<const ValueId> ids) {
    hasher_.number(std::ssize(ids));
    for (const ValueId id : ids) {
      const Value& input = values_[index_of(id)];
      hasher_.text(input.name).number(static_cast<int>(input.dtype)).text(array::to_string(input.shape));
    }
  }
  void node(const Node& node) {
    hasher_.text(node.name).text(node.op);
    references(node.inputs);
    references(node.outputs);
    for (const auto& [key, attribute] : node.attributes) {
      hasher_.text(key).number(static_cast<std::int64_t>(attribute.index()));
      std::visit(HashAttribute{hasher_}, attribute);
    }
  }
  void references(std::span<const ValueId> ids) {
    hasher_.number(std::ssize(ids));
    for (const ValueId id : ids) reference(id);
  }
  void reference(ValueId id) {
    if (id == no_value) {
      hasher_.text("");
      return;
    }
    hasher_.text(values_[index_of(id)].name);
    if (seen_[index_of(id)] || !values_[index_of(id)].constant) return;
    seen_[index_of(id)] = true;
    HashAttribute{hasher_}(*values_[index_of(id)].constant);
  }
  Hasher hasher_;
  std::span<const Value> values_;
  std::vector<bool> seen_;
};

}  // namespace

const std::string& Graph::hash() const {
  static const std::string none;
  if (!hash_) return none;
  std::call_once(hash_->once, [&] { hash_->hex = GraphHash(*this).hex(); });
  return hash_->hex;
}

}  // namespace assay::inline model
