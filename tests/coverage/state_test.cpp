#include <assay/coverage_state.h>
#include <assay/extend/abilities.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include "assay/support/files/binary.h"
#include "assay/support/files/file.h"
#include "tests/coverage/build.h"
#include "tests/engine/graphs.h"
#include "tests/support/records.h"

namespace assay::coverage {
namespace {

// Random pictures for the small convolutional network.
DatasetPtr pictures(std::int64_t records, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values;
  std::vector<std::int64_t> labels;
  RecordOptions options{.name = "pictures"};
  for (std::int64_t i = 0; i < records; ++i) {
    for (std::int64_t p = 0; p < 144; ++p)
      values.push_back(static_cast<float>(20 * rng.normal() + 15 * (static_cast<double>(i % 3) - 1)));
    labels.push_back(i % 5);
    options.ids.push_back("r" + std::to_string(i));
  }
  options.class_names = {"a", "b", "c", "d", "e"};
  return from_arrays(Array::of<float>({records, 1, 12, 12}, values), std::move(labels), std::move(options));
}

std::vector<Spec> all_specs() {
  std::vector<Spec> specs;
  for (const CriterionInfo& info : criteria())
    specs.push_back(parse_spec("criterion", info.name.ends_with("idc") ? info.name + "[m=4]" : info.name));
  return specs;
}

// The small network with its last biases moved so that mean activations give no class an advantage.
Graph with_varied_decisions() {
  const Graph graph = test::lenet_like();
  LearnOptions options;
  options.criteria = {parse_spec("criterion", "nc")};
  const Profile profile = learn_profile(Session(graph), pictures(300, 1), options, silence()).profile;
  const LayerStatistics& hidden = profile.statistics[profile.position("dense1")];
  const std::span<const float> weights = graph.constant(*graph.find_value("logits/w")).as<float>();
  std::vector<float> biases(5, 0.0f);
  for (std::size_t i = 0; i < weights.size(); ++i)
    biases[i / 10] -= static_cast<float>(weights[i] * hidden.mean[i % 10]);
  GraphBuilder edit(graph);
  edit.replace_constant(*graph.find_value("logits/b"), Array::of<float>({5}, biases));
  return edit.build();
}

class State : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    session = std::make_unique<Session>(with_varied_decisions());
    LearnOptions options;
    options.criteria = choices_of<CriterionInfo>(all_specs());
    profile = std::make_shared<const Profile>(
        learn_profile(*session, pictures(300, 1), options, silence()).profile);
  }
  static void TearDownTestSuite() {
    session.reset();
    profile.reset();
  }
  void TearDown() override { std::filesystem::remove(path); }

  static CoverageState fresh(bool by_class = false) {
    return CoverageState(profile, choices_of<CriterionInfo>(all_specs()), by_class);
  }
  static CoverageState measured(const DatasetPtr& data, MeasureOptions options = {}, bool by_class = false) {
    options.batch = 2;  // many shards of a small set
    CoverageState state = fresh(by_class);
    measure(*session, state, data, options, silence());
    return state;
  }
  std::string bytes(const CoverageState& state) const {
    state.write(path);
    return read_file(path);
  }

  static std::unique_ptr<Session> session;
  static std::shared_ptr<const Profile> profile;
  const DatasetPtr test_set = pictures(131, 2);
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("assay-state-" + std::to_string(getpid()));
};
std::unique_ptr<Session> State::session;
std::shared_ptr<const Profile> State::profile;

TEST_F(State, SixtyFourShardsInAnyOrderAreTheWholeByteForByte) {
  for (const bool by_class : {false, true}) {
    const std::string whole = bytes(measured(test_set, {}, by_class));
    std::vector<std::size_t> order(64);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i + 1;
    Rng(3).shuffle(order);
    CoverageState all = fresh(by_class);
    for (const std::size_t shard : order)
      all.merge(measured(test_set, {.shard = shard, .shards = 64}, by_class));
    EXPECT_TRUE(bytes(all) == whole);  // not EXPECT_EQ, whose message would be the bytes
  }
}

TEST_F(State, IsReadBackWithoutTraces) {
  const CoverageState state = measured(test_set);
  const std::string written = bytes(state);
  const CoverageState read = CoverageState::read(path);
  EXPECT_TRUE(bytes(read) == written);
  EXPECT_EQ(read.figures().size(), state.figures().size());
  for (std::size_t i = 0; i < read.figures().size(); ++i)
    EXPECT_EQ(read.figures()[i].coverage.value, state.figures()[i].coverage.value);
}

TEST_F(State, GoesOnWhereAnEarlierRunStopped) {
  const std::string whole = bytes(measured(test_set));
  bytes(measured(test_set, {.shard = 1, .shards = 3}));
  CoverageState resumed = CoverageState::read(path, profile);
  measure(*session, resumed, test_set, {.batch = 2}, silence());
  EXPECT_TRUE(bytes(resumed) == whole);
}

// Stops as Ctrl-C does after so many records.
struct Stopping final : Progress {
  explicit Stopping(std::size_t limit) : limit_(limit) {}
  void begin(std::string_view, std::size_t, std::string_view) override {}
  void advance(std::size_t amount, std::string_view) override {
    if ((records += amount) >= limit_) fail(Fault::interrupted, "Ctrl-C");
  }
  void end() override {}
  void notice(std::string_view) override {}
  std::size_t records = 0;

 private:
  std::size_t limit_;
};

TEST_F(State, InterruptedMeasuringGoesOnFromItsJournal) {
  const std::string whole = bytes(measured(test_set));
  const std::filesystem::path journal = path.string() + ".journal";
  std::filesystem::remove(journal);
  const MeasureOptions options{.batch = 2, .journal = journal, .journal_seconds = 0};
  for (const std::size_t patience : {30, 50}) {
    CoverageState state = fresh();
    Stopping stopping(patience);
    EXPECT_THROW(measure(*session, state, test_set, options, stopping), Error);
  }
  CoverageState last = fresh();
  const auto refused = [&](const DatasetPtr& data, const MeasureOptions& other, CoverageState state) {
    try {
      measure(*session, state, data, other, silence());
      ADD_FAILURE() << "the journal is of other work";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::mismatch) << error.what();
    }
  };
  MeasureOptions of_night = options, of_shard = options;
  of_night.context = "night";
  of_shard.shards = 2;
  refused(pictures(50, 9), options, fresh());
  refused(test_set, of_night, fresh());
  refused(test_set, of_shard, fresh());
  refused(test_set, options, fresh(true));
  refused(test_set, options, measured(pictures(50, 9)));
  Stopping counting(1000);
  measure(*session, last, test_set, options, counting);
  EXPECT_LE(counting.records, 131U - 74U);  // a batch is noted before it is counted
  EXPECT_TRUE(bytes(last) == whole);
  std::filesystem::remove(journal);
}

TEST_F(State, ContextsAreKeptApartAndAddUp) {
  CoverageState state = fresh();
  measure(*session, state, test_set, {.context = "day"}, silence());
  measure(*session, state, pictures(50, 9), {.context = "night"}, silence());
  EXPECT_EQ(state.contexts(), (std::vector<std::string>{"day", "night"}));
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    if (state.specs()[c].name == "nlc") continue;
    const double all = state.total(c)->result().back().value;
    EXPECT_GE(all, state.total(c, "day")->result().back().value);
    EXPECT_GE(all, state.total(c, "night")->result().back().value);
  }
}

TEST_F(State, ClassesAddUpToTheWhole) {
  const CoverageState whole = measured(test_set), by_class = measured(test_set, {}, true);
  EXPECT_GT(by_class.classes().size(), 1u);
  for (std::size_t c = 0; c < whole.specs().size(); ++c) {
    EXPECT_TRUE(by_class.total(c)->save() == whole.total(c)->save()) << whole.specs()[c].text();
  }
}

TEST_F(State, RecordsThatAreNotFiniteAreListedAndLeftOut) {
  const auto spoilt = std::make_shared<test::Spoiled>(pictures(40, 2), std::vector<std::size_t>{5, 17}, 7);
  const CoverageState state = measured(spoilt);
  EXPECT_EQ(state.records(), 38u);
  EXPECT_EQ(state.parts().front()->non_finite, (std::vector<std::size_t>{5, 17}));
}

TEST_F(State, KnowsTheIdsOfRecordsThatCoveredSomethingFirst) {
  CoverageState state = measured(test_set);
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto total = state.total(c);
    const auto* itemised = ability<Itemised>(*total);
    if (itemised == nullptr) continue;
    for (const std::size_t record : itemised->first_records())
      EXPECT_EQ(state.record_name(record), "r" + std::to_string(record));
  }
  const std::map<std::size_t, std::string>& ids = state.parts().front()->ids;
  ASSERT_FALSE(ids.empty());
  state.write(path);
  EXPECT_EQ(CoverageState::read(path).parts().front()->ids, ids);
  measure(*session, state, pictures(50, 9), {.context = "night"}, silence());
  EXPECT_EQ(state.record_name(0), "0") << "of which data set is not known";
}

void expect_mismatch(const std::function<void()>& work) {
  try {
    work();
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch) << error.what();
  }
}

TEST_F(State, NothingForeignAndNothingTwiceIsMerged) {
  CoverageState state = measured(test_set);
  expect_mismatch([&] { state.merge(measured(test_set)); });
  expect_mismatch([&] { state.merge(CoverageState(profile, {parse_spec("criterion", "nc")}, false)); });
  expect_mismatch([&] { state.merge(fresh(true)); });
  Profile other = *profile;
  other.statistics[0].high[0] += 1;
  expect_mismatch([&] {
    state.merge(
        CoverageState(std::make_shared<const Profile>(other), choices_of<CriterionInfo>(all_specs()), false));
  });
  other.model_hash = "another";
  expect_mismatch([&] {
    state.merge(
        CoverageState(std::make_shared<const Profile>(other), choices_of<CriterionInfo>(all_specs()), false));
  });
  EXPECT_EQ(state.records(), 131u);
}

TEST_F(State, DamagedFilesAreRefused) {
  const std::string written = bytes(measured(test_set, {.shard = 1, .shards = 8}));
  for (std::size_t size = 0; size < written.size(); size += written.size() / 50) {
    write_file(path, written.substr(0, size));
    EXPECT_THROW(CoverageState::read(path), Error) << size;
  }
  const auto changed = [&](const std::function<void(nlohmann::json&)>& change) {
    write_file(path, written);
    nlohmann::json json = read_binary(path);
    change(json);
    write_binary(json, path);
    EXPECT_THROW(CoverageState::read(path), Error);
  };
  changed([](auto& j) { j["schema"] = "x"; });
  changed([](auto& j) { j["criteria"][0] = "nonsense"; });
  changed([](auto& j) { j["parts"][0]["records"] = 3; });
  changed([](auto& j) { j["parts"][0]["walked"] = {{0, 100000}}; });
  changed([](auto& j) { j["parts"].push_back(j["parts"][0]); });
  changed([](auto& j) { j["parts"][0]["classes"][0][1].erase(0); });
  changed([](auto& j) { j["parts"][0]["ids"] = {{100000, "r100000"}}; });
  changed([](auto& j) { j["profile"]["statistics"][0]["low"] = to_binary(std::vector<float>{1}); });
}

TEST_F(State, ObservationsAreWhatHappened) {
  CoverageState state = fresh();
  const Observations seen =
      measure(*session, state, test_set,
              {.growth_points = 5, .remember_records = true, .remember_items = true}, silence());
  ASSERT_EQ(seen.records.size(), 131u);
  std::size_t correct = 0;
  for (const RecordFacts& record : seen.records) {
    correct += record.label == record.predicted;
    EXPECT_GE(record.confidence, 0.2 - 1e-6);
    EXPECT_GE(record.doubt("deepgini"), 0);
    EXPECT_LE(record.doubt("deepgini"), 0.8 + 1e-6);
  }
  EXPECT_EQ(correct, state.parts().front()->correct);
  ASSERT_GE(seen.growth.size(), 5u);
  EXPECT_EQ(seen.growth.back().records, 131u);
  EXPECT_EQ(seen.growth.back().values[0], state.total(0)->result().back().value);
  ASSERT_EQ(seen.histograms.size(), 1u);
  std::uint32_t counted = 0;
  for (const std::uint32_t bin : seen.histograms[0][0]) counted += bin;
  EXPECT_EQ(counted, 131u);
}

// Outputs for each position name no classes, and most criteria need none.
TEST(OutputsForEachPosition, AreMeasuredWithoutClasses) {
  test::Net net("segments");
  const ValueId x = net.relu("relu", net.conv("seen", net.input({-1, 1, 6, 6}), 1, 4, 3));
  const Session session(net.build(net.conv("scores", x, 4, 3, 1)));
  const DatasetPtr data = from_arrays(test::uniform_array(net.rng, {20, 1, 6, 6}), {}, {.name = "scenes"});
  LearnOptions options;
  for (const char* name : {"nc", "lsc"}) options.criteria.emplace_back(parse_spec("criterion", name));
  auto profile = std::make_shared<const Profile>(learn_profile(session, data, options, silence()).profile);
  ASSERT_EQ(profile->traces.size(), 1U);
  EXPECT_TRUE(profile->traces[0]->predicted.empty());
  CoverageState state(profile, {parse_spec("criterion", "nc")}, false);
  const Observations seen = measure(session, state, data, {.remember_records = true}, silence());
  EXPECT_EQ(state.records(), 20U);
  EXPECT_TRUE(seen.records.empty());
  EXPECT_FALSE(state.total(0)->result().empty());
}

// A criterion that is given as an object, and tells whatever it is made to tell.
class Told final : public Criterion {
 public:
  explicit Told(std::vector<Coverage> rows) : rows_(std::move(rows)) {}
  void observe(const ActivationBatch&) override {}
  void merge(const Criterion&) override {}
  std::vector<Coverage> result() const override { return rows_; }
  nlohmann::json save() const override { return nullptr; }
  void load(const nlohmann::json&) override {}

 private:
  std::vector<Coverage> rows_;
};

CriterionChoice told(std::vector<Coverage> rows) {
  auto info = std::make_shared<CriterionInfo>();
  info->make = [rows = std::move(rows)](const CriterionSetup&) { return std::make_unique<Told>(rows); };
  return {"told", std::move(info)};
}

template <typename Work>
std::string message_of(Fault fault, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  return "nothing";
}

TEST_F(State, ResultsOfOwnCriteriaAreRowsOfWholeNumbers) {
  const auto row = [](std::string covered, std::string coverable) {
    Coverage one = coverage_of("all", 1, 2);
    one.covered = std::move(covered);
    one.coverable = std::move(coverable);
    return one;
  };
  const auto figures = [&](std::vector<Coverage> rows) {
    return CoverageState(profile, {told(std::move(rows))}, false).figures().size();
  };
  EXPECT_EQ(figures({row("1", "2"), row("", "")}), 2U);
  const std::vector<std::vector<Coverage>> wrong{{}, {row("x", "y")}, {row("", "4")}, {row("5", "4")}};
  for (const std::vector<Coverage>& rows : wrong)
    EXPECT_THAT(message_of(Fault::usage, [&] { figures(rows); }), testing::HasSubstr("criterion told"));
}

TEST_F(State, WithOwnCriteriaIsReadWhereTheyAreInTheCatalogue) {
  CoverageState(profile, {told({coverage_of("all", 1, 2)})}, false).write(path);
  EXPECT_THAT(message_of(Fault::data, [&] { CoverageState::read(path); }),
              testing::HasSubstr("criteria().add()"));
}

TEST(CoverageStates, NeedAProfile) {
  EXPECT_THAT(message_of(Fault::usage, [] { CoverageState(nullptr, {}, false); }),
              testing::HasSubstr("no profile"));
}

TEST(RecordRanges, JoinAndFindWhatIsMissing) {
  RecordRanges ranges;
  ranges.add(10, 20);
  ranges.add(30, 40);
  ranges.add(20, 30);
  EXPECT_EQ(ranges.ranges(), (std::vector<std::pair<std::size_t, std::size_t>>{{10, 40}}));
  EXPECT_EQ(ranges.size(), 30u);
  EXPECT_EQ(ranges.missing(8, 12), (std::vector<std::size_t>{8, 9}));
  EXPECT_EQ(ranges.missing(38, 42), (std::vector<std::size_t>{40, 41}));
  RecordRanges other;
  other.add(0, 10);
  EXPECT_FALSE(ranges.overlaps(other));
  other.add(39, 50);
  EXPECT_TRUE(ranges.overlaps(other));
}

}  // namespace
}  // namespace assay::coverage
