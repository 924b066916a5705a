#include "assay/attack/given_tensor.h"

#include <assay/array_math.h>

#include <assay/error.h>
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

std::string described(const Array& tensor) {
  if (!tensor.defined()) return "nothing";
  return fmt::format("{} of the shape {}", to_string(tensor.dtype()), to_string(tensor.shape()));
}

}  // namespace

const Array& given_tensor(const std::string& who, const Array& given, const Array& like, bool exactly) {
  const bool fits =
      given.defined() && given.shape() == like.shape() && (!exactly || given.dtype() == like.dtype());
  if (!fits) fail(Fault::usage, "{} gives {}, not {}", who, described(given), described(like));
  if (exactly && has_nan(given)) fail(Fault::usage, "{} gives a NaN", who);
  return given;
}

}  // namespace assay::attack
