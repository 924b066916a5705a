// The way back through a segment: gradients of values come together from all that reads them.

#include "assay/engine/channels/operators.h"

namespace assay::channels {

void Compiler::hold(const Value& value) {
  if (value.kind == Value::Kind::buffer) ++owners_[value.index];
}

// What is kept is never overwritten, so that the way back can be gone several times.
void Compiler::on_way_back(ValueId result, const std::vector<Value>& kept, Step step) {
  if (!carries_gradient(result)) return;
  for (const Value& value : kept) hold(value);
  program_.reads_values |= !kept.empty();
  steps_.push_back({result, std::move(step)});
}

void Compiler::set_gradient(ValueId id, const Value& value) {
  hold(value);
  gradients_[id] = value;
}

void Compiler::drop_gradient(ValueId id) {
  release(gradients_.at(id).index);
  gradients_.erase(id);
}

void Compiler::contribute(ValueId id, const Value& part) {
  if (!carries_gradient(id)) return;
  if (part.shape == shape(id) && !gradients_.contains(id)) return set_gradient(id, part);
  Value sum = gradient_to_add_to(id);
  for (std::size_t d = 0; d < sum.shape.size(); ++d) {
    if (sum.shape[d] != part.shape[d]) sum.strides[d] = 0;
  }
  sum.shape = part.shape;
  add(accumulation(part, sum));
}

std::optional<Value> Compiler::take_gradient(ValueId id, const Shape& strides) {
  const auto found = gradients_.find(id);
  if (found == gradients_.end()) return std::nullopt;
  const Value so_far = as(found->second, strides);
  temporaries_.push_back(found->second.index);
  --owners_[found->second.index];
  gradients_.erase(found);
  return so_far;
}

// Others may look at the same numbers: those of a sum go to all its operands.
Value Compiler::gradient_to_add_to(ValueId id) {
  const auto found = gradients_.find(id);
  const bool there = found != gradients_.end();
  if (there && is_held_once(found->second) && is_dense(found->second)) return found->second;
  const Shape all = shape(id);
  Value own = temporary(all, there && is_dense(found->second) ? found->second.strides : plain_strides(all));
  if (there) {
    add(arrangement(found->second, own));
    drop_gradient(id);
  } else {
    add(clearing(own));
  }
  set_gradient(id, own);
  return own;
}

void Compiler::go_back(std::span<const ValueId> wanted) {
  program_.backward = program_.operations.size();
  for (const ValueId id : request_.keep) {
    const Shape all = shape(id);
    program_.seeds.push_back(fresh(all, plain_strides(all)));
    contribute(id, program_.seeds.back());
  }
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const ValueId result = steps_[i].result;
    if (!gradients_.contains(result)) continue;
    const Value gradient = gradients_.at(result);
    steps_[i].run(gradient);
    drop_gradient(result);
    free_temporaries();
  }
  for (const ValueId id : wanted) {
    const auto found = gradients_.find(id);
    program_.gradients.push_back(found == gradients_.end() ? std::nullopt : std::optional(found->second));
  }
}

}  // namespace assay::channels
