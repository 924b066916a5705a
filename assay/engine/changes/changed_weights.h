#pragma once

// A convolution or dense layer with some other weights, computed from its original result: only the
// contribution of the changed weights is added.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <assay/graph.h>
#include <assay/tensor.h>
#include "assay/engine/changes/tap_sums.h"
#include "assay/engine/lanes/kernels.h"

namespace assay::inline engine {

class ChangedWeights {
 public:
  // The change from `was` to `now`, nodes of one function whose weights or bias may differ. `input` and
  // `output`: shapes of a record, the batch axis first. Nothing if nothing differs, if so much differs that
  // computing everything is cheaper, if constants are not float32, or for other nodes than convolutions
  // without groups and with steps of one, and dense layers of one position.
  static std::optional<ChangedWeights> between(const Graph& original, const Node& was, const Graph& mutant,
                                               const Node& now, const Shape& input, const Shape& output);
  // The contribution of some channels of the operand to a convolution: all their weights, and no bias.
  // Nothing as above.
  static std::optional<ChangedWeights> of_channels(const Graph& graph, const Node& node,
                                                   std::span<const std::int64_t> channels, const Shape& input,
                                                   const Shape& output);

  // The units whose results change, ascending; and the number of all units.
  const std::vector<std::int64_t>& units() const { return units_; }
  std::int64_t width() const { return width_; }

  // `operand`: [n, channels, ...]. `before`: [n, units(), ...], what these gave. Returns their new results;
  // an undefined array if a number is not finite, since infinities do not add up. float32, on the processor.
  // A record's numbers do not depend on its neighbours.
  Array run(const Array& operand, const Array& before, int threads) const;

 private:
  struct Change {
    std::int64_t unit, channel, tap;
    float by;
  };
  // How positions of the result read pictures of the operand, which have zeros around them.
  struct Windows {
    Shape picture, padded, left;     // sizes, with zeros, and zeros in front
    std::vector<std::int64_t> taps;  // offset of each
    std::vector<std::int64_t> rows;  // where the neighbours of a row of the result begin
    std::int64_t row = 1;            // how many these are
    bool one = false;                // a dense layer: one position
  };

  static std::optional<Windows> windows_of(const Node& node, const Shape& kernel, const Shape& input,
                                           const Shape& output);
  // `by_unit`: what is added to each unit.
  ChangedWeights(Windows windows, std::int64_t channels, std::int64_t width,
                 const std::vector<Change>& changes, const std::vector<float>& by_unit);
  void go_dense();
  void pad(const float* record, float* to) const;
  void run_record(const float* operand, const float* before, float* sums, float* result) const;
  void run_pictures(const Array& operand, const Array& before, int threads, Array& result) const;
  void run_blocks(const Array& operand, const Array& before, int threads, Array& result) const;

  Windows windows_;
  std::int64_t channels_, width_, positions_;  // positions as pictures with zeros count them
  std::vector<std::int64_t> units_;
  std::vector<std::vector<ChangedTap>> taps_;  // by changed unit
  std::vector<float> bias_;                    // what is added to it
  // Of a dense layer, whose taps lie apart: records in the lanes.
  lanes::LinearMap map_;
  std::vector<float> weights_;
};

}  // namespace assay::inline engine
