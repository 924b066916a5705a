// Laws that hold for every criterion of the catalogue.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include <assay/extend/random.h>
#include "assay/coverage/criteria/idc.h"
#include "tests/coverage/build.h"

namespace assay::coverage {

bool operator==(const Coverage& a, const Coverage& b) {
  return a.layer == b.layer && a.covered == b.covered && a.coverable == b.coverable && a.value == b.value &&
         a.note == b.note && a.attainable_covered == b.attainable_covered && a.attainable == b.attainable;
}

namespace {

using test::Suite;

class EveryCriterion : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Criterion> fresh() const {
    return test::criterion(GetParam().ends_with("idc") ? GetParam() + "[m=3]" : GetParam());
  }
  std::unique_ptr<Criterion> having_seen(std::size_t begin, std::size_t end) const {
    auto criterion = fresh();
    suite.give(*criterion, begin, end);
    return criterion;
  }
  const CriterionInfo& info() const { return criteria().find(GetParam()); }
  const Suite suite = Suite::random(60, 11, 1.3);
};

// Everything a state file would hold.
std::string state(const Criterion& criterion) { return criterion.save().dump(); }

TEST_P(EveryCriterion, IsDescribed) {
  for (const std::string& text : {info().summary, info().definition, info().limits, info().paper})
    EXPECT_FALSE(text.empty());
  for (const SpecOption& option : info().options) EXPECT_FALSE(option.summary.empty()) << option.name;
}

// Tables name the combinations of those that are an Idc (for_each_idc()).
TEST_P(EveryCriterion, SaysWhetherTablesNameItsCombinations) {
  EXPECT_EQ(info().names_combinations, dynamic_cast<const Idc*>(fresh().get()) != nullptr);
}

TEST_P(EveryCriterion, AnEmptySuiteCoversNothing) {
  for (const Coverage& row : fresh()->result()) {
    EXPECT_TRUE(row.covered == "0" || row.covered.empty());
    EXPECT_EQ(row.value, 0);
  }
}

TEST_P(EveryCriterion, ASuiteCoversSomethingButNotMoreThanAll) {
  const Coverage last = having_seen(0, 60)->result().back();
  EXPECT_GT(last.value, 0);
  EXPECT_TRUE(last.coverable.empty() || last.value <= 1);
}

// What chosen neurons cover and what the others do is what all do; criteria of whole layers refuse to choose.
TEST_P(EveryCriterion, CountsChosenNeuronsOnlyOrRefuses) {
  const auto profile_of = [](std::vector<std::size_t> first, std::vector<std::size_t> second) {
    Profile profile = test::profile();
    profile.statistics[0].chosen = std::move(first);
    profile.statistics[1].chosen = std::move(second);
    return profile;
  };
  const Profile some = profile_of({1, 4}, {0, 2, 3}), others = profile_of({0, 2, 3, 5}, {1, 4});
  if (!info().of_neurons) {
    EXPECT_THROW(test::criterion(GetParam(), some), Error);
    return;
  }
  if (info().needs != CriterionInfo::Needs::statistics) return;  // choose when the profile is learned
  const auto counts = [&](const Profile& profile) {
    const auto criterion = test::criterion(GetParam(), profile);
    suite.give(*criterion);
    std::vector<std::uint64_t> all;
    for (const Coverage& row : criterion->result()) {
      for (const std::string& text : {row.covered, row.coverable, row.attainable_covered, row.attainable})
        all.push_back(std::stoull(text));
    }
    return all;
  };
  const auto a = counts(some), b = counts(others), whole = counts(test::profile());
  ASSERT_EQ(a.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(a[i] + b[i], whole[i]) << i;
  EXPECT_LT(a.back(), whole.back());
}

TEST_P(EveryCriterion, SplittingTheSuiteDoesNotChangeTheState) {
  const auto whole = having_seen(0, 60);
  const auto left = having_seen(0, 17), right = having_seen(17, 60);
  left->merge(*right);
  EXPECT_EQ(left->result(), whole->result());
  EXPECT_EQ(state(*left), state(*whole));
}

TEST_P(EveryCriterion, MergingIsCommutativeAndAssociative) {
  const auto a = having_seen(0, 3), b = having_seen(3, 8), c = having_seen(8, 20);
  const auto ab = having_seen(0, 3), ba = having_seen(3, 8);
  ab->merge(*b);
  ba->merge(*a);
  EXPECT_EQ(state(*ab), state(*ba));
  ab->merge(*c);  // (a + b) + c
  const auto bc = having_seen(3, 8), a_bc = having_seen(0, 3);
  bc->merge(*c);
  a_bc->merge(*bc);  // a + (b + c)
  EXPECT_EQ(state(*ab), state(*a_bc));
  EXPECT_EQ(ab->result(), a_bc->result());
}

// Moves the activations of record 20 as an aim of each way asks.
TEST_P(EveryCriterion, AimsLeadToWhatIsNotCovered) {
  const auto criterion = having_seen(0, 1);
  std::vector<std::vector<Aim>> ways;
  suite.with_batch({20}, [&](const ActivationBatch& batch) {
    ways = required<Guiding>(*criterion, GetParam()).aims(batch, 0);
  });
  ASSERT_FALSE(ways.empty());
  const bool of_neurons =
      !std::set<std::string>{"tknp", "nlc", "ss", "vs", "sv", "vv", "lsc", "dsc", "mdsc"}.contains(
          GetParam());
  for (const std::vector<Aim>& way : ways) {
    ASSERT_FALSE(way.empty());
    std::vector<float> rows[2] = {suite.row(0, 20), suite.row(1, 20)};
    for (const Aim& aim : way) {
      ASSERT_LT(aim.layer, 2u);
      ASSERT_LT(aim.neuron, Suite::widths[aim.layer]);
      EXPECT_LT(aim.low, aim.high);
      float& value = rows[aim.layer][aim.neuron];
      if (value >= aim.low && value <= aim.high && !aim.beyond) continue;
      const bool below = std::isinf(aim.low), above = std::isinf(aim.high);
      value = static_cast<float>(above ? aim.low + 1 : below ? aim.high - 1 : (aim.low + aim.high) / 2);
    }
    if (!of_neurons) continue;
    Suite moved;
    moved.add(rows[0], rows[1]);
    const auto after = having_seen(0, 1), one = fresh();
    moved.give(*one);
    after->merge(*one);
    EXPECT_GT(after->result().back().value, criterion->result().back().value);
  }
}

TEST_P(EveryCriterion, AFreshOneIsTheIdentityOfMerging) {
  const auto seen = having_seen(0, 9), left = fresh();
  const std::string before = state(*seen);
  left->merge(*seen);
  EXPECT_EQ(state(*left), before);
  seen->merge(*fresh());
  EXPECT_EQ(state(*seen), before);
}

TEST_P(EveryCriterion, OrderAndBatchSizeDoNotMatter) {
  const std::string expected = state(*having_seen(0, 60));
  std::vector<std::size_t> order(60);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(5).shuffle(order);
  const auto shuffled = fresh(), one_by_one = fresh(), at_once = fresh();
  suite.give(*shuffled, order);
  suite.give(*one_by_one, 0, 60, 1);
  suite.give(*at_once, 0, 60, 60);
  EXPECT_EQ(state(*shuffled), expected);
  EXPECT_EQ(state(*one_by_one), expected);
  EXPECT_EQ(state(*at_once), expected);
}

TEST_P(EveryCriterion, NeverFallsWhileRecordsAreAdded) {
  if (GetParam() == "nlc") GTEST_SKIP() << "a spread may fall";
  const auto criterion = fresh();
  double last = 0;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    suite.give(*criterion, i, i + 1);
    EXPECT_GE(criterion->result().back().value, last);
    last = criterion->result().back().value;
  }
}

TEST_P(EveryCriterion, IsWhatItWasAfterSavingAndLoading) {
  const auto seen = having_seen(0, 60), loaded = fresh();
  loaded->load(seen->save());
  EXPECT_EQ(state(*loaded), state(*seen));
  EXPECT_EQ(loaded->result(), seen->result());
  suite.give(*loaded, 0, 5);  // and can go on
}

TEST_P(EveryCriterion, RefusesStatesThatDoNotFit) {
  const auto criterion = fresh();
  EXPECT_ANY_THROW(criterion->load(nlohmann::json()));
  EXPECT_ANY_THROW(criterion->load(nlohmann::json::array({1, 2, 3, 4, 5})));
  EXPECT_ANY_THROW(criterion->load(nlohmann::json::object({{"buckets", 3}})));
}

TEST_P(EveryCriterion, RefusesToMergeWhatDoesNotBelong) {
  const auto other = test::criterion(GetParam() == "nc" ? "kmnc" : "nc");
  EXPECT_THROW(fresh()->merge(*other), Error);
}

TEST_P(EveryCriterion, RefusesToMergeWhatSawOtherLayers) {
  if (std::set<std::string>{"ss", "vs", "sv", "vv"}.contains(GetParam()))
    GTEST_SKIP() << "it needs both layers";
  if (!info().all_layers) GTEST_SKIP() << "it looks at one layer";
  EXPECT_THROW(fresh()->merge(*test::criterion(GetParam() + "[layer=first]")), Error);
}

TEST_P(EveryCriterion, DiffersFromItselfInNothing) {
  const auto seen = having_seen(0, 30), more = having_seen(0, 60);
  const auto* comparable = ability<Comparable>(*seen);
  if (comparable == nullptr) GTEST_SKIP() << GetParam() << " cannot be compared";
  for (const Difference& difference : comparable->difference(*seen, 3)) {
    EXPECT_EQ(difference.only_here + difference.only_there, 0u);
    EXPECT_TRUE(difference.examples.empty());
  }
  for (const Difference& difference : comparable->difference(*more, 3))
    EXPECT_EQ(difference.only_here, 0u) << "more records cover no less";
}

TEST_P(EveryCriterion, NamesTheNeuronsAndRecordsBehindADifference) {
  const auto early = having_seen(0, 20), late = having_seen(20, 60);
  const auto* comparable = ability<Comparable>(*early);
  if (comparable == nullptr) GTEST_SKIP() << GetParam() << " cannot be compared";
  const auto* itemised = ability<Itemised>(*late);
  const std::vector<std::size_t> first =
      itemised == nullptr ? std::vector<std::size_t>() : itemised->first_records();
  EXPECT_TRUE(std::ranges::is_sorted(first));
  for (const Difference& difference : comparable->difference(*late, 2)) {
    std::uint64_t here = 0, there = 0, of_neurons = 0;
    for (const auto& [record, items] : difference.records_here) here += items;
    for (const auto& [record, items] : difference.records_there) {
      there += items;
      EXPECT_TRUE(std::ranges::binary_search(first, record)) << record;
    }
    for (const auto& [neuron, sides] : difference.neurons) of_neurons += sides.here + sides.there;
    if (here + there > 0) {
      EXPECT_EQ(here, difference.only_here);
      EXPECT_EQ(there, difference.only_there);
    }
    if (of_neurons > 0) {
      EXPECT_EQ(of_neurons, difference.only_here + difference.only_there);
    }
    EXPECT_EQ(difference.examples.size(), std::min<std::uint64_t>(2, difference.only_here) +
                                              std::min<std::uint64_t>(2, difference.only_there));
  }
}

TEST_P(EveryCriterion, CollectsTheItemsThatItCounts) {
  const auto criterion = fresh();
  std::vector<std::vector<std::uint64_t>> items(60);
  auto* itemised = ability<Itemised>(*criterion);
  if (itemised == nullptr) GTEST_SKIP() << GetParam() << " has no items";
  itemised->collect_into(&items);
  suite.give(*criterion);
  criterion->result();
  std::set<std::uint64_t> distinct;
  for (const auto& row : items) distinct.insert(row.begin(), row.end());
  EXPECT_EQ(std::to_string(distinct.size()), criterion->result().back().covered);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const CriterionInfo& info : criteria()) result.push_back(info.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryCriterion, testing::ValuesIn(names()));

// As little as a criterion can be: how many records there were.
class CountOfRecords final : public Criterion {
 public:
  void observe(const ActivationBatch& batch) override { count_ += batch.indices.size(); }
  void merge(const Criterion& other) override { count_ += dynamic_cast<const CountOfRecords&>(other).count_; }
  std::vector<Coverage> result() const override { return {coverage_of("all", count_, count_)}; }
  nlohmann::json save() const override { return count_; }
  void load(const nlohmann::json& state) override { count_ = state.get<std::size_t>(); }

 private:
  std::size_t count_ = 0;
};

TEST(Criteria, SayWhatTheyCannotDo) {
  const CountOfRecords smallest;
  EXPECT_EQ(ability<Itemised>(smallest), nullptr);
  EXPECT_EQ(ability<Comparable>(smallest), nullptr);
  EXPECT_EQ(ability<Guiding>(smallest), nullptr);
  EXPECT_EQ(ability<Valued>(smallest), nullptr);
  const auto nc = test::criterion("nc"), nlc = test::criterion("nlc");
  EXPECT_EQ(&required<Itemised>(*nc, "nc"), ability<Itemised>(*nc));
  try {
    required<Itemised>(*nlc, "nlc[cap=100]");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_STREQ(error.what(),
                 "nlc[cap=100] has no items that records cover one by one; choose another criterion");
  }
  EXPECT_THROW(required<Comparable>(*nlc, "nlc"), Error);
  EXPECT_THROW(required<Guiding>(smallest, "count"), Error);
  EXPECT_THROW(required<Valued>(*nc, "nc"), Error);
}

TEST(Criteria, AreListedAndUnknownNamesAreRefused) {
  const std::vector<std::string> all = names();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  try {
    criteria().find("icd");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("'icd'"), std::string::npos) << error.what();
  }
}

TEST(Criteria, EveryPresetCanBeMade) {
  ASSERT_FALSE(presets().empty());
  for (const CriteriaPreset& preset : presets()) {
    EXPECT_FALSE(preset.criteria().empty()) << preset.name;
    for (const std::string& spec : preset.criteria()) {
      Spec parsed = parse_spec("criterion", spec);
      if (parsed.name.ends_with("idc")) parsed.options["m"] = "3";
      EXPECT_NO_THROW(make_criterion(test::profile(), parsed)) << preset.name << ": " << spec;
    }
  }
}

TEST(Criteria, PresetsAllAndFastAreComputedFromTheCatalogue) {
  EXPECT_EQ(presets().find("all").criteria(), names());
  const std::vector<std::string> fast = presets().find("fast").criteria();
  for (const CriterionInfo& info : criteria()) {
    const bool simple = info.needs <= CriterionInfo::Needs::quantiles && !info.keeps_activations;
    EXPECT_EQ(std::ranges::count(fast, info.name), simple ? 1 : 0) << info.name;
    const std::set<std::string> keepers{"vs", "sv", "vv"};
    EXPECT_EQ(info.keeps_activations, keepers.contains(info.name)) << info.name;
  }
  // One that is added says so itself.
  CriterionInfo slow = criteria().find("nc");
  slow.name = "slow", slow.keeps_activations = true;
  EXPECT_FALSE(presets().find("fast").takes(slow));
}

TEST(Spec, IsReadAndWritten) {
  const Spec spec = parse_spec("criterion", " kmnc[sections=100, layer=conv1+conv2] ");
  EXPECT_EQ(spec.name, "kmnc");
  EXPECT_EQ(spec.text(), "kmnc[layer=conv1+conv2,sections=100]");
  EXPECT_EQ(parse_spec("criterion", spec.text()), spec);
  EXPECT_EQ(parse_spec("criterion", "nc").text(), "nc");
  for (const char* text :
       {"", "[k=1]", "nc[", "nc[threshold]", "nc[=1]", "nc[k=1,k=2]", "nc[k=1", "nc[k=1]x"})
    EXPECT_THROW(parse_spec("criterion", text), Error) << text;
}

TEST(Spec, OptionsAreChecked) {
  for (const char* text :
       {"nc[treshold=0.5]", "nc[threshold=high]", "nc[scale=image]", "kmnc[sections=0]", "kmnc[sections=2.5]",
        "kmnc[layer=third]", "lsc[upper=0]", "tknc[k=-1]", "idc[m=9]", "kmnc[sections=99999999]"}) {
    EXPECT_THROW(test::criterion(text), Error) << text;
  }
}

}  // namespace
}  // namespace assay::coverage
