#pragma once

// The tools for translating one operation: its arguments, in any position, and a place for nodes.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/model/keras/layer.h"

namespace assay::keras::operations {

using nlohmann::json;

constexpr std::int64_t real_type = 1, whole_type = 7, truth_type = 9;  // numbers of ONNX's types
constexpr std::int64_t longest_axis = std::int64_t{1} << 31;           // whatever a file says

using Keys = std::initializer_list<const char*>;

// One operand of arithmetic: a tensor, or a constant of the file.
struct Operand {
  bool constant = false;
  KerasTensor tensor;
  Array array;

  std::size_t rank() const { return constant ? array.shape().size() : tensor.rank(); }
  Shape shape() const { return constant ? array.shape() : tensor.shape; }
  DType dtype() const { return constant ? array.dtype() : tensor.dtype; }
};

// One call of one operation, with its arguments: by position, by name, or in the config.
class Operation {
 public:
  Operation(LayerBuilder& layer, std::span<const KerasTensor> inputs);

  // The name of Keras's function: "NotEqual", "math.not_equal" and "__operators__.ne" are not_equal.
  const std::string& name() const { return name_; }
  LayerBuilder& layer() { return layer_; }

  // An argument by its place or one of its names; null when it is not there.
  const json& argument(std::size_t place, Keys names) const;
  bool flag(std::size_t place, Keys names, bool otherwise) const;
  double number(std::size_t place, Keys names, double otherwise) const;
  // Integers, one or a list of them; a size that is not known is -1.
  std::optional<std::vector<std::int64_t>> whole_numbers(std::size_t place, Keys names) const;
  // The one whole number of an argument; none where it is absent or a list of several.
  std::optional<std::int64_t> whole_number(std::size_t place, Keys names) const;
  // The axes of a reduction among those of `x`; the batch may not be one.
  std::vector<std::int64_t> axes(std::size_t place, const KerasTensor& x) const;
  // The one axis that an argument names among `rank`; not the batch.
  std::int64_t one_axis(std::size_t place, std::size_t rank) const;
  // An axis that is not the batch.
  std::int64_t own_axis(std::int64_t axis, std::size_t rank) const;
  // A size as often as `count` says. Throws Error{model} where no axis is that long.
  std::int64_t times(std::int64_t size, std::int64_t count) const;

  KerasTensor tensor(std::size_t place, Keys names) const;
  // The first argument in Keras's layout, without mask.
  KerasTensor first();
  KerasTensors tensors(std::size_t place, Keys names) const;
  Operand operand(std::size_t place, Keys names) const;

  // A node on the way to the result, and its value.
  ValueId step(const char* op, const std::string& suffix, std::vector<ValueId> operands,
               std::map<std::string, Attribute> attributes = {});
  // The node that gives the result, a tensor like another one.
  KerasTensor result(const KerasTensor& like, const char* op, std::vector<ValueId> operands,
                     std::map<std::string, Attribute> attributes = {});
  ValueId list(const char* name, const std::vector<std::int64_t>& values);

  // "__tuple__", "__tensor__" and the like as what they hold.
  static const json& bare(const json& value);

 private:
  const json& part(const char* key) const;
  const KerasTensor& tensor_of(const json& value) const;
  Array constant(const json& given, bool exact) const;

  LayerBuilder& layer_;
  std::span<const KerasTensor> inputs_;
  std::string name_;
  const json* arguments_;
};

// The shape with these axes, in rising order, left out or kept as 1.
void reduce_shape(Shape& shape, const std::vector<std::int64_t>& axes, bool keep);

}  // namespace assay::keras::operations
