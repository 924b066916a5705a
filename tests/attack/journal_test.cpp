// Attacks that were killed: what was finished is kept, and nothing is done twice.

#include <gmock/gmock.h>

#include <filesystem>

#include <assay/attack.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/attack/attacked_batch.h"
#include "assay/data/files/numpy.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/file.h"
#include "tests/attack/build.h"

namespace assay::test {
using namespace attack;
namespace {

namespace fs = std::filesystem;

// Counts records, and stops as Ctrl-C does after so many of them.
struct Counting final : Progress {
  explicit Counting(std::size_t limit = 1000) : limit_(limit) {}
  void begin(std::string_view stage, std::size_t, std::string_view) override {
    search_ = stage.find("read back") == std::string_view::npos;
  }
  void advance(std::size_t amount, std::string_view) override {
    if (search_ && (records += amount) >= limit_) fail(Fault::interrupted, "Ctrl-C");
  }
  void end() override {}
  void notice(std::string_view) override {}
  std::size_t records = 0;

 private:
  std::size_t limit_;
  bool search_ = false;
};

class AttackJournals : public testing::Test {
 protected:
  AttackJournals() : session(dense_network(), one_thread) {
    folder = fs::path(testing::TempDir()) /
             (std::string("assay_journal_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
    const Array records = random_records(10, {6});
    write_npz(folder / "data.npz",
              {{"x", records}, {"y", Array::of<std::int64_t>({10}, std::vector<std::int64_t>(10, 0))}});
  }
  ~AttackJournals() override { fs::remove_all(folder); }

  AttackSummary attack(Progress& progress, std::uint64_t seed = 1,
                       const std::string& spec = "jsma[theta=0.4,gamma=0.8]") const {
    return attack_dataset(session, data(), parse_spec("attack", spec), file(), options(seed), progress);
  }
  AttackOptions options(std::uint64_t seed) const {
    return {.batch = 3, .seed = seed, .all = true, .journal = journal()};
  }
  DatasetPtr data() const { return open_dataset((folder / "data.npz").string() + ",range=0:1"); }
  fs::path journal() const { return folder / "set.npz.journal"; }
  fs::path file() const { return folder / "set.npz"; }

  Session session;
  fs::path folder;
};

void expect_same(const AttackSummary& now, const AttackSummary& calm) {
  EXPECT_EQ(now.walked, calm.walked);
  EXPECT_EQ(now.attacked, calm.attacked);
  EXPECT_EQ(now.succeeded, calm.succeeded);
  EXPECT_EQ(now.endings, calm.endings);
  EXPECT_EQ(now.forward, calm.forward);
  EXPECT_EQ(now.backward, calm.backward);
  EXPECT_EQ(now.l2, calm.l2);
}

TEST_F(AttackJournals, GoOnFromEveryBatch) {
  const AttackSummary calm = attack(silence());
  const std::string bytes = read_file(file());
  EXPECT_GT(calm.succeeded, 0u);
  EXPECT_LT(calm.succeeded, calm.attacked);
  for (const std::size_t stop : {3, 6, 9}) {
    fs::remove(journal());
    fs::remove(file());
    Counting before(stop), after;
    EXPECT_THROW(attack(before), Error);
    expect_same(attack(after), calm);
    EXPECT_EQ(before.records + after.records, 10u) << "stopped after " << stop;
    EXPECT_TRUE(read_file(file()) == bytes) << "stopped after " << stop;
  }
}

TEST_F(AttackJournals, OfAFinishedAttackLeaveNothingToDo) {
  const AttackSummary calm = attack(silence());
  Counting progress;
  expect_same(attack(progress), calm);
  EXPECT_EQ(progress.records, 0u);
}

TEST_F(AttackJournals, CutOffAtAnyByteLoseAtMostTheBatchThatWasBeingWritten) {
  const AttackSummary calm = attack(silence());
  const std::string bytes = read_file(file()), whole = read_file(journal());
  std::size_t least = 10;
  for (std::size_t size = 0; size < whole.size(); size += 37) {
    write_file(journal(), std::string_view(whole).substr(0, size));
    Counting progress;
    expect_same(attack(progress), calm);
    EXPECT_LE(progress.records, least) << size;
    least = progress.records;
    EXPECT_TRUE(read_file(file()) == bytes) << size;
  }
  EXPECT_EQ(least, 1u);  // the last batch has one record
}

TEST_F(AttackJournals, OfAnotherAttackAreRefused) {
  attack(silence());
  EXPECT_THROW(attack(silence(), 2), Error);
  EXPECT_THROW(attack(silence(), 1, "fgsm"), Error);
}

TEST_F(AttackJournals, WithNonsenseBehindTheirChecksumsAreRefused) {
  const JournalKey work = journal_key(session, *data(), attack(silence()).spec, options(1));
  const nlohmann::json batch = from_bytes(Journal(journal(), work).found()[0].bytes);
  const auto refused = [&](const nlohmann::json& value) {
    Journal(journal(), work).replace("to 3", assay::to_bytes(value));
    try {
      attack(silence());
      ADD_FAILURE() << value.dump();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_THAT(error.what(), testing::HasSubstr("remove the file"));
    }
  };
  refused(nlohmann::json::array({1, 2}));
  const auto with = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json changed = batch;
    changed[key] = value;
    return changed;
  };
  refused(with("walked", 11));
  refused(with("walked", ~std::uint64_t{0}));
  refused(with("walked", 1));  // its records are beyond it
  refused(with("inputs", to_binary(std::vector<float>(5))));
  refused(with("forward", to_binary(std::vector<std::uint64_t>{1})));
  refused(with("original", to_binary(std::vector<std::uint64_t>{0, 1, 9})));
}

}  // namespace
}  // namespace assay::test
