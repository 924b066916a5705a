#pragma once

// Structural similarity of pictures (Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 2004;
// docs/algorithms/polluted.md), for one picture and several at once.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>

namespace assay::similarity {

struct SsimOptions {
  std::string window = "gaussian";  // or "uniform"
  std::size_t size = 11;            // of the window, in pixels; odd
  double sigma = 1.5;               // of the Gaussian, in pixels
  double k1 = 0.01, k2 = 0.03;      // above 0
};

// Precomputed parts of the similarity of pictures of one shape. Thread-safe.
class Ssim {
 public:
  // `shape`: [channels, height, width]. `range`: dynamic range L of the elements, one or one per channel.
  // Throws Error{usage} for options that make no sense, records that are not pictures or smaller than the
  // window.
  Ssim(const Shape& shape, const ValidRange& range, const SsimOptions& options);

  // A picture made ready: its elements and the means and variances under the window.
  struct Picture {
    std::vector<double> elements, means, variances;
  };
  // `elements`: channels first. O(elements * window size).
  Picture picture(std::span<const float> elements) const;

  // Several pictures side by side, in `lanes` lanes.
  static constexpr std::size_t lanes = 8;
  struct alignas(lanes * sizeof(double)) Numbers {
    double of[lanes];
  };
  struct Group {
    std::vector<Numbers> elements, means, variances;  // by element or position
    std::size_t count = 0;                            // pictures; the other lanes repeat the last one
  };
  // `elements`: 1 to `lanes` records, one after the other.
  Group group(std::span<const float> elements) const;

  // Similarities of one picture to all of a group: the mean of the local similarity over positions where the
  // window lies inside the picture, then over channels. In [-1, 1]; 1 for equal pictures only. `out`:
  // group.count values.
  void similarities(const Picture& picture, const Group& group, std::span<double> out) const;

  // The same for two pictures.
  double similarity(std::span<const float> a, std::span<const float> b) const;

  std::size_t elements() const { return channels_ * height_ * width_; }
  // Bytes that a Picture takes.
  std::size_t picture_bytes() const { return sizeof(double) * (elements() + 2 * channels_ * positions()); }

 private:
  std::size_t positions() const { return (height_ - weights_.size() + 1) * (width_ - weights_.size() + 1); }

  std::size_t channels_ = 1, height_ = 1, width_ = 1;
  std::vector<double> weights_;  // of the window along one axis; their sum is 1
  std::vector<double> c1_, c2_;  // per channel
};

}  // namespace assay::similarity
