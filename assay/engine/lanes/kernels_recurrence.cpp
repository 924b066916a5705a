// What recurrent cells do element by element apart from the functions of their gates.

#include "assay/engine/lanes/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_recurrence.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes16 = hn::CappedTag<float, width>;
using Vec = hn::Vec<Lanes16>;

// work(offset) for every vector of so many elements.
template <typename Work>
HWY_INLINE void each_vector(std::int64_t elements, const Work& work) {
  const std::int64_t step = hn::Lanes(Lanes16());
  for (std::int64_t i = 0; i < elements * width; i += step) work(i);
}

HWY_INLINE Vec load(const float* from) { return hn::Load(Lanes16(), from); }
HWY_INLINE void store(Vec value, float* to) { hn::Store(value, Lanes16(), to); }
// gradient * y * (1 - y), as of a sigmoid that is y.
HWY_INLINE Vec through_sigmoid(Vec gradient, Vec y) {
  return hn::Mul(gradient, hn::Mul(y, hn::Sub(hn::Set(Lanes16(), 1), y)));
}
// gradient * (1 - y * y), as of a hyperbolic tangent that is y.
HWY_INLINE Vec through_tangent(Vec gradient, Vec y) {
  return hn::Mul(gradient, hn::NegMulAdd(y, y, hn::Set(Lanes16(), 1)));
}

}  // namespace

void lstm_cells_entry(std::int64_t hidden, const float* gates, const float* before, float* cells) {
  const std::int64_t gate = hidden * width;
  each_vector(hidden, [&](std::int64_t i) HWY_ATTR {
    const Vec in = load(gates + i), forget = load(gates + 2 * gate + i),
              candidate = load(gates + 3 * gate + i);
    store(hn::MulAdd(forget, load(before + i), hn::Mul(in, candidate)), cells + i);
  });
}

void lstm_gradients_entry(std::int64_t hidden, const float* before, const float* squashed,
                          const float* gradient, float* gradient_of_cells, float* gates) {
  const std::int64_t gate = hidden * width;
  each_vector(hidden, [&](std::int64_t i) HWY_ATTR {
    const Vec in = load(gates + i), out = load(gates + gate + i), forget = load(gates + 2 * gate + i),
              candidate = load(gates + 3 * gate + i), h = load(gradient + i), tangent = load(squashed + i);
    const Vec c = hn::Add(load(gradient_of_cells + i), through_tangent(hn::Mul(h, out), tangent));
    store(through_sigmoid(hn::Mul(c, candidate), in), gates + i);
    store(through_sigmoid(hn::Mul(h, tangent), out), gates + gate + i);
    store(through_sigmoid(hn::Mul(c, load(before + i)), forget), gates + 2 * gate + i);
    store(through_tangent(hn::Mul(c, in), candidate), gates + 3 * gate + i);
    store(hn::Mul(c, forget), gradient_of_cells + i);
  });
}

void gru_states_entry(std::int64_t hidden, const float* gates, const float* before, float* states) {
  const std::int64_t gate = hidden * width;
  each_vector(hidden, [&](std::int64_t i) HWY_ATTR {
    const Vec update = load(gates + i), candidate = load(gates + 2 * gate + i);
    const Vec fresh = hn::Mul(hn::Sub(hn::Set(Lanes16(), 1), update), candidate);
    store(hn::MulAdd(update, load(before + i), fresh), states + i);
  });
}

void gru_gradients_entry(std::int64_t hidden, const float* before, float* gradient, float* gates) {
  const std::int64_t gate = hidden * width;
  each_vector(hidden, [&](std::int64_t i) HWY_ATTR {
    const Vec update = load(gates + i), candidate = load(gates + 2 * gate + i), h = load(gradient + i);
    const Vec change = hn::Sub(load(before + i), candidate);
    store(through_sigmoid(hn::Mul(h, change), update), gates + i);
    store(through_tangent(hn::Mul(h, hn::Sub(hn::Set(Lanes16(), 1), update)), candidate),
          gates + 2 * gate + i);
    store(hn::Mul(h, update), gradient + i);
  });
}

void reset_gradients_entry(std::int64_t hidden, const float* gradient, float* operand, float* reset) {
  each_vector(hidden, [&](std::int64_t i) HWY_ATTR {
    const Vec s = load(gradient + i), r = load(reset + i);
    store(through_sigmoid(hn::Mul(s, load(operand + i)), r), reset + i);
    store(hn::Mul(s, r), operand + i);
  });
}

void multiply_add_entry(std::int64_t elements, const float* left, const float* right, float* target) {
  each_vector(elements, [&](std::int64_t i) HWY_ATTR {
    store(hn::MulAdd(load(left + i), load(right + i), load(target + i)), target + i);
  });
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(lstm_cells_entry);
HWY_EXPORT(lstm_gradients_entry);
HWY_EXPORT(gru_states_entry);
HWY_EXPORT(gru_gradients_entry);
HWY_EXPORT(reset_gradients_entry);
HWY_EXPORT(multiply_add_entry);

void lstm_cells(std::int64_t hidden, const float* gates, const float* before, float* cells) {
  HWY_DYNAMIC_DISPATCH(lstm_cells_entry)(hidden, gates, before, cells);
}
void lstm_gradients(std::int64_t hidden, const float* before, const float* squashed, const float* gradient,
                    float* gradient_of_cells, float* gates) {
  HWY_DYNAMIC_DISPATCH(lstm_gradients_entry)(hidden, before, squashed, gradient, gradient_of_cells, gates);
}
void gru_states(std::int64_t hidden, const float* gates, const float* before, float* states) {
  HWY_DYNAMIC_DISPATCH(gru_states_entry)(hidden, gates, before, states);
}
void gru_gradients(std::int64_t hidden, const float* before, float* gradient, float* gates) {
  HWY_DYNAMIC_DISPATCH(gru_gradients_entry)(hidden, before, gradient, gates);
}
void reset_gradients(std::int64_t hidden, const float* gradient, float* operand, float* reset) {
  HWY_DYNAMIC_DISPATCH(reset_gradients_entry)(hidden, gradient, operand, reset);
}
void multiply_add(std::int64_t elements, const float* left, const float* right, float* target) {
  HWY_DYNAMIC_DISPATCH(multiply_add_entry)(elements, left, right, target);
}

}  // namespace assay::lanes
#endif
