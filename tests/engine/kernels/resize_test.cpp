#include <cmath>
#include <limits>

#include "fixture.h"

namespace assay::testing {
namespace {

struct Case {
  std::int64_t from, to;
  float scale;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{{4, 8, 2},     {4, 2, 0.5f},  {4, 10, 2.6f},
                                     {5, 3, 0.65f}, {3, 7, 2.34f}, {3, 1, 0.4f}};
  return all;
}

float source(const std::string& mode, const Case& c, std::int64_t i) {
  const auto at = static_cast<float>(i), from = static_cast<float>(c.from), to = static_cast<float>(c.to);
  if (mode == "asymmetric") return at / c.scale;
  if (mode == "align_corners") return c.to == 1 ? 0 : at * (from - 1) / (to - 1);
  if (mode == "pytorch_half_pixel" && c.to == 1) return 0;
  const float half = (at + 0.5f) / c.scale - 0.5f;
  return mode == "half_pixel_symmetric" ? from / 2 * (1 - to / (c.scale * from)) + half : half;
}

std::int64_t nearest(const std::string& mode, float x) {
  const float low = std::floor(x), rest = x - low;
  if (mode == "floor") return static_cast<std::int64_t>(low);
  if (mode == "ceil") return static_cast<std::int64_t>(low) + (rest > 0);
  if (rest == 0.5f) return static_cast<std::int64_t>(low) + (mode == "round_prefer_ceil");
  return static_cast<std::int64_t>(low) + (rest > 0.5f);
}

// Keys's cubic kernel at distance d.
double keys(double d, double a) {
  d = std::fabs(d);
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  if (d < 2) return a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
  return 0;
}

// Weighted sum over all positions, those outside standing for the nearest inside (or left out).
double interpolated(const Tensor& row, float x, const std::string& mode, bool exclude = false) {
  double sum = 0, total = 0;
  for (std::int64_t p = -4; p < row.size(0) + 4; ++p) {
    if (exclude && (p < 0 || p >= row.size(0))) continue;
    const double d = static_cast<double>(p) - static_cast<double>(x);
    const double weight = mode == "cubic" ? keys(d, -0.75) : std::max(0.0, 1 - std::fabs(d));
    sum += weight * at_index(row, {std::min(row.size(0) - 1, std::max<std::int64_t>(0, p))});
    total += weight;
  }
  return sum / total;
}

const std::vector<std::string> coordinates{"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                           "half_pixel_symmetric"};

Tensor scaled(const Tensor& x, float scale, Attributes attributes) {
  return run("Resize", {x, Tensor(), floats({3}, {1, 1, scale})}, std::move(attributes));
}

TEST(Resize, TakesTheNearest) {
  for (const Case& c : cases()) {
    const Tensor x = random_tensor({1, 2, c.from}, 1);
    for (const std::string& where : coordinates) {
      for (const std::string mode : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
        const Tensor expected = tabulate({1, 2, c.to}, [&](const Ints& i) {
          const std::int64_t at = nearest(mode, source(where, c, i[2]));
          return at_index(x, {0, i[1], std::min(c.from - 1, std::max<std::int64_t>(0, at))});
        });
        const Attributes attributes{{"coordinate_transformation_mode", where}, {"nearest_mode", mode}};
        EXPECT_TRUE(same(scaled(x, c.scale, attributes), expected)) << where << ' ' << mode << ' ' << c.scale;
      }
    }
  }
}

TEST(Resize, InterpolatesBetweenNeighbours) {
  for (const Case& c : cases()) {
    const Tensor x = random_tensor({1, 2, c.from}, 1);
    for (const std::string& where : coordinates) {
      for (const std::string mode : {"linear", "cubic"}) {
        for (const std::int64_t exclude : {0, 1}) {
          const Tensor expected = tabulate({1, 2, c.to}, [&](const Ints& i) {
            return interpolated(x[0][i[1]], source(where, c, i[2]), mode, mode == "cubic" && exclude);
          });
          const Attributes attributes{
              {"coordinate_transformation_mode", where}, {"mode", mode}, {"exclude_outside", exclude}};
          EXPECT_TRUE(same(scaled(x, c.scale, attributes), expected, 1e-4))
              << where << ' ' << mode << ' ' << c.scale;
        }
      }
    }
  }
}

TEST(Resize, AppliesEveryAxisInTurn) {
  const Tensor x = floats({1, 1, 2, 2}, {0, 2, 4, 6});
  const Attributes linear{{"mode", std::string("linear")},
                          {"coordinate_transformation_mode", std::string("align_corners")}};
  EXPECT_TRUE(same(run("Resize", {x, Tensor(), Tensor(), ints({1, 1, 3, 3})}, linear),
                   floats({1, 1, 3, 3}, {0, 1, 2, 2, 3, 4, 4, 5, 6})));
  const Attributes named{{"axes", Ints{3}}};
  EXPECT_TRUE(same(run("Resize", {x, Tensor(), floats({1}, {2})}, named),
                   floats({1, 1, 2, 4}, {0, 0, 2, 2, 4, 4, 6, 6})));
}

TEST(Resize, MayKeepTheAspectRatio) {
  const Tensor x = at::ones({1, 1, 4, 6});
  const auto resized = [&](std::string policy) {
    return run("Resize", {x, Tensor(), Tensor(), ints({8, 9})},
               {{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", std::move(policy)}})
        .sizes()
        .vec();
  };
  EXPECT_EQ(resized("stretch"), (Ints{1, 1, 8, 9}));
  EXPECT_EQ(resized("not_larger"), (Ints{1, 1, 6, 9}));
  EXPECT_EQ(resized("not_smaller"), (Ints{1, 1, 8, 12}));
}

TEST(Resize, HasTheRightGradient) {
  const Tensor x = random_tensor({1, 1, 3, 4}, 1), sizes = ints({1, 1, 5, 3});
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    EXPECT_TRUE(gradients_agree("Resize", {x, Tensor(), Tensor(), sizes}, {{"mode", mode}}));
  }
}

TEST(Resize, RefusesWhatMakesNoSense) {
  const Tensor x = at::ones({1, 1, 4}), scales = floats({3}, {1, 1, 2}), none;
  const auto fault = [&](const std::vector<float>& s) {
    return fault_of("Resize", {x, none, floats({3}, s)});
  };
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fault({1, 1, 0}), Fault::model);
  EXPECT_EQ(fault({1, 1, -1}), Fault::model);
  EXPECT_EQ(fault({1, 1, inf}), Fault::model);
  EXPECT_EQ(fault({1, 1, 0.1f}), Fault::model);  // nothing would be left
  EXPECT_EQ(fault({1, 1, 1e30f}), Fault::resources);
  EXPECT_EQ(fault({1e5f, 1e5f, 1e5f}), Fault::resources);
  EXPECT_EQ(fault_of("Resize", {x}), Fault::model);
  EXPECT_EQ(fault_of("Resize", {x, none, scales, ints({1, 1, 8})}), Fault::model);
  EXPECT_EQ(fault_of("Resize", {x, none, floats({2}, {1, 2})}), Fault::model);
  EXPECT_EQ(fault_of("Resize", {x, none, none, ints({1, 1, -8})}), Fault::model);
  EXPECT_EQ(fault_of("Resize", {x, none, scales}, {{"mode", std::string("lanczos")}}), Fault::model);
  EXPECT_EQ(fault_of("Resize", {x, none, scales}, {{"nearest_mode", std::string("odd")}}), Fault::model);
  EXPECT_EQ(fault_of("Resize", {x, none, scales},
                     {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}),
            Fault::unsupported);
  EXPECT_EQ(fault_of("Resize", {x, none, floats({3}, {1, 1, 0.5f})},
                     {{"mode", std::string("linear")}, {"antialias", std::int64_t{1}}}),
            Fault::unsupported);
}

}  // namespace
}  // namespace assay::testing
