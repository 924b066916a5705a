// What each constraint allows, and what it must never do.

#include <gtest/gtest.h>

#include <filesystem>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/constraint.h>
#include "assay/data/files/numpy.h"
#include "assay/explore/shrink.h"
#include "assay/support/files/file.h"
#include "tests/attack/build.h"

namespace assay::test {
using namespace explore;
namespace {

struct Walk {
  Searches searches;
  std::vector<Array> points, records;  // after every step
};

std::unique_ptr<Constraint> made(const std::vector<std::string>& texts) {
  return make_constraint(std::vector<ConstraintChoice>(texts.begin(), texts.end()));
}

const attack::InputUnits plain{};

Searches searches_from(const Array& seeds, const attack::InputUnits& units = plain) {
  Searches searches{.seeds = seeds, .keys = {}, .iterations = {}, .seed = 7, .units = &units};
  for (std::int64_t i = 0; i < seeds.size(0); ++i) {
    searches.keys.push_back(50 + static_cast<std::uint64_t>(i));
    searches.iterations.push_back(0);
  }
  return searches;
}

// Steps along random gradients, as the search takes them.
Walk walk(const Constraint& constraint, const Array& seeds, double step, int steps,
          const attack::InputUnits& units = plain) {
  Walk walk{searches_from(seeds, units), {}, {}};
  Array point = seeds;
  for (int i = 0; i < steps; ++i) {
    const Array wanted =
        random_records(seeds.size(0), seeds[0].shape(), 100 + static_cast<std::uint64_t>(i)) * 2 - 1;
    point = constraint.kept(walk.searches, point + constraint.direction(walk.searches, point, wanted) * step);
    if (!constraint.on_a_line()) point = point.clamp(0, 1);
    for (std::size_t& iteration : walk.searches.iterations) ++iteration;
    walk.points.push_back(point);
    walk.records.push_back(constraint.shown(walk.searches, point).clamp(0, 1));
  }
  return walk;
}

Array pictures() { return random_records(5, {2, 9, 7}); }

class EveryConstraint : public testing::TestWithParam<std::string> {};

TEST_P(EveryConstraint, IsDescribed) {
  const ConstraintInfo& info = constraints().find(GetParam());
  for (const std::string& text : {info.summary, info.definition, info.limits, info.paper})
    EXPECT_FALSE(text.empty());
  for (const SpecOption& option : info.options) EXPECT_FALSE(option.summary.empty()) << option.name;
  EXPECT_THROW(made({GetParam() + "[nonsense=1]"}), Error);
}

// With the options that it cannot do without.
std::string usual(const std::string& name) {
  if (name == "features") return "features[both=0-60,decrease=61-90,integer=3-50]";
  if (name == "mask") return "mask[area=3x3,at=2x2]";
  if (name == "occl") return "occl[size=3x4]";
  return name;
}

// A step for many is the steps for each.
TEST_P(EveryConstraint, LooksAtEachRecordAlone) {
  const auto constraint = made({usual(GetParam())});
  const Array seeds = pictures();
  const Walk together = walk(*constraint, seeds, 0.3, 3);
  Searches alone = searches_from(seeds.slice(0, 2, 3));
  alone.keys = {52};
  Array point = alone.seeds;
  for (int i = 0; i < 3; ++i) {
    const Array wanted =
        (random_records(5, {2, 9, 7}, 100 + static_cast<std::uint64_t>(i)) * 2 - 1).slice(0, 2, 3);
    point = constraint->kept(alone, point + constraint->direction(alone, point, wanted) * 0.3);
    if (!constraint->on_a_line()) point = point.clamp(0, 1);
    ++alone.iterations[0];
    EXPECT_LT(greatest_difference(constraint->shown(alone, point).clamp(0, 1),
                                  together.records[static_cast<std::size_t>(i)].slice(0, 2, 3)),
              1e-6);
  }
}

// One that allows nothing obeys every other law.
TEST_P(EveryConstraint, LetsRecordsMove) {
  const auto constraint = made({usual(GetParam())});
  // Some move zeros alone, some what is not at the end of the range.
  const Array seeds = pictures() * pictures().gt(0.5);
  Array farthest = array::zeros({seeds.size(0)});
  for (const Array& record : walk(*constraint, seeds, 0.3, 6).records)
    farthest = array::maximum(farthest, (record - seeds).flatten(1).abs().amax(1));
  EXPECT_GT(farthest.min().item<float>(), 1e-3F);
}

// What a constraint alone leaves of a step is allowed; what is somewhere else is not, where that can be told.
TEST_P(EveryConstraint, AdmitsWhatItMakes) {
  const auto constraint = made({usual(GetParam())});
  const Walk seen = walk(*constraint, pictures(), 0.3, 4);
  for (const Array& record : seen.records) {
    const Array admitted = constraint->admits(seen.searches, record);
    EXPECT_TRUE(!admitted.defined() || admitted.all().item<bool>());
  }
  if (const Array admitted = constraint->admits(seen.searches, 1 - pictures()); admitted.defined()) {
    EXPECT_FALSE(admitted.any().item<bool>());
  }
}

TEST(Constraints, AreListed) { EXPECT_FALSE(constraints().empty()); }

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryConstraint, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const ConstraintInfo& constraint : constraints())
                             names.push_back(constraint.name);
                           return names;
                         }()));

TEST(Light, ChangesEveryElementByTheSame) {
  const auto constraint = made({"light[most=0.4]"});
  const Array gradient = array::tensor({1.0F, 2.0F, 3.0F, -2.0F}).reshape({1, 4});
  const Searches searches = searches_from(array::full({1, 4}, 0.5F));
  EXPECT_LT(
      greatest_difference(constraint->direction(searches, searches.seeds, gradient), array::ones({1, 4})),
      1e-6);
  const Walk seen = walk(*constraint, pictures(), 5, 6);
  for (const Array& point : seen.points) {
    const Array change = (point - seen.searches.seeds).flatten(1);
    EXPECT_LT(greatest_difference(change, change.slice(1, 0, 1).expand(change.shape())), 1e-6);
    EXPECT_LE(change.abs().max().item<float>(), 0.4F + 1e-6F);
  }
}

TEST(Occlusion, LeavesWhatIsOutsideBitForBit) {
  const auto constraint = made({"occl[size=3x4,at=2x1]"});
  const Walk seen = walk(*constraint, pictures(), 1, 4);
  Array outside = array::ones({9, 7}, DType::boolean);
  outside.narrow(0, 2, 3).narrow(1, 1, 4).fill_(false);
  for (const Array& record : seen.records) {
    EXPECT_TRUE(record.ne(seen.searches.seeds).logical_and(outside).logical_not().all().item<bool>());
    EXPECT_TRUE(record.ne(seen.searches.seeds).logical_and(outside.logical_not()).any().item<bool>());
  }
}

TEST(Occlusion, KeepsItsRandomPlace) {
  const auto constraint = made({"occl[size=2x2]"});
  const Walk seen = walk(*constraint, pictures(), 1, 5);
  std::set<std::string> places;
  for (std::int64_t row = 0; row < 5; ++row) {
    const Array moved = (seen.records[4] - seen.searches.seeds)[row].abs().sum(0).gt(0);
    EXPECT_LE(moved.sum().item<std::int64_t>(), 4);
    const Array first = array::nonzero(moved)[0];
    places.insert(std::to_string(first[0].item<std::int64_t>()) + "," +
                  std::to_string(first[1].item<std::int64_t>()));
  }
  EXPECT_GT(places.size(), 1u);  // another place for another seed
}

TEST(Occlusion, IsCutToThePicture) {
  const auto constraint = made({"occl[size=50x50,at=5x3]"});
  const Array moved = (walk(*constraint, pictures(), 1, 1).records[0] - pictures()).abs().sum(1).gt(0);
  EXPECT_FALSE(moved.narrow(1, 0, 5).any().item<bool>());
  EXPECT_TRUE(moved.narrow(1, 5, 4).narrow(2, 3, 4).any().item<bool>());
}

TEST(Blackout, NeverRaisesAPixel) {
  const auto constraint = made({"blackout[size=3x3,count=2]"});
  Walk seen = walk(*constraint, pictures(), 0.2, 12);
  Array before = seen.searches.seeds;
  for (const Array& record : seen.records) {
    EXPECT_TRUE(record.le(before).all().item<bool>());
    before = record;
  }
  EXPECT_GT(greatest_difference(before, seen.searches.seeds), 0.1);
  // Where the mean gradient of a rectangle is above 0 nothing happens.
  const Searches searches = searches_from(pictures());
  EXPECT_EQ(constraint->direction(searches, pictures(), array::ones({5, 2, 9, 7})).abs().max().item<float>(),
            0);
}

TEST(Balls, AreNotLeft) {
  for (const Array& record : walk(*made({"linf[eps=0.05]"}), pictures(), 3, 4).records)
    EXPECT_LE(greatest_difference(record, pictures()), 0.05 + 1e-6);
  for (const Array& record : walk(*made({"l2[eps=0.5]"}), pictures(), 3, 4).records) {
    EXPECT_LE(array::norm((record - pictures()).flatten(1), 2, {1}).max().item<float>(), 0.5F + 1e-5F);
  }
}

TEST(Contrast, StaysOnTheLineThroughSeedAndMean) {
  const Walk seen = walk(*made({"contrast[least=0.5,most=1.5]"}), pictures(), 0.5, 4);
  const Array mean = pictures().mean({2, 3}, true);
  for (const Array& point : seen.points) {
    const Array factor = ((point - mean) / (pictures() - mean)).flatten(1);
    EXPECT_LT((factor.amax(1) - factor.amin(1)).max().item<float>(), 1e-3F);
    EXPECT_LE(factor.max().item<float>(), 1.5F + 1e-3F);
    EXPECT_GE(factor.min().item<float>(), 0.5F - 1e-3F);
  }
}

TEST(Blur, LiesBetweenThePictureAndItsBlurredSelf) {
  const Array flat = array::full({1, 1, 6, 6}, 0.3F);
  EXPECT_LT(greatest_difference(walk(*made({"blur"}), flat, 1, 2).records[1], flat),
            1e-6);  // a flat picture cannot be blurred
  for (const Array& point : walk(*made({"blur[sigma=1]"}), pictures(), 2, 4).points) {
    EXPECT_LE(point.max().item<float>(), pictures().max().item<float>() + 1e-5F);
    EXPECT_GE(point.min().item<float>(), pictures().min().item<float>() - 1e-5F);
  }
}

TEST(Additive, OnlyAddsBinaryFeatures) {
  const Array seeds = random_records(6, {20}).gt(0.6).to(DType::float32);
  for (const std::string spec : {"additive[features=2-11]", "additive[features=2-11,most=1]"}) {
    const Walk seen = walk(*made({spec}), seeds, 1e-3, 4);
    Array before = seeds;
    for (const Array& record : seen.records) {
      EXPECT_TRUE(record.eq(0).logical_or(record.eq(1)).all().item<bool>());
      EXPECT_TRUE(record.ge(before).all().item<bool>());
      if (spec.find("most") != std::string::npos) {
        EXPECT_LE((record - before).sum(1).max().item<float>(), 1);
      }
      EXPECT_TRUE(record.slice(1, 0, 2).eq(seeds.slice(1, 0, 2)).all().item<bool>());
      EXPECT_TRUE(record.slice(1, 12).eq(seeds.slice(1, 12)).all().item<bool>());
      before = record;
    }
    EXPECT_GT(before.sum().item<float>(), seeds.sum().item<float>());
  }
}

TEST(Features, GrowFallOrStay) {
  const Array seeds = random_records(4, {9});
  const Walk seen = walk(*made({"features[increase=0-2,decrease=3+4,both=5-6]"}), seeds, 0.2, 6);
  Array before = seeds;
  for (const Array& record : seen.records) {
    EXPECT_TRUE(record.slice(1, 0, 3).ge(before.slice(1, 0, 3)).all().item<bool>());
    EXPECT_TRUE(record.slice(1, 3, 5).le(before.slice(1, 3, 5)).all().item<bool>());
    EXPECT_TRUE(record.slice(1, 7).eq(seeds.slice(1, 7)).all().item<bool>());
    before = record;
  }
  EXPECT_GT(greatest_difference(before, seeds), 0.1);
}

TEST(Features, HoldWholeNumbersInTheUnitsOfTheData) {
  const attack::InputUnits units{array::full({4}, 10.0F), array::full({4}, 50.0F), {}};
  const Array seeds = array::tensor({0.0F, 0.5F, 0.31F, 0.2F}).reshape({1, 4});  // 10, 35, 25.5, 20
  const Walk seen = walk(*made({"features[both=0-3,integer=0-2]"}), seeds, 0.03, 5, units);
  for (const Array& record : seen.records) {
    const Array raw = record * 50 + 10;
    const Array whole = raw.slice(1, 0, 3), moved = record.slice(1, 0, 3).ne(seeds.slice(1, 0, 3));
    EXPECT_TRUE((whole - whole.round()).abs().lt(1e-4).logical_or(moved.logical_not()).all().item<bool>());
  }
}

TEST(Features, ComeFromATable) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "assay_features.csv";
  write_file(file, "feature,change,integer,low,high\n0,increase,1,0,12\n1,frozen,0,0,0\n2,both,0,-1,4\n");
  const attack::InputUnits units{array::zeros({4}), array::full({4}, 20.0F), {}};
  const Array seeds = array::full({2, 4}, 0.1F);  // 2
  const Walk seen = walk(*made({"features[file=" + file.string() + "]"}), seeds, 0.5, 8, units);
  for (const Array& record : seen.records) {
    const Array raw = record * 20;
    EXPECT_LE(raw.select(1, 0).max().item<float>(), 12 + 1e-4);
    EXPECT_LE(raw.select(1, 2).max().item<float>(), 4 + 1e-4);
    EXPECT_LT(greatest_difference(raw.select(1, 0), raw.select(1, 0).round()), 1e-4);
    EXPECT_LT(greatest_difference(raw.select(1, 1), seeds.select(1, 1) * 20), 1e-6);
    EXPECT_LT(greatest_difference(raw.select(1, 3), seeds.select(1, 3) * 20), 1e-6);
  }
  EXPECT_GT(seen.records.back().select(1, 0).max().item<float>(), 0.2F);
  for (const char* wrong : {"feature,change\n0,sideways\n", "feature,change,most\n0,both,3\n",
                            "feature,change\n0.5,both\n", "feature,change\n-1,both\n",
                            "feature,change\n0,both\n0,frozen\n", "feature,change,low,high\n0,both,3,2\n"}) {
    write_file(file, std::string_view(wrong));
    EXPECT_THROW(made({"features[file=" + file.string() + "]"}), Error) << wrong;
  }
  for (const auto& [column, least, greatest] : {std::tuple("low", 1.0, 20.0), std::tuple("high", 0.0, 1.0)}) {
    write_file(file, fmt::format("feature,change,{}\n0,both,1\n", column));
    const Walk one = walk(*made({"features[file=" + file.string() + "]"}), seeds, 0.5, 8, units);
    for (const Array& record : one.records) {
      const Array raw = record.select(1, 0) * 20;
      const Array moved = array::masked_select(raw, record.select(1, 0).ne(seeds.select(1, 0)));
      EXPECT_TRUE(moved.ge(least - 1e-4).logical_and(moved.le(greatest + 1e-4)).all().item<bool>()) << column;
    }
  }
  std::filesystem::remove(file);
}

TEST(Mask, KeepsTheRest) {
  const Walk seen = walk(*made({"mask[area=2x3,at=4x1]"}), pictures(), 1, 2);
  Array outside = array::ones({9, 7}, DType::boolean);
  outside.narrow(0, 4, 2).narrow(1, 1, 3).fill_(false);
  EXPECT_FALSE(seen.records[1].ne(pictures()).logical_and(outside).any().item<bool>());
  const Walk elements = walk(*made({"mask[elements=1+3]"}), random_records(3, {5}), 1, 2);
  EXPECT_FALSE(elements.records[1]
                   .ne(random_records(3, {5}))
                   .index_select(1, array::tensor({0, 2, 4}))
                   .any()
                   .item<bool>());
  EXPECT_THROW(made({"mask"}), Error);
}

TEST(Together, ConstraintsNarrowEachOther) {
  const auto constraint = made({"linf[eps=0.1]", "mask[area=9x3,at=0x0]"});
  const Walk seen = walk(*constraint, pictures(), 1, 3);
  EXPECT_LE(greatest_difference(seen.records[2], pictures()), 0.1 + 1e-6);
  EXPECT_TRUE(seen.records[2].narrow(3, 3, 4).eq(pictures().narrow(3, 3, 4)).all().item<bool>());
  const Shrinking shrinking = made({"linf", "additive"})->shrinking();
  EXPECT_FALSE(shrinking.scale);
  EXPECT_TRUE(shrinking.elements);
}

TEST(Together, ALineIsNotLeftInABall) {
  const Array seeds = pictures();
  for (const std::vector<std::string>& texts :
       {std::vector<std::string>{"contrast", "linf[eps=0.03]"}, {"linf[eps=0.03]", "contrast"}}) {
    const auto constraint = made(texts);
    const Walk seen = walk(*constraint, seeds, 1, 4);
    for (const Array& point : seen.points) {
      const Array change = point - seeds, axis = seeds - seeds.mean({2, 3}, true);
      EXPECT_LE(change.abs().max().item<float>(), 0.03F + 1e-6F);
      const Array share = (change * axis).sum({1, 2, 3}, true) / axis.square().sum({1, 2, 3}, true);
      EXPECT_LT(greatest_difference(change, axis * share), 1e-6);
    }
    EXPECT_GT(greatest_difference(seen.points.back(), seeds), 0.01);
    EXPECT_TRUE(constraint->admits(seen.searches, seen.records.back()).all().item<bool>());
  }
}

TEST(Together, WhatCannotHoldTogetherIsRefused) {
  for (const std::string whole : {"light", "contrast", "blur"}) {
    for (const std::string other : {"occl", "blackout", "mask[elements=1]", "additive", "features[both=1]"}) {
      EXPECT_THROW(made({whole, other}), Error) << whole << " " << other;
      EXPECT_THROW(made({other, whole}), Error) << whole << " " << other;
    }
    EXPECT_NO_THROW(made({whole, "linf", "l2"}));
  }
  try {
    made({"light", "blur"});
    ADD_FAILURE();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'light'"), std::string::npos) << text;
    EXPECT_NE(text.find("'blur'"), std::string::npos) << text;
  }
}

// Rounded after it was cut, a feature is further away than the ball allows.
TEST(Together, RecordsThatOneForbidsAreToldApart) {
  const attack::InputUnits units{array::zeros({2}), array::full({2}, 10.0F), {}};
  const Searches searches = searches_from(array::full({3, 2}, 0.5F), units);
  const auto constraint = made({"features[both=0,integer=all]", "linf[eps=0.15]"});
  const Array records = array::tensor({0.6F, 0.5F, 0.7F, 0.5F, 0.55F, 0.5F}).reshape({3, 2});
  const Array found = constraint->admits(searches, records);
  EXPECT_TRUE(found.equal(array::tensor({1, 0, 0}).to(DType::boolean)))
      << "whole and near, too far, not whole";
  const Array frozen = array::tensor({0.5F, 0.6F}).reshape({1, 2}).expand({3, 2});
  EXPECT_FALSE(constraint->admits(searches, frozen).any().item<bool>());
}

// Tensors whose elements do not lie one behind the other are what they say.
TEST(Together, TakesTensorsOfAnyLayout) {
  const attack::InputUnits units{array::zeros({2}), array::full({2}, 10.0F), {}};
  const Searches searches = searches_from(array::full({3, 2}, 0.5F), units);
  const Array turned = array::tensor({0.6F, 0.5F, 0.7F, 0.9F, 0.3F, 0.55F}).reshape({2, 3}).t();
  const Array straight = turned.contiguous();
  for (const std::string spec : {"linf[eps=0.15]", "light", "features[both=0,integer=all]"}) {
    const auto constraint = made({spec});
    EXPECT_TRUE(constraint->kept(searches, turned).equal(constraint->kept(searches, straight))) << spec;
    EXPECT_TRUE(constraint->shown(searches, turned).equal(constraint->shown(searches, straight))) << spec;
    EXPECT_TRUE(constraint->direction(searches, turned, turned)
                    .equal(constraint->direction(searches, straight, straight)))
        << spec;
    const Array found = constraint->admits(searches, turned),
                expected = constraint->admits(searches, straight);
    EXPECT_TRUE(found.defined() == expected.defined() && (!found.defined() || found.equal(expected))) << spec;
  }
}

TEST(Constraints, WrongOptionsAreNamed) {
  for (const std::string text :
       {"occl[size=0x3]", "occl[size=ten]", "features", "features[increase=3-1]", "additive[features=a]",
        "nowhere", "mask[file=/nonexistent.png]", "mask[at=3x3,elements=5]"}) {
    EXPECT_THROW(made({text}), Error) << text;
  }
  EXPECT_THROW(walk(*made({"occl"}), random_records(2, {5}), 1, 1), Error);  // no picture
  EXPECT_THROW(walk(*made({"features[increase=5]"}), random_records(2, {5}), 1, 1),
               Error);                                                            // no such feature
  EXPECT_THROW(walk(*made({"mask[area=9x9,at=1x0]"}), pictures(), 1, 1), Error);  // beyond the picture
  EXPECT_THROW(walk(*made({"occl[size=2x2,at=9x0]"}), pictures(), 1, 1), Error);  // 9 rows: 0 to 8
  EXPECT_NO_THROW(walk(*made({"occl[size=2x2,at=8x6]"}), pictures(), 1, 1));
}

// A network that disagrees when the sum of the first two elements is above 1; the third one is not needed.
TEST(Shrink, TakesBackWhatIsNotNeeded) {
  const Searches searches = searches_from(array::zeros({1, 3}));
  const auto differs = [](const Array& records) {
    std::vector<bool> result;
    for (std::int64_t i = 0; i < records.size(0); ++i)
      result.push_back((records[i][0] + records[i][1]).item<float>() > 1);
    return result;
  };
  const auto record_of = [](const Searches&, const Array& points) { return points.clone(); };
  const Array found = array::tensor({0.9F, 0.8F, 0.5F}).reshape({1, 3});
  const Array scaled =
      shrink(searches, {found, found}, {.scale = true, .elements = false}, record_of, differs);
  EXPECT_NEAR((scaled[0][0] + scaled[0][1]).item<float>(), 1, 1.7F / 64 + 1e-6F);
  EXPECT_GT((scaled[0][0] + scaled[0][1]).item<float>(), 1);
  const Array sparse =
      shrink(searches, {found, found}, {.scale = false, .elements = true}, record_of, differs);
  EXPECT_EQ(sparse[0][2].item<float>(), 0);
  EXPECT_EQ(sparse[0][0].item<float>(), 0.9F);
  EXPECT_EQ(sparse[0][1].item<float>(), 0.8F);
  const Array kept =
      shrink(searches, {found, found}, {.scale = false, .elements = false}, record_of, differs);
  EXPECT_TRUE(kept.eq(found).all().item<bool>());
}

// One of the caller's own, which makes something of what it is given.
class OwnConstraint final : public Constraint {
 public:
  using Make = std::function<Array(const Array&)>;
  explicit OwnConstraint(Make make) : make_(std::move(make)) {}
  Array direction(const Searches&, const Array&, const Array& wanted) const override { return make_(wanted); }
  Array kept(const Searches&, const Array& points) const override { return make_(points); }
  Array shown(const Searches&, const Array& points) const override { return make_(points); }
  Array integers(std::int64_t) const override { return make_(array::zeros({1}, DType::boolean)); }

 private:
  Make make_;
};

TEST(OwnConstraints, GiveTensorsAsTheyGotThem) {
  const Array points = pictures();
  const Searches searches = searches_from(points);
  const auto of = [](OwnConstraint::Make make) {
    return make_constraint(
        std::vector<ConstraintChoice>{{"mine", std::make_shared<OwnConstraint>(std::move(make))}});
  };
  const Array before = points.clone();
  const auto in_place = of([](const Array& given) {
    Array changed = given;
    return changed.mul_(0);
  });
  EXPECT_EQ(in_place->direction(searches, points, points).abs().sum().item<float>(), 0);
  EXPECT_EQ(in_place->shown(searches, points).abs().sum().item<float>(), 0);
  EXPECT_TRUE(points.equal(before));
  for (const OwnConstraint::Make& make :
       std::vector<OwnConstraint::Make>{[](const Array&) { return Array(); },
                                        [](const Array& given) { return given.slice(0, 0, 1).unsqueeze(0); },
                                        [](const Array& given) { return given.to(DType::float64); },
                                        [](const Array& given) { return given * std::nan(""); }}) {
    const auto wrong = of(make);
    const std::vector<std::pair<std::string, std::function<void()>>> calls{
        {"direction()", [&] { wrong->direction(searches, points, points); }},
        {"kept()", [&] { wrong->kept(searches, points); }},
        {"shown()", [&] { wrong->shown(searches, points); }}};
    for (const auto& [method, call] : calls) {
      try {
        call();
        ADD_FAILURE() << method;
      } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_NE(std::string(error.what()).find("constraint mine: " + method + " gives "), std::string::npos)
            << error.what();
      }
    }
  }
  EXPECT_THROW(of([](const Array& given) { return given; })->integers(3), Error);
}

}  // namespace
}  // namespace assay::test
