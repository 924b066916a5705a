// Whole explorations: confirmation, labels, coverage, journal, files.

#include <nlohmann/json.hpp>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/explore/disagreement.h"
#include "assay/explore/finding_set.h"
#include "assay/explore/plausibility.h"
#include "assay/support/files/file.h"
#include "tests/explore/build.h"

namespace assay::test {
using namespace explore;
namespace {

namespace fs = std::filesystem;

class Exploring : public Networks {
 protected:
  Exploring() {
    std::vector<std::int64_t> labels;
    for (int i = 0; i < 40; ++i) labels.push_back(i % 4);
    use({classifier(1), classifier(2), classifier(3)}, write("seeds.npz", random_records(40, {6}), labels));
  }
  Exploration run(const ExploreOptions& with) const {
    return explore::explore(networks, data, with, silence());
  }
};

void expect_same(const Exploration& a, const Exploration& b) {
  ASSERT_EQ(a.findings.size(), b.findings.size());
  for (std::size_t i = 0; i < a.findings.size(); ++i) {
    EXPECT_EQ(a.findings[i].seed, b.findings[i].seed);
    EXPECT_EQ(a.findings[i].iterations, b.findings[i].iterations);
    EXPECT_EQ(a.findings[i].classes, b.findings[i].classes);
    EXPECT_EQ(a.findings[i].gained, b.findings[i].gained);
    EXPECT_LT(greatest_difference(a.findings[i].point, b.findings[i].point), 1e-5);
  }
  EXPECT_EQ(a.share_after, b.share_after);
  EXPECT_EQ(a.endings, b.endings);
}

TEST_F(Exploring, KeepsOnlyWhatDisagrees) {
  const Exploration result = run(options());
  ASSERT_GE(result.findings.size(), 5u);
  std::size_t ended = 0;
  for (const auto& [ending, count] : result.endings) ended += count;
  EXPECT_EQ(ended, 40u);
  EXPECT_EQ(result.searched, 40u);
  std::size_t previous = 0;
  for (const Finding& finding : result.findings) {
    EXPECT_GE(finding.seed, previous);
    previous = finding.seed;
    std::map<std::int64_t, int> votes;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t named = Plain(*sessions[k], {6}).decision(list(finding.point));
      EXPECT_EQ(named, finding.classes[k]);
      ++votes[named];
    }
    EXPECT_GT(votes.size(), 1u);
    const auto most = std::ranges::max_element(votes, {}, &std::pair<const std::int64_t, int>::second);
    EXPECT_EQ(finding.majority, most->second >= 2 ? std::optional(most->first) : std::nullopt);
    const Array seed = data->read(std::vector<std::size_t>{finding.seed}).inputs[0];
    EXPECT_NEAR(finding.l2, array::norm(finding.point - seed, 2).item<double>(), 1e-5);
    EXPECT_NEAR(finding.l1, (finding.point - seed).abs().sum().item<double>(), 1e-5);
    EXPECT_EQ(finding.differing, finding.l2 == 0);
  }
}

TEST_F(Networks, OfBytesAreExploredByLevels) {
  const auto of_bytes = [](std::uint64_t seed) {
    Net net("bytes" + std::to_string(seed), seed);
    ValueId x = net.builder.input("input", DType::uint8, {-1, 6});
    x = net.builder.add("Cast", "real", {x}, {{"to", std::int64_t{1}}});
    x = net.builder.add(
        "Mul", "shares",
        {x, net.builder.constant("level", Array::of<float>({}, std::vector<float>{1 / 255.0F}))});
    x = net.builder.add("Tanh", "tanh", {net.dense("hidden", x, 6, 9)});
    return net.build(net.dense("logits", x, 9, 4));
  };
  const Array levels = (random_records(20, {6}) * 255).round().to(DType::uint8);
  write_npz(folder / "bytes.npz", {{"x", levels}});
  use({of_bytes(1), of_bytes(2)}, open_dataset((folder / "bytes.npz").string() + ",scale=1,range=0:255"));
  ExploreOptions asked = options();
  EXPECT_THROW(explore::explore(networks, data, asked, silence()), Error) << "float32 is no input of theirs";
  asked.search.levels = true;
  Exploration result = explore::explore(networks, data, asked, silence());
  ASSERT_GT(result.findings.size(), 0U);
  const StoredFindings stored = store(networks, *data, result.findings, asked, folder, 0, silence());
  const DatasetPtr written = open_dataset(stored.data);
  for (std::size_t i = 0; i < written->size(); ++i) {
    const Batch one = written->read(std::vector<std::size_t>{i});
    for (std::size_t k = 0; k < 2; ++k) {
      const Session& session = *sessions[k];
      const ValueId logits = session.logits();
      const Array scores = session.run(session.bind(one), std::span(&logits, 1)).at(logits);
      EXPECT_EQ(scores.argmax(1).item<std::int64_t>(), result.findings[i].classes[k]);
    }
  }
}

TEST_F(Exploring, NeedsASeedAndASearchAtATime) {
  ExploreOptions no_round = options(), no_width = options();
  no_round.round = 0;
  no_width.search.width = 0;
  EXPECT_THROW(run(no_round), Error);
  EXPECT_THROW(run(no_width), Error);
}

TEST_F(Exploring, GainsAddUpToTheCoverage) {
  const Exploration result = run(options());
  for (std::size_t k = 0; k < 3; ++k) {
    std::uint64_t gained = 0;
    for (const Finding& finding : result.findings) gained += *finding.gained[k];
    EXPECT_EQ(std::to_string(gained), result.after[k].covered);
    EXPECT_EQ(result.before[k].covered, "0");
  }
}

TEST_F(Exploring, ABaselineCountsAsCovered) {
  ExploreOptions with = options();
  with.baseline = data;
  const Exploration result = run(with);
  EXPECT_GT(*result.share_before, 0);
  EXPECT_GE(*result.share_after, *result.share_before);
}

TEST_F(Exploring, ABaselineIsMeasuredAsItIsWhateverItsRange) {
  ExploreOptions with = options();
  with.search.iterations = 1;
  with.baseline = data;
  const std::optional<double> own = run(with).share_before;
  const std::string file = (folder / "seeds.npz").string();
  for (const char* range : {",range=-1:1", ",range=0:2", ""}) {
    with.baseline = open_dataset(file + range);
    EXPECT_EQ(run(with).share_before, own) << range;
  }
}

TEST_F(Exploring, IsTheSameAgainAndOnMoreThreads) {
  const Exploration once = run(options());
  expect_same(once, run(options()));
  ExploreOptions narrow = options();
  narrow.search.width = 2;
  expect_same(once, run(narrow));
  std::vector<ExploredNetwork> threaded = networks;
  std::vector<std::unique_ptr<Session>> owners;
  for (ExploredNetwork& network : threaded) {
    owners.push_back(std::make_unique<Session>(network.session->graph(), SessionOptions{.threads = 3}));
    network.session = owners.back().get();
  }
  expect_same(once, explore::explore(threaded, data, options(), silence()));
  ExploreOptions other = options();
  other.search.seed = 2;
  const Exploration different = run(other);
  bool same = different.findings.size() == once.findings.size();
  for (std::size_t i = 0; same && i < once.findings.size(); ++i)
    same = once.findings[i].target == different.findings[i].target;
  EXPECT_FALSE(same);
}

TEST_F(Exploring, GoesOnFromAJournalCutOffAnywhere) {
  ExploreOptions with = options();
  with.journal = folder / "journal";
  const Exploration whole = run(with);
  const std::string bytes = read_file(with.journal);
  for (const double share : {0.0, 0.1, 0.37, 0.5, 0.81, 0.999, 1.0}) {
    write_file(with.journal,
               bytes.substr(0, static_cast<std::size_t>(share * static_cast<double>(bytes.size()))));
    const Exploration resumed = run(with);
    expect_same(whole, resumed);
    EXPECT_GE(resumed.resumed, share == 1.0 ? 40u : share >= 0.5 ? 5u : 0u);
  }
}

TEST_F(Exploring, RefusesTheJournalOfAnotherExploration) {
  ExploreOptions with = options();
  with.journal = folder / "journal";
  run(with);
  with.search.lambda1 = 3;
  try {
    run(with);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
  }
}

TEST_F(Exploring, EndsAtTheGoalTheCountOrTheTime) {
  ExploreOptions with = options();
  with.goal = 0.1;
  EXPECT_EQ(run(with).ended_by, "the coverage goal is reached");
  with = options();
  with.findings = 1;
  const Exploration few = run(with);
  EXPECT_EQ(few.ended_by, "there are as many findings as asked for");
  EXPECT_LT(few.searched, 40u);
  with = options();
  with.seconds = 1e-9;
  EXPECT_EQ(run(with).ended_by, "the time is up");
  EXPECT_EQ(run(options()).ended_by, "all seeds have been searched");
}

TEST_F(Exploring, SecondPassSkipsSeedsThatDifferAnyway) {
  ExploreOptions with = options();
  with.passes = 2;
  const Exploration result = run(with);
  const std::size_t differing =
      result.endings.contains(Ending::differing) ? result.endings.at(Ending::differing) : 0;
  EXPECT_EQ(result.searched, 80 - differing);
}

TEST_F(Exploring, OnlyCorrectLeavesOutTheRest) {
  ExploreOptions with = options();
  with.only_correct = true;
  const Exploration result = run(with);
  EXPECT_EQ(result.searched + result.left_out, 40u);
  EXPECT_GT(result.left_out, 0u);
  for (const Finding& finding : result.findings) {
    const Batch batch = data->read(std::vector<std::size_t>{finding.seed});
    EXPECT_EQ(Plain(*sessions[0], {6}).decision(list(batch.inputs[0])), batch.labels[0]);
  }
}

TEST_F(Exploring, NearDuplicatesAreMerged) {
  const Array two = array::repeat(random_records(1, {6}), {6, 1});
  const DatasetPtr same = write("same.npz", two);
  ExploreOptions with = options();
  with.search.target = 0;
  with.near_duplicate = 0.01;
  const Exploration result = explore::explore(networks, same, with, silence());
  const std::size_t kept = result.findings.size();
  EXPECT_TRUE((kept == 0 && result.duplicates == 0) || kept + result.duplicates == 6)
      << kept << " and " << result.duplicates;
}

TEST_F(Exploring, StoresWhatCanBeReadBack) {
  for (const bool levels : {false, true}) {
    ExploreOptions with = options();
    with.search.levels = levels;
    Exploration result = run(with);
    const StoredFindings stored = store(networks, *data, result.findings, with, folder / "out", 0, silence());
    EXPECT_EQ(stored.lost, 0u);
    const DatasetPtr again = open_dataset(stored.data);
    ASSERT_EQ(again->size(), result.findings.size());
    std::size_t voted = 0;
    for (std::size_t i = 0; i < again->size(); ++i) {
      EXPECT_EQ(again->id(i), std::to_string(result.findings[i].seed));
      EXPECT_EQ(again->label(i), data->label(result.findings[i].seed));
      const Array record = again->read(std::vector<std::size_t>{i}).inputs[0];
      EXPECT_LT(greatest_difference(record, result.findings[i].point), 1e-6);
      voted += result.findings[i].majority.has_value();
    }
    EXPECT_EQ(stored.voted_count, voted);
    ASSERT_GT(voted, 0u);
    const DatasetPtr labelled = open_dataset(stored.voted_data);
    ASSERT_EQ(labelled->size(), voted);
    std::size_t at = 0;
    for (const Finding& finding : result.findings) {
      if (finding.majority) {
        EXPECT_EQ(labelled->label(at++), *finding.majority);
      }
    }
  }
}

TEST_F(Exploring, DropsWhatNoLongerDisagreesOnceReadBack) {
  Exploration result = run(options());
  const std::size_t before = result.findings.size();
  ASSERT_GT(before, 1u);
  // A point on which the networks agree, as if the search had been wrong about it.
  for (std::size_t i = 0; i < 40; ++i) {
    const Array seed = data->read(std::vector<std::size_t>{i}).inputs[0];
    const std::vector<double> x = list(seed);
    if (Plain(*sessions[0], {6}).decision(x) != Plain(*sessions[1], {6}).decision(x) ||
        Plain(*sessions[0], {6}).decision(x) != Plain(*sessions[2], {6}).decision(x))
      continue;
    result.findings[0].point = seed;
    break;
  }
  EXPECT_EQ(store(networks, *data, result.findings, options(), folder / "out", 0, silence()).lost, 1u);
  EXPECT_EQ(result.findings.size(), before - 1);
}

TEST_F(Exploring, WholeNumbersStayWholeInTheFile) {
  const Array counts = (random_records(40, {6}) * 20).floor();
  write_npz(folder / "counts.npz", {{"x", counts}});
  const DatasetPtr table = open_dataset((folder / "counts.npz").string() + ",range=0:20");
  ExploreOptions with = options();
  with.constraints = {parse_spec("constraint", "features[both=0-5,integer=all]")};
  with.search.step = 0.2;
  Exploration result = explore::explore(networks, table, with, silence());
  ASSERT_FALSE(result.findings.empty());
  const StoredFindings stored = store(networks, *table, result.findings, with, folder / "out", 0, silence());
  EXPECT_EQ(stored.lost, 0u);
  const auto arrays = read_npz(stored.file);
  for (const float value : arrays.at("x").as<float>()) EXPECT_EQ(value, std::round(value));
}

TEST_F(Exploring, WholeNumbersThatAreNoLevelsAreRefused) {
  const Array counts = (random_records(40, {6}) * 5).floor();
  write_npz(folder / "counts.npz", {{"x", counts}});
  ExploreOptions with = options();
  with.constraints = {parse_spec("constraint", "features[both=0-5,integer=1-2]")};
  with.search.levels = true;
  const std::string file = (folder / "counts.npz").string();
  explore::explore(networks, open_dataset(file + ",range=0:5"), with, silence());  // 51 levels each
  for (const char* range : {",range=0:6", ",range=-0.5:4.5"}) {
    try {
      explore::explore(networks, open_dataset(file + range), with, silence());
      ADD_FAILURE() << range;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
    }
  }
}

TEST_F(Exploring, LevelsKeepWithinTheConstraint) {
  const Array seeds = (random_records(40, {6}) * 255).round() / 255;
  const DatasetPtr pictures = write("levels.npz", seeds);
  for (const bool shrink : {false, true}) {
    for (const auto& [text, norm, most] :
         {std::tuple("linf[eps=0.1]", 0, 0.1), std::tuple("linf[eps=0.0373]", 0, 0.0373),
          std::tuple("light[most=0.1]", 0, 0.1), std::tuple("l2[eps=0.1]", 2, 0.1)}) {
      ExploreOptions with = options();
      with.constraints = {parse_spec("constraint", text)};
      with.search.levels = true;
      with.search.shrink = shrink;
      with.search.iterations = 60;
      const Exploration result = explore::explore(networks, pictures, with, silence());
      ASSERT_FALSE(result.findings.empty()) << text;
      for (const Finding& finding : result.findings) {
        const Array change = finding.point.flatten() - seeds[static_cast<std::int64_t>(finding.seed)];
        const Array far = norm == 2 ? array::norm(change, 2) : change.abs().max();
        EXPECT_LE(far.item<double>(), most + 1e-6) << text;
      }
    }
  }
}

TEST_F(Exploring, SeedsAreCountedOnceWhateverThePasses) {
  ExploreOptions with = options();
  with.passes = 3;
  with.search.iterations = 2;
  const Exploration result = run(with);
  EXPECT_EQ(result.seeds, data->size());
  EXPECT_GT(result.searched, result.seeds);
}

TEST_F(Exploring, FarAwayFindingsAreImplausible) {
  coverage::LearnOptions learn;
  learn.criteria = {parse_spec("criterion", "dsc")};
  learn.subjects = {"hidden"};
  const coverage::Profile profile = coverage::learn_profile(*sessions[0], data, learn, silence()).profile;
  write_npz(folder / "far.npz",
            {{"x", array::cat({random_records(5, {6}),
                               array::full({1, 6}, 1.0F) *
                                   array::tensor({9.0F, -9.0F, 9.0F, -9.0F, 9.0F, -9.0F})})}});
  const Plausibility judged =
      judge_plausibility(*sessions[0], profile, "dsa", data, open_dataset((folder / "far.npz").string()),
                         0.99, 100, 0, silence());
  ASSERT_EQ(judged.surprise.size(), 6u);
  EXPECT_TRUE(judged.implausible[5]);
  EXPECT_LT(judged.implausible_count(), 6u);
  EXPECT_THROW(
      judge_plausibility(*sessions[0], *networks[0].profile, "dsa", data, data, 0.99, 100, 0, silence()),
      Error);
}

TEST_F(Exploring, TheBoundIsTheLeastThatTheShareOfSeedsDoNotExceed) {
  coverage::LearnOptions learn;
  learn.criteria = {parse_spec("criterion", "dsc")};
  learn.subjects = {"hidden"};
  const coverage::Profile profile = coverage::learn_profile(*sessions[0], data, learn, silence()).profile;
  const DatasetPtr seeds = write("others.npz", random_records(40, {6}, 77));
  for (const double share : {0.99, 0.9, 0.5}) {
    const Plausibility judged =
        judge_plausibility(*sessions[0], profile, "dsa", seeds, seeds, share, 100, 0, silence());
    std::vector<double> values = judged.surprise;
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    ASSERT_EQ(values.size(), judged.seeds);
    const double rest = (1 - share) * static_cast<double>(values.size());
    const auto above = std::ranges::count_if(values, [&](double value) { return value > judged.bound; }),
               not_below = std::ranges::count_if(values, [&](double value) { return value >= judged.bound; });
    EXPECT_LE(static_cast<double>(above), rest + 1e-6) << share;
    EXPECT_GT(static_cast<double>(not_below), rest - 1e-6) << share;
  }
}

TEST_F(Exploring, RefusesTheJournalOfATableThatHasChanged) {
  ExploreOptions with = options();
  with.journal = folder / "journal";
  const fs::path table = folder / "table.csv";
  with.constraints = {parse_spec("constraint", "features[file=" + table.string() + "]")};
  write_file(table, std::string_view("feature,change\n0,both\n1,both\n"));
  run(with);
  EXPECT_EQ(run(with).resumed, 40U);
  write_file(table, std::string_view("feature,change\n2,both\n3,both\n"));
  try {
    run(with);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
  }
}

TEST_F(Exploring, NetworksOfAnotherTaskAreNamed) {
  Net net("wide", 9);
  const ValueId hidden = net.builder.add("Tanh", "tanh", {net.dense("hidden", net.input({-1, 6}), 6, 9)});
  sessions.push_back(std::make_unique<Session>(net.build(net.dense("logits", hidden, 9, 5)), one_thread));
  coverage::LearnOptions learn;
  learn.criteria = {criterion};
  networks.push_back({"wide", sessions.back().get(),
                      std::make_shared<const coverage::Profile>(
                          coverage::learn_profile(*sessions.back(), data, learn, silence()).profile)});
  try {
    run(options());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
    EXPECT_NE(std::string(error.what()).find("'net0' gives 4 numbers a record, 'wide' 5"), std::string::npos)
        << error.what();
  }
  write_npz(folder / "targets.npz", {{"x", random_records(8, {6})}, {"y", random_records(8, {2})}});
  networks.pop_back();
  try {
    explore::explore(networks, open_dataset((folder / "targets.npz").string() + ",range=0:1"), options(),
                     silence());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("gives 4 numbers a record, but the data have 2 targets"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Exploring, NeedsTwoNetworksAndAValidRange) {
  const std::vector<ExploredNetwork> one{networks[0]};
  EXPECT_THROW(explore::explore(one, data, options(), silence()), Error);
  ExploreOptions with = options();
  with.search.target = 3;
  EXPECT_THROW(run(with), Error);
  EXPECT_THROW(
      explore::explore(networks, open_dataset((folder / "seeds.npz").string()), options(), silence()), Error);
}

}  // namespace
}  // namespace assay::test
