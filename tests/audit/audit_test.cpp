// Audits of pools whose truth is planted: a criterion that tracks faults is found, a random one is not.

#include <gmock/gmock.h>

#include <assay/audit.h>
#include <assay/error.h>
#include <cmath>
#include <set>

#include "assay/audit/subsets.h"
#include "assay/audit/tracking.h"
#include "assay/audit/values.h"

namespace assay::audit {
namespace {

using testing::HasSubstr;

constexpr std::size_t pool_records = 300, pool_faults = 40;

void add_row(selection::CoveredRows& rows, const std::vector<std::uint32_t>& row) { rows.add(row); }

// Records of five classes; each reveals a few faults, more of them in some classes than in others.
struct Planted {
  Pool pool;
  std::vector<std::vector<std::uint32_t>> revealed;
};

Planted planted(std::uint64_t seed) {
  Planted made;
  Rng rng(seed, {1});
  Faults faults{"mutants", "mutants killed", {}};
  for (std::size_t r = 0; r < pool_records; ++r) {
    made.pool.classes.push_back(static_cast<std::int32_t>(r % 5));
    made.pool.clusters.push_back(static_cast<std::int32_t>(rng.below(4)));
    std::vector<std::uint32_t> row;
    for (std::uint32_t f = 0; f < pool_faults; ++f) {
      if (rng.uniform() < 0.005 * static_cast<double>(1 + r % 5)) row.push_back(f);
    }
    add_row(faults.rows, row);
    made.revealed.push_back(row);
  }
  made.pool.faults.push_back(std::move(faults));
  return made;
}

Measured random_criterion(std::uint64_t seed, std::size_t items = 60) {
  Rng rng(seed, {2});
  Measured measured{.name = "random", .rows = {}};
  for (std::size_t r = 0; r < pool_records; ++r) {
    std::vector<std::uint32_t> row;
    for (std::size_t i = 0; i < 1 + rng.below(4); ++i)
      row.push_back(static_cast<std::uint32_t>(rng.below(items)));
    add_row(measured.rows, row);
  }
  return measured;
}

// Covers an item for each fault that a record reveals, and others at random.
Measured tracking_criterion(const Planted& truth, std::uint64_t seed) {
  Rng rng(seed, {3});
  Measured measured{.name = "tracking", .rows = {}};
  for (const auto& faults : truth.revealed) {
    std::vector<std::uint32_t> row = faults;
    row.push_back(static_cast<std::uint32_t>(pool_faults + rng.below(10)));
    add_row(measured.rows, row);
  }
  return measured;
}

// Covers what depends on the class alone, more in those classes that reveal more.
Measured class_criterion(const Pool& pool, std::uint64_t seed) {
  Rng rng(seed, {4});
  Measured measured{.name = "classes", .rows = {}};
  for (const std::int32_t name : pool.classes) {
    std::vector<std::uint32_t> row;
    for (std::int32_t i = 0; i <= name; ++i)
      row.push_back(static_cast<std::uint32_t>(name * 20) + static_cast<std::uint32_t>(rng.below(20)));
    add_row(measured.rows, row);
  }
  return measured;
}

AuditOptions quick() {
  AuditOptions options;
  options.sizes = {10, 25};
  options.subsets = 40;
  options.permutations = 199;
  options.resamples = 50;
  options.orders = 39;
  return options;
}

const Tracking& tracking_of(const Audit& result, const std::string& criterion) {
  for (const Tracking& tracking : result.trackings) {
    if (tracking.criterion == criterion) return tracking;
  }
  throw std::runtime_error("no " + criterion);
}

TEST(Audit, FindsWhatIsPlanted) {
  Planted truth = planted(1);
  truth.pool.criteria = {tracking_criterion(truth, 1), random_criterion(1), class_criterion(truth.pool, 1)};
  const Audit result = audit(truth.pool, quick(), silence());
  const Tracking good = tracking_of(result, "tracking");
  EXPECT_EQ(good.verdict, Verdict::beyond_classes);
  EXPECT_GT(good.tau, 0.5);
  EXPECT_GT(good.low, 0.3);
  EXPECT_LT(good.low, good.tau);
  EXPECT_GT(good.high, good.tau);
  EXPECT_EQ(tracking_of(result, "random").verdict, Verdict::silent);
  EXPECT_EQ(tracking_of(result, "classes").verdict, Verdict::by_classes);
  EXPECT_GT(*result.criteria[2].by_classes, 2 * *result.criteria[1].by_classes);
  // Orders: the criterion that tracks faults finds them early.
  for (const OrderScore& order : result.orders) {
    if (order.order == "tracking") {
      EXPECT_LT(order.p, 0.05);
    }
    EXPECT_GT(order.apfd, order.low - 1e-12);
  }
  EXPECT_NEAR(result.agreement[0][0], 1, 1e-12);
}

TEST(Audit, IsRarelyWrongAboutRandomCriteria) {
  // 200 runs at the level of 0.05: 23 or more false findings would come with a probability of 0.0002.
  std::size_t found = 0;
  for (std::uint64_t run = 0; run < 200; ++run) {
    Planted truth = planted(run + 10);
    const Measured criterion = random_criterion(run + 10);
    AuditOptions options = quick();
    options.seed = run;
    options.sizes = {15};
    options.subsets = 20;
    const std::vector<Stratum> strata = draw_strata(truth.pool, options);
    const Valuer valuer(criterion);
    const Values faults = Valuer(truth.pool.faults[0].rows, pool_records).values(strata);
    const double tau = mean_tau(valuer.values(strata), faults);
    const std::vector<std::int64_t> together(pool_records, 0);
    found += permutation_p(valuer, strata, together, {faults}, {tau}, Tail::both, 79, run, 1)[0] <= 0.05;
  }
  EXPECT_LT(found, 23U);
}

TEST(Audit, IsRarelyWrongAboutCriteriaOfClasses) {
  // Within classes, a criterion that only follows the class does no more than chance.
  std::size_t found = 0;
  for (std::uint64_t run = 0; run < 200; ++run) {
    Planted truth = planted(run + 500);
    const Measured criterion = class_criterion(truth.pool, run + 500);
    AuditOptions options = quick();
    options.seed = run;
    options.sizes = {15};
    options.subsets = 20;
    options.samplers = {"uniform", "class"};
    const std::vector<Stratum> strata = draw_strata(truth.pool, options);
    const Valuer valuer(criterion);
    const Values faults = Valuer(truth.pool.faults[0].rows, pool_records).values(strata);
    const double tau = mean_tau(valuer.values(strata), faults);
    const std::vector<std::int64_t> cells(truth.pool.classes.begin(), truth.pool.classes.end());
    // Towards the sign of tau, which doubles the size of the test.
    found += permutation_p(valuer, strata, cells, {faults}, {tau}, Tail::signed_one, 79, run, 1)[0] <= 0.025;
  }
  EXPECT_LT(found, 23U);
}

TEST(Audit, IsTheSameForEveryNumberOfThreads) {
  Planted truth = planted(2);
  truth.pool.criteria = {tracking_criterion(truth, 2), random_criterion(2)};
  AuditOptions options = quick();
  options.threads = 1;
  const Audit one = audit(truth.pool, options, silence());
  options.threads = 3;
  const Audit three = audit(truth.pool, options, silence());
  for (std::size_t i = 0; i < one.trackings.size(); ++i) {
    EXPECT_EQ(one.trackings[i].tau, three.trackings[i].tau);
    EXPECT_EQ(one.trackings[i].low, three.trackings[i].low);
    EXPECT_EQ(one.trackings[i].p, three.trackings[i].p);
    EXPECT_EQ(one.trackings[i].p_within, three.trackings[i].p_within);
  }
  for (std::size_t i = 0; i < one.orders.size(); ++i) EXPECT_EQ(one.orders[i].p, three.orders[i].p);
}

TEST(Audit, SaysWhyNothingCanBeTold) {
  Planted truth = planted(3);
  Measured all{.name = "everything", .rows = {}};
  for (std::size_t r = 0; r < pool_records; ++r) add_row(all.rows, {0, 1, 2});
  truth.pool.criteria = {all};
  const Audit result = audit(truth.pool, quick(), silence());
  EXPECT_EQ(result.trackings[0].verdict, Verdict::undecidable);
  EXPECT_EQ(result.trackings[0].reason, "all subsets of a size have the same figure");
  EXPECT_TRUE(std::isnan(result.trackings[0].tau));
  EXPECT_EQ(result.trackings[0].p, 1);
}

TEST(Audit, RefusesWhatItCannotUse) {
  Planted truth = planted(4);
  truth.pool.criteria = {random_criterion(4)};
  const auto refused = [&](const AuditOptions& options, const std::string& words) {
    try {
      audit(truth.pool, options, silence());
      FAIL() << words;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  };
  AuditOptions options = quick();
  options.sizes = {pool_records};
  refused(options, "cannot be drawn from 300");
  options.sizes = {0};
  refused(options, "subsets of 0 records");
  options = quick();
  options.samplers = {"clusters"};
  refused(options, "cluster");
  options = quick();
  options.subsets = 3;
  refused(options, "at least 10");
  EXPECT_THROW(settled(quick(), 1), Error);
  EXPECT_EQ(settled({}, 1000).sizes, (std::vector<std::size_t>{10, 20, 50}));
  EXPECT_EQ(settled({}, 12).sizes, (std::vector<std::size_t>{5}));
  truth.pool.clusters.clear();
  refused(quick(), "the clusters of records are not known");
  truth.pool.faults.clear();
  refused(quick(), "needs faults");
}

TEST(Values, CountDifferentItemsHoweverTheyAreKept) {
  // Few items are kept as bits, many as lists; both are those of a set.
  for (const std::size_t items : {20UL, 100'000UL}) {
    const Measured measured = random_criterion(5, items);
    Planted truth = planted(5);
    AuditOptions options = quick();
    const std::vector<Stratum> strata = draw_strata(truth.pool, options);
    std::vector<std::uint32_t> place(pool_records);
    for (std::size_t r = 0; r < pool_records; ++r)
      place[r] = static_cast<std::uint32_t>((r * 7) % pool_records);
    const Values plain = Valuer(measured).values(strata), moved = Valuer(measured).values(strata, place);
    for (std::size_t s = 0; s < strata.size(); ++s) {
      for (std::size_t i = 0; i < strata[s].subsets.size(); ++i) {
        std::set<std::uint32_t> here, there;
        for (const std::uint32_t record : strata[s].subsets[i]) {
          for (const std::uint32_t item : measured.rows.row(record)) here.insert(item);
          for (const std::uint32_t item : measured.rows.row((record * 7) % pool_records)) there.insert(item);
        }
        ASSERT_EQ(plain[s][i], static_cast<double>(here.size()));
        ASSERT_EQ(moved[s][i], static_cast<double>(there.size()));
      }
    }
  }
}

TEST(Subsets, HaveTheirSizeAndFollowTheirKind) {
  Planted truth = planted(6);
  AuditOptions options = quick();
  options.sizes = {30};
  const std::vector<Stratum> strata = draw_strata(truth.pool, options);
  ASSERT_EQ(strata.size(), 3U);
  std::vector<double> most;
  for (const Stratum& stratum : strata) {
    double share = 0;
    for (const auto& subset : stratum.subsets) {
      EXPECT_EQ(std::set(subset.begin(), subset.end()).size(), 30U);
      std::vector<double> classes(5, 0);
      for (const std::uint32_t record : subset)
        ++classes[static_cast<std::size_t>(truth.pool.classes[record])];
      share += *std::ranges::max_element(classes) / 30;
    }
    most.push_back(share / static_cast<double>(stratum.subsets.size()));
  }
  EXPECT_LT(most[0], 0.4);
  EXPECT_GT(most[1], 0.5);
  // More subsets leave the first ones as they are.
  options.subsets = 60;
  EXPECT_EQ(draw_strata(truth.pool, options)[1].subsets[7], strata[1].subsets[7]);
}

TEST(Apfd, OfSharedFaultsByHand) {
  selection::CoveredRows faults;
  add_row(faults, {0});
  add_row(faults, {1, 2});
  add_row(faults, {});
  add_row(faults, {2});
  // First places in the order 2, 3, 1, 0: fault 2 at 2, fault 1 at 3, fault 0 at 4.
  const std::vector<std::size_t> order{2, 3, 1, 0};
  EXPECT_DOUBLE_EQ(*apfd_of(order, faults), 1 - 9.0 / 12 + 1.0 / 8);
  selection::CoveredRows none;
  for (int i = 0; i < 4; ++i) add_row(none, {});
  EXPECT_FALSE(apfd_of(order, none));
}

TEST(ExplainedByClasses, IsAllOfItForAFunctionOfTheClasses) {
  Planted truth = planted(7);
  AuditOptions options = quick();
  options.samplers = {"class"};
  const std::vector<Stratum> strata = draw_strata(truth.pool, options);
  Values shares;
  for (const Stratum& stratum : strata) {
    auto& of_stratum = shares.emplace_back();
    for (const auto& subset : stratum.subsets)
      of_stratum.push_back(static_cast<double>(std::ranges::count_if(
          subset, [&](std::uint32_t record) { return truth.pool.classes[record] == 2; })));
  }
  // Ranks are nearly linear in the share itself.
  EXPECT_GT(*explained_by_classes(strata, shares, truth.pool.classes), 0.6);
  EXPECT_FALSE(explained_by_classes(strata, shares, std::vector<std::int32_t>(pool_records, 0)));
}

}  // namespace
}  // namespace assay::audit
