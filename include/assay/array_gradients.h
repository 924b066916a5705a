#pragma once

// How arrays change with those that they were computed from.

#include <functional>
#include <span>
#include <vector>

#include <assay/array.h>

namespace assay {

using Arrays = std::vector<Array>;

namespace array {

// Gradients are recorded by this thread while the guard lives, or not; they are where none is.
class Recording {
 public:
  explicit Recording(bool records);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  bool before_;
};
bool is_recording();
// Gradients of sum(outputs * seeds) with respect to points made by requires_grad_(); seeds of ones where
// there are none. Undefined where the outputs do not depend on a point. `keep`: the outputs can be asked
// again.
Arrays gradients(std::span<const Array> outputs, std::span<const Array> points,
                 std::span<const Array> seeds = {}, bool keep = false);
// A result of computations that do not record themselves: `back` takes the gradient of each result (undefined
// for zeros) and which inputs want one, and gives one an input. Not called where no input requires gradients.
using Back = std::function<Arrays(const Arrays& of_results, const std::vector<bool>& wanted)>;
Arrays recorded(Arrays results, std::span<const Array> inputs, Back back);
Array recorded(Array result, std::span<const Array> inputs, Back back);

}  // namespace array
}  // namespace assay
