#pragma once

// Gradients of arrays with respect to the arrays they were computed from.

#include <functional>
#include <span>
#include <vector>

#include <assay/array.h>

namespace assay::array {

using Arrays = std::vector<Array>;

// Turns the recording of gradients by this thread on or off while the guard lives. Without a guard it is on.
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
// Gradients of sum(outputs * seeds) with respect to points made by requires_grad_(); without seeds they are
// ones. Undefined for a point that the outputs do not depend on. `keep`: gradients of the outputs can be
// taken again.
Arrays gradients(std::span<const Array> outputs, std::span<const Array> points,
                 std::span<const Array> seeds = {}, bool keep = false);
// A result of computations that do not record themselves. `back` takes the gradient of each result (undefined
// for zeros) and which inputs need one, and returns one an input. It is not called if no input requires
// gradients.
using Back = std::function<Arrays(const Arrays& of_results, const std::vector<bool>& wanted)>;
Arrays recorded(Arrays results, std::span<const Array> inputs, Back back);
Array recorded(Array result, std::span<const Array> inputs, Back back);

}  // namespace assay::array

namespace assay {
using array::Arrays;
}  // namespace assay
