#include "assay/inspection/units/behaviour_cache.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <thread>

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "tests/inspection/annotated.h"
#include "tests/inspection/folder.h"

namespace assay::inspection {
namespace {

namespace fs = std::filesystem;

// Two hypotheses, of bytes and of floats; counts the records that it was asked for.
class Counting final : public Annotator {
 public:
  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return "1"; }
  Behaviours annotate(const RecordBlock& records) const override {
    asked += records.size();
    const std::size_t symbols = records.texts[0].begins.size() - 1;
    Behaviours behaviours{{static_cast<std::int64_t>(symbols)}, {}};
    for (const RecordText& record : records.texts) {
      for (std::size_t k = 0; k < symbols; ++k)
        behaviours.values.push_back(k >= record.text.size() ? std::numeric_limits<float>::quiet_NaN()
                                    : record.text[k] == 'a' ? 1.0F
                                                            : 0.0F);
      for (std::size_t k = 0; k < symbols; ++k)
        behaviours.values.push_back(k < record.text.size() ? static_cast<float>(record.text[k]) * 0.25F - 9
                                                           : 0);
    }
    return behaviours;
  }
  mutable std::atomic<std::size_t> asked = 0;

 private:
  std::vector<Hypothesis> hypotheses_{{"a", BehaviourKind::binary}, {"code", BehaviourKind::numeric}};
};

// Says whatever the test wants.
class Saying final : public Annotator {
 public:
  Saying(Hypothesis hypothesis, Behaviours behaviours)
      : hypotheses_{std::move(hypothesis)}, behaviours_(std::move(behaviours)) {}
  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return ""; }
  Behaviours annotate(const RecordBlock&) const override { return behaviours_; }

 private:
  std::vector<Hypothesis> hypotheses_;
  Behaviours behaviours_;
};

const test::Annotated& words() {
  static const test::Annotated all({"abba", "ab", "cab", "aaaa", "", "bcba"});
  return all;
}

Behaviours ask(BehaviourCache& cache, const Annotator& annotator, const std::string& key,
               const std::vector<std::size_t>& indices) {
  return words().with(indices,
                      [&](const RecordBlock& block) { return cache.get_or_compute(annotator, key, block); });
}

// NaN equals NaN.
void expect_same(const Behaviours& a, const Behaviours& b) {
  EXPECT_EQ(a.positions, b.positions);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (std::isnan(a.values[i])) {
      EXPECT_TRUE(std::isnan(b.values[i])) << i;
    } else {
      EXPECT_EQ(a.values[i], b.values[i]) << i;
    }
  }
}

const std::vector<std::size_t> everything{0, 1, 2, 3, 4, 5};

TEST(BehaviourCache, ComputesARecordOnceWhateverTheBlocks) {
  const Counting counting;
  BehaviourCache cache;
  expect_same(ask(cache, counting, "k", {0, 1, 2}), words().some(counting, {0, 1, 2}));
  counting.asked = 0;
  const Behaviours mixed = ask(cache, counting, "k", {5, 2, 3, 0});
  EXPECT_EQ(counting.asked, 2U);  // 5 and 3
  EXPECT_EQ(cache.hits(), 2U);
  EXPECT_EQ(cache.misses(), 5U);
  expect_same(mixed, words().some(counting, {5, 2, 3, 0}));
  counting.asked = 0;
  ask(cache, counting, "another key", {0});
  EXPECT_EQ(counting.asked, 1U);
}

TEST(BehaviourCache, ComputesEverythingWhereThereIsNoKey) {
  const Counting counting;
  BehaviourCache cache;
  ask(cache, counting, "", {0, 1});
  ask(cache, counting, "", {0, 1});
  EXPECT_EQ(counting.asked, 4U);
  EXPECT_EQ(cache.memory(), 0U);
}

TEST(BehaviourCache, ForgetsWhatWasNotUsedForLongestWhenMemoryIsFull) {
  const Counting counting;
  BehaviourCache probe;
  ask(probe, counting, "k", {0});
  BehaviourCache cache({}, 2 * probe.memory());
  for (const std::size_t record : {0, 1, 0, 2}) ask(cache, counting, "k", {record});
  EXPECT_LE(cache.memory(), 2 * probe.memory());
  counting.asked = 0;
  ask(cache, counting, "k", {0});
  EXPECT_EQ(counting.asked, 0U);
  ask(cache, counting, "k", {1});
  EXPECT_EQ(counting.asked, 1U);
}

TEST(BehaviourCache, GoesOnFromItsFolder) {
  const test::TemporaryFolder folder;
  const Counting counting;
  {
    BehaviourCache first(folder.path(), 0);
    ask(first, counting, "k", {0, 1});
    ask(first, counting, "k", {2, 3});
    expect_same(ask(first, counting, "k", {0, 3}), words().some(counting, {0, 3}));
  }
  counting.asked = 0;
  BehaviourCache second(folder.path());
  const Behaviours known = ask(second, counting, "k", {3, 2, 1, 0});
  EXPECT_EQ(counting.asked, 0U);
  expect_same(known, words().some(counting, {3, 2, 1, 0}));
  counting.asked = 0;
  ask(second, counting, "k2", {3});
  EXPECT_EQ(counting.asked, 1U);
}

TEST(BehaviourCache, TakesOverWhatAnotherProcessFinds) {
  const test::TemporaryFolder folder;
  const Counting counting;
  BehaviourCache one(folder.path()), other(folder.path());
  ask(one, counting, "k", {0, 1});
  ask(other, counting, "k", {1, 2});
  counting.asked = 0;
  ask(one, counting, "k", {0, 1, 2});
  ask(other, counting, "k", {0, 1, 2});
  EXPECT_EQ(counting.asked, 0U);
}

fs::path only_file(const fs::path& folder) { return fs::directory_iterator(folder)->path(); }

TEST(BehaviourCache, ComputesAgainWhatAKillCutOff) {
  const test::TemporaryFolder folder;
  const Counting counting;
  const Behaviours truth = words().all(counting);
  {
    BehaviourCache cache(folder.path());
    ask(cache, counting, "k", {0, 1, 2});
    ask(cache, counting, "k", {3, 4, 5});
  }
  const fs::path file = only_file(folder.path());
  const std::string whole = read_file(file);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::ofstream(file, std::ios::binary).write(whole.data(), static_cast<std::streamsize>(size));
    BehaviourCache cache(folder.path());
    expect_same(ask(cache, counting, "k", everything), truth);
    EXPECT_EQ(read_file(file).size(), whole.size()) << "cut at " << size;
  }
}

TEST(BehaviourCache, NeverTrustsADamagedFile) {
  const test::TemporaryFolder folder;
  const Counting counting;
  const Behaviours truth = words().all(counting);
  {
    BehaviourCache cache(folder.path());
    ask(cache, counting, "k", everything);
  }
  const fs::path file = only_file(folder.path());
  const std::string whole = read_file(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    write_file(file, damaged);
    BehaviourCache cache(folder.path(), 0);
    expect_same(ask(cache, counting, "k", everything), truth);
    expect_same(ask(cache, counting, "k", everything), truth);
  }
}

TEST(BehaviourCache, LeavesWhatIsNotItsOwn) {
  const test::TemporaryFolder folder;
  const Counting counting;
  const Behaviours truth = words().all(counting);
  {
    BehaviourCache cache(folder.path());
    ask(cache, counting, "k", everything);
  }
  const fs::path file = only_file(folder.path());
  write_file(file, "the only copy of a thesis");
  {
    BehaviourCache cache(folder.path());
    expect_same(ask(cache, counting, "k", everything), truth);
    EXPECT_THAT(cache.notices(), testing::ElementsAre(testing::HasSubstr("it holds something else")));
  }
  EXPECT_EQ(read_file(file), "the only copy of a thesis");
  const fs::path other = folder.path() / "elsewhere" / "other";
  write_file(other, "precious");
  for (const bool symbolic : {true, false}) {
    fs::remove(file);
    if (symbolic)
      fs::create_symlink(other, file);
    else
      fs::create_hard_link(other, file);
    BehaviourCache cache(folder.path());
    EXPECT_THROW(ask(cache, counting, "k", everything), Error);
    EXPECT_EQ(read_file(other), "precious");
  }
}

TEST(BehaviourCache, NoticesDamageWhileItIsOpen) {
  const test::TemporaryFolder folder;
  const Counting counting;
  const Behaviours truth = words().all(counting);
  BehaviourCache cache(folder.path(), 0);
  ask(cache, counting, "k", everything);
  const fs::path file = only_file(folder.path());
  const std::size_t size = fs::file_size(file);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << std::string(size, '?');  // in place
  expect_same(ask(cache, counting, "k", everything), truth);
  fs::resize_file(file, 7);
  expect_same(ask(cache, counting, "k", everything), truth);
}

TEST(BehaviourCache, ServesSeveralThreads) {
  const Counting counting;
  const test::TemporaryFolder folder;
  BehaviourCache cache(folder.path(), 300);
  const Behaviours truth = words().all(counting);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) expect_same(ask(cache, counting, "k", everything), truth);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(BehaviourCache, RefusesAFolderThatCannotBe) { EXPECT_THROW(BehaviourCache("/proc/none"), Error); }

TEST(BehaviourKey, DependsOnAllThatBehavioursDependOn) {
  const Counting counting;
  EXPECT_NE(behaviour_key(counting, "a", "data"), behaviour_key(counting, "a", "other data"));
  EXPECT_NE(behaviour_key(counting, "a", "data"), behaviour_key(counting, "b", "data"));
  EXPECT_EQ(behaviour_key(Saying({"h"}, {}), "a", "data"), "");
}

std::string refusal(const Hypothesis& hypothesis, const Shape& positions, std::vector<float> values) {
  const Saying saying(hypothesis, {positions, std::move(values)});
  BehaviourCache cache;
  try {
    ask(cache, saying, "", {2, 1});
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CheckBehaviours, NamesHypothesisAndRecord) {
  EXPECT_THAT(
      refusal({"h"}, {4}, {1, 0}),
      testing::AllOf(testing::HasSubstr("'h'"), testing::HasSubstr("2 values"), testing::HasSubstr("'2'")));
  EXPECT_THAT(refusal({"h"}, {2}, {1, 0, 1, 2}),
              testing::AllOf(testing::HasSubstr("'h'"), testing::HasSubstr("record '1'"),
                             testing::HasSubstr("position 1")));
  const Hypothesis colour{"colour", BehaviourKind::categorical, {"red", "green"}};
  EXPECT_THAT(refusal(colour, {}, {1, 2}), testing::HasSubstr("without a class"));
  EXPECT_THAT(refusal(colour, {}, {1, 0.5F}), testing::HasSubstr("a code"));
  EXPECT_THAT(refusal({"n", BehaviourKind::numeric}, {}, {1, INFINITY}), testing::HasSubstr("finite"));
  EXPECT_EQ(refusal({"n", BehaviourKind::numeric}, {}, {-1.5F, NAN}), "accepted");
}

}  // namespace
}  // namespace assay::inspection
