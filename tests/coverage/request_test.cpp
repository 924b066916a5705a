#include "assay/coverage/request.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include <assay/records.h>
#include "assay/coverage/possible.h"
#include "tests/coverage/build.h"
#include "tests/engine/graphs.h"

namespace assay::coverage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts_of(const std::vector<Spec>& specs) {
  std::vector<std::string> texts;
  for (const Spec& spec : specs) texts.push_back(spec.text());
  return texts;
}

DatasetPtr labelled_pictures(std::int64_t records) {
  Rng rng(4);
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < records; ++i) labels.push_back(i % 5);
  return from_arrays(test::random_array(rng, {records, 1, 12, 12}), std::move(labels),
                     {.name = "pictures", .class_names = {"a", "b", "c", "d", "e"}});
}

TEST(AskedCriteria, IdcStandsForEachNumberOfNeurons) {
  EXPECT_THAT(texts_of(asked_criteria("", {}, "6,8")), ElementsAre("idc[m=6]", "idc[m=8]"));
  EXPECT_THAT(texts_of(asked_criteria("", {"idc[m=3]", "nc"}, "6,8")), ElementsAre("idc[m=3]", "nc"));
  EXPECT_THAT(texts_of(asked_criteria("", {"idc"}, "auto")), ElementsAre("idc[m=auto]"));
  EXPECT_EQ(asked_criteria("audit", {"nc"}, "6").size(), presets().find("audit").specs.size() + 1);
  EXPECT_THROW(asked_criteria("", {"idc"}, "0"), Error);
  EXPECT_THROW(asked_criteria("", {"nothing"}, "6"), Error);
  EXPECT_THAT(whole_text(asked_criteria("", {"kmnc"}, "6")), HasSubstr("kmnc[sections="));
}

TEST(PossibleCriteria, TracesOfAClassThatDoNotVaryLeaveOneOut) {
  test::Suite suite = test::Suite::random(60, 5);
  for (int i = 0; i < 8; ++i) suite.add({1, 1, 1, 1, 1, 1}, {0, 0, 90, 0, 0});
  auto training = test::profile_of(suite);
  auto traces = std::make_shared<LayerTraces>();
  traces->layer = "second";
  traces->dimensions = 5;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    // A class of its own for the last eight, which are the same.
    traces->values.insert(traces->values.end(), suite.row(1, i).begin(), suite.row(1, i).end());
    traces->predicted.push_back(i < 60 ? suite.predicted()[i] : 7);
  }
  traces->labels = traces->predicted;
  training.traces = {traces};
  const auto profile = std::make_shared<const Profile>(std::move(training));
  const auto found =
      possible_criteria(profile, asked_criteria("", {"nc", "lsc", "dsc", "mdsc", "mdsc[variance=0]"}, "6"));
  EXPECT_THAT(texts_of(found.possible), ElementsAre("nc", "dsc", "mdsc[variance=0]"));
  ASSERT_EQ(found.impossible.size(), 2U);
  EXPECT_EQ(found.impossible[0].first.text(), "lsc");
  EXPECT_EQ(found.impossible[1].first.text(), "mdsc");
  for (const auto& [spec, why] : found.impossible) EXPECT_THAT(why, HasSubstr("within class 7 (8 records)"));
  EXPECT_THROW(CoverageState(profile, {parse_spec("criterion", "lsc")}, false), Error);
}

TEST(PossibleCriteria, TracesOfSomeRecordsSayNothingAboutAll) {
  // The same record over and over: no trace varies, which only the whole profile may say.
  const Session session(test::lenet_like());
  Rng rng(4);
  const Array one = test::random_array(rng, {1, 1, 12, 12});
  std::vector<float> values;
  for (int i = 0; i < 6; ++i) values.insert(values.end(), one.as<float>().begin(), one.as<float>().end());
  const DatasetPtr data =
      from_arrays(Array::of<float>({6, 1, 12, 12}, values), std::vector<std::int64_t>(6, 0),
                  {.name = "pictures", .class_names = {"a", "b", "c", "d", "e"}});
  const std::vector<Spec> asked = asked_criteria("", {"nc", "lsc"}, "6");
  EXPECT_THAT(texts_of(possible_criteria(session, data, asked, {}).possible), ElementsAre("nc", "lsc"));
  LearnOptions learning;
  learning.criteria = choices_of<CriterionInfo>(asked);
  const auto profile = learned_profile(session, data, learning, silence());
  EXPECT_THAT(texts_of(possible_criteria(profile, asked).possible), ElementsAre("nc"));
}

class AskedProfile : public testing::Test {
 protected:
  LearnOptions learning() const {
    LearnOptions options;
    options.criteria = {parse_spec("criterion", "nc")};
    return options;
  }
  const Session session{test::lenet_like()};
  const DatasetPtr data = labelled_pictures(30);
  const std::shared_ptr<const Profile> profile = learned_profile(session, data, learning(), silence());
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "assay_asked_test";
  ~AskedProfile() override { std::filesystem::remove_all(folder); }
};

TEST_F(AskedProfile, SettingsThatContradictAreRefused) {
  const auto refusal = [](const Profile& of, const Settings& asked, const SaidSettings& said) {
    try {
      require_settings(of, asked, said, "net.profile");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  LearnOptions other = learning();
  other.reduction = reduction_named("max");
  const Settings asked = settings_of(session, other);
  EXPECT_EQ(refusal(*profile, asked, {{"share", "the share"}, {"cap", "the cap"}}), "");
  EXPECT_THAT(refusal(*profile, asked, {{"share", "the share"}, {"reduction", "reducing by"}}),
              HasSubstr("reducing by max contradicts profile net.profile, which was learned with mean"));
  Profile old = *profile;
  old.settings.clear();
  EXPECT_EQ(refusal(old, asked, {}), "");
  EXPECT_THAT(refusal(old, asked, {{"cap", "the cap"}}), HasSubstr("the cap has no effect"));
}

TEST(ReductionNamed, IsTheInverseOfWhatSettingsSay) {
  const Session session(test::lenet_like());
  for (const char* name : {"mean", "max", "every-position"}) {
    LearnOptions options;
    options.reduction = reduction_named(name);
    EXPECT_THAT(settings_of(session, options).at("reduction"), ElementsAre(name));
  }
  EXPECT_THROW(reduction_named("median"), Error);
}

TEST_F(AskedProfile, IsReadForItsNetworkOnly) {
  write_profile(*profile, folder / "net.profile");
  EXPECT_EQ(profile_in({folder / "net.profile"}, session)->hash(), profile->hash());
  const Session other(test::lenet_like(true));
  EXPECT_THROW(profile_in({folder / "net.profile"}, other), Error);
  EXPECT_EQ(profile_in({folder / "net.profile", true}, other)->model_hash, other.graph().hash());
}

TEST_F(AskedProfile, AStateIsAddedTo) {
  const std::vector<Spec> criteria = asked_criteria("", {"nc"}, "6");
  CoverageState state = begin_state(profile, criteria, false, folder / "first.cov");
  EXPECT_EQ(state.records(), 0U);
  EXPECT_FALSE(accuracy_on(state, *data));
  measure(session, state, data, {}, silence());
  EXPECT_EQ(accuracy_on(state, *data), evaluate(session, data, {}, silence()).accuracy);
  state.write(folder / "first.cov");
  EXPECT_EQ(begin_state(profile, criteria, false, folder / "first.cov").records(), 30U);
  EXPECT_EQ(begin_state(profile, criteria, false, "").records(), 0U);
  EXPECT_THROW(begin_state(profile, criteria, true, folder / "first.cov"), Error);
  EXPECT_THROW(begin_state(profile, asked_criteria("", {"kmnc"}, "6"), false, folder / "first.cov"), Error);
}

}  // namespace
}  // namespace assay::coverage
