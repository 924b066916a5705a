#include "assay/attack/given_tensor.h"

#include <ATen/ATen.h>

#include <assay/error.h>
#include "assay/engine/plain_tensor.h"

namespace assay::attack {
namespace {

std::string described(const Tensor& tensor) {
  if (!tensor.defined()) return "nothing";
  return fmt::format("{} of the shape {} ({})", c10::toString(tensor.scalar_type()),
                     to_string(tensor.sizes().vec()), tensor.device().str());
}

}  // namespace

const Tensor& given_tensor(const std::string& who, const Tensor& given, const Tensor& like, bool exactly) {
  const bool fits = given.defined() && given.sizes() == like.sizes() && given.device() == like.device() &&
                    (!exactly || given.scalar_type() == like.scalar_type());
  if (!fits) fail(Fault::usage, "{} gives {}, not {}", who, described(given), described(like));
  if (exactly && has_nan(given)) fail(Fault::usage, "{} gives a NaN", who);
  return given;
}

}  // namespace assay::attack
