#include "assay/engine/onednn/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <assay/extend/random.h>

namespace assay::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

struct Form {
  dnnl::memory::dims dims;
  Tag tag;
};

class Layouts : public testing::TestWithParam<Form> {};

TEST_P(Layouts, ReduceToTheMeanAndMaximumOfEachChannel) {
  const Form& form = GetParam();
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const std::vector<Tag> plain{Tag::ab, Tag::abc, Tag::abcd, Tag::abcde};
  dnnl::memory::desc source_desc(form.dims, dnnl::memory::data_type::f32, plain[form.dims.size() - 2]);
  dnnl::memory::desc target_desc(form.dims, dnnl::memory::data_type::f32, form.tag);
  dnnl::memory source(source_desc, engine), target(target_desc, engine);
  std::int64_t positions = 1;
  for (std::size_t d = 2; d < form.dims.size(); ++d) positions *= form.dims[d];
  auto* values = static_cast<float*>(source.get_data_handle());
  Rng rng(1);
  for (std::int64_t i = 0; i < form.dims[0] * form.dims[1] * positions; ++i)
    values[i] = static_cast<float>(rng.normal());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();

  ASSERT_TRUE(reducible(target_desc));
  std::vector<float> mean(static_cast<std::size_t>(form.dims[0] * form.dims[1])), max = mean;
  reduce_positions(static_cast<const float*>(target.get_data_handle()), target_desc, form.dims[0],
                   Reduction::mean, false, mean.data());
  reduce_positions(static_cast<const float*>(target.get_data_handle()), target_desc, form.dims[0],
                   Reduction::max, false, max.data());
  std::vector<float> least(static_cast<std::size_t>(form.dims[0]));
  reduce_positions(static_cast<const float*>(target.get_data_handle()), target_desc, form.dims[0],
                   Reduction::min, true, least.data());
  const auto per_row = static_cast<std::ptrdiff_t>(form.dims[1] * positions);
  for (std::size_t row = 0; row < least.size(); ++row) {
    const float* const begin = values + static_cast<std::ptrdiff_t>(row) * per_row;
    EXPECT_EQ(least[row], *std::min_element(begin, begin + per_row));
  }
  for (std::size_t unit = 0; unit < mean.size(); ++unit) {
    double sum = 0;
    float largest = -std::numeric_limits<float>::infinity();
    for (std::int64_t p = 0; p < positions; ++p) {
      const float value = values[static_cast<std::int64_t>(unit) * positions + p];
      sum += value;
      largest = std::max(largest, value);
    }
    EXPECT_NEAR(mean[unit], sum / static_cast<double>(positions), 1e-6);
    EXPECT_EQ(max[unit], largest);
  }
}

INSTANTIATE_TEST_SUITE_P(Plain, Layouts,
                         testing::Values(Form{{3, 5}, Tag::ab}, Form{{3, 5, 7}, Tag::abc},
                                         Form{{3, 5, 7, 9}, Tag::abcd}, Form{{2, 5, 3, 4, 3}, Tag::abcde}));
INSTANTIATE_TEST_SUITE_P(ChannelsLast, Layouts,
                         testing::Values(Form{{3, 5, 7, 9}, Tag::acdb}, Form{{2, 6, 3, 3}, Tag::acdb}));
INSTANTIATE_TEST_SUITE_P(Blocked, Layouts,
                         testing::Values(Form{{3, 6, 7, 9}, Tag::aBcd16b}, Form{{2, 32, 5, 5}, Tag::aBcd16b},
                                         Form{{2, 17, 4, 4}, Tag::aBcd8b}));

TEST(Reducible, RefusesLayoutsThatBlockMoreThanChannels) {
  EXPECT_FALSE(reducible({{16, 16, 4, 4}, dnnl::memory::data_type::f32, Tag::ABcd16b16a}));
}

TEST(Reduction, ANotANumberIsNeverHidden) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> plane{1, nan, 3, 2};
  dnnl::memory::desc desc({1, 1, 2, 2}, dnnl::memory::data_type::f32, Tag::abcd);
  float result = 0;
  reduce_positions(plane.data(), desc, 1, Reduction::mean, false, &result);
  EXPECT_TRUE(std::isnan(result));
}

}  // namespace
}  // namespace assay::onednn
