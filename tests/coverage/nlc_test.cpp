// What a state of neural coverage holds: few records of wide layers take little room.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <assay/extend/criteria.h>
#include "assay/support/files/binary.h"
#include "tests/coverage/build.h"

namespace assay::coverage {
namespace {

constexpr std::size_t width = 600;

Profile wide_profile() {
  Profile profile;
  LayerStatistics layer;
  layer.layer = "wide";
  layer.low.assign(width, -1);
  layer.high.assign(width, 1);
  layer.mean.assign(width, 0);
  layer.deviation.assign(width, 1);
  layer.same_as.assign(width, 0);
  profile.statistics = {layer};
  return profile;
}

// Records [begin, end) of a fixed sequence.
void give(Criterion& criterion, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> indices;
  std::vector<Activations> layers{{end - begin, width, {}}};
  for (std::size_t r = begin; r < end; ++r) {
    Rng rng(r);
    indices.push_back(r);
    for (std::size_t n = 0; n < width; ++n)
      layers[0].values.push_back(static_cast<float>(rng.uniform(-1, 1)));
  }
  criterion.observe({indices, layers});
}

TEST(Nlc, AStateIsNoLargerThanItsRecordsNeed) {
  const Profile profile = wide_profile();
  const auto few = test::criterion("nlc", profile), many = test::criterion("nlc", profile);
  give(*few, 0, 5);
  give(*many, 0, width + 1);
  EXPECT_LT(to_bytes(few->save()).size(), 5 * width * 4 + width * 16 + 200);
  EXPECT_LT(to_bytes(many->save()).size(), width * (width + 1) / 2 * 8 + width * 16 + 200);
  EXPECT_GT(few->result().back().value, 0);
}

TEST(Nlc, RowsAndSumsOfProductsMergeToTheSame) {
  const Profile profile = wide_profile();
  const auto whole = test::criterion("nlc", profile);
  give(*whole, 0, width + 7);
  const std::string expected = to_bytes(whole->save());
  for (const std::size_t cut : {std::size_t{1}, std::size_t{6}, std::size_t{7}, width / 2, width}) {
    const auto first = test::criterion("nlc", profile), second = test::criterion("nlc", profile);
    give(*first, 0, cut);
    give(*second, cut, width + 7);
    first->merge(*second);
    EXPECT_TRUE(to_bytes(first->save()) == expected) << cut;
  }
}

TEST(Nlc, LoadsBothAndRefusesWhatDoesNotFit) {
  const Profile profile = wide_profile();
  for (const std::size_t records : {std::size_t{3}, width + 1}) {
    const auto criterion = test::criterion("nlc", profile), again = test::criterion("nlc", profile);
    give(*criterion, 0, records);
    const nlohmann::json saved = criterion->save();
    again->load(saved);
    EXPECT_EQ(again->result().back().value, criterion->result().back().value);
    EXPECT_TRUE(to_bytes(again->save()) == to_bytes(saved));
    if (records > width) continue;
    for (const std::size_t claimed : {std::size_t{2}, width + 5}) {
      nlohmann::json damaged = saved;
      damaged[0]["records"] = claimed;
      EXPECT_THROW(again->load(damaged), std::runtime_error);
    }
  }
}

}  // namespace
}  // namespace assay::coverage
