#include "assay/engine/preparation/adaptation.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include <assay/error.h>
#include <assay/records.h>
#include "tests/engine/graphs.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Notices final : public Progress {
 public:
  void begin(std::string_view, std::size_t, std::string_view) override {}
  void advance(std::size_t, std::string_view) override {}
  void end() override {}
  void notice(std::string_view message) override { texts.emplace_back(message); }
  std::vector<std::string> texts;
};

DatasetPtr pictures(const Shape& record) {
  Rng rng(1);
  Shape shape{20};
  shape.insert(shape.end(), record.begin(), record.end());
  return from_arrays(test::uniform_array(rng, shape), {}, {.name = "pictures"});
}

TEST(Adaptation, NothingAskedChangesNothing) {
  const Graph graph = test::lenet_like();
  const DatasetPtr data = pictures({1, 12, 12});
  Notices notices;
  EXPECT_EQ(adapted(graph, {}, data.get(), notices).graph.hash(), graph.hash());
  tell_rounding(graph, Session(graph), {}, data.get(), notices);
  EXPECT_THAT(notices.texts, ElementsAre());
}

TEST(Adaptation, HowFarAPrecisionIsFromFloat32IsSaid) {
  const Graph graph = test::lenet_like();
  const DatasetPtr data = pictures({1, 12, 12});
  const AdaptOptions options{.precision = Precision::bfloat16};
  Notices notices;
  const Session session(adapted(graph, options, data.get(), notices).graph);
  EXPECT_NE(session.graph().hash(), graph.hash());
  tell_rounding(graph, session, options, data.get(), notices);
  ASSERT_EQ(notices.texts.size(), 1U);
  EXPECT_THAT(notices.texts[0], HasSubstr("in bfloat16: decision values of the first 20 records"));
  EXPECT_THAT(notices.texts[0], HasSubstr("of 20 classifications change"));
  notices.texts.clear();
  tell_rounding(graph, session, options, nullptr, notices);
  EXPECT_THAT(notices.texts, ElementsAre()) << "no records";
}

TEST(Adaptation, ChannelsStandWherePicturesHaveThem) {
  test::Net net("last");
  ValueId x =
      net.builder.add("Transpose", "first", {net.input({-1, 6, 6, 3})}, {{"perm", test::Ints{0, 3, 1, 2}}});
  x = net.flatten("flatten", net.relu("relu", net.conv("conv", x, 3, 4, 3)));
  const Graph graph = net.build(net.dense("logits", x, 64, 5));
  const DatasetPtr data = pictures({3, 6, 6});
  Notices notices;
  const Session session(adapted(graph, {}, data.get(), notices).graph);
  ASSERT_EQ(notices.texts.size(), 1U);
  EXPECT_THAT(notices.texts[0], HasSubstr("takes channels last"));
  notices.texts.clear();
  EXPECT_EQ(adapted(graph, {}, nullptr, notices).graph.hash(), graph.hash());
  EXPECT_THAT(notices.texts, ElementsAre()) << "no records tell where channels are";
}

TEST(Adaptation, ANetworkWhoseScoreIsShiftedKeepsItsNotices) {
  test::Net net("fixed");
  const ValueId fixed =
      net.builder.add("Reshape", "fixed",
                      {net.input({4, 3}), net.builder.constant("shape", array::tensor(test::Ints{4, 3}))});
  const Graph graph = net.build(net.dense("score", fixed, 3, 1));
  AdaptedNetwork network = adapted(graph, {.threshold = Threshold{.value = 0.3}}, nullptr, silence());
  const Session session = session_of(network, {}, nullptr, silence());
  EXPECT_THAT(session.graph().notices(),
              ::testing::UnorderedElementsAre(HasSubstr("made free"), HasSubstr("class 1 begins above")));
}

TEST(Adaptation, WhatIsNotThereIsRefused) {
  const Graph graph = test::lenet_like();
  EXPECT_THROW(adapted(graph, {.straight_through = true}, nullptr, silence()), Error);
  EXPECT_THROW(adapted(graph, {.decision = "nothing"}, nullptr, silence()), Error);
  EXPECT_THROW(adapted(graph, {.fixed = {{"nothing", 1.0}}}, nullptr, silence()), Error);
}

std::vector<std::string> said_of_numbering(const std::string& folder, const std::vector<std::string>& names) {
  Rng rng(1);
  const DatasetPtr data = from_arrays(test::uniform_array(rng, {4, 1, 12, 12}), {0, 1, 2, 1},
                                      {.name = "pets", .class_names = names});
  Notices notices;
  adapted(test::lenet_like(), {.folder = folder}, data.get(), notices);
  return notices.texts;
}

TEST(Adaptation, ClassesThatTheNetworkNumbersOtherwiseAreSaid) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "numbering";
  std::filesystem::create_directories(folder);
  EXPECT_THAT(said_of_numbering(folder.string(), {"cat", "dog", "eel"}), ElementsAre());
  std::ofstream(folder / "config.json") << R"({"id2label": {"0": "Dog", "1": "cat", "2": "eel"}})";
  EXPECT_THAT(said_of_numbering(folder.string(), {"dog", "cat", "eel"}), ElementsAre());
  EXPECT_THAT(said_of_numbering(folder.string(), {"dogs", "cats", "eels"}), ElementsAre());
  const std::vector<std::string> said = said_of_numbering(folder.string(), {"cat", "dog", "eel"});
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0],
              HasSubstr("'cat' is class 0 of the data and 1 of the network, 'dog' is class 1 of the data "
                        "and 0 of the network; number the labels as the network does"));
  EXPECT_THAT(said[0], HasSubstr("config.json"));
  // A name of two classes says nothing of their numbers, and a file that cannot be read is no reason to end.
  for (const char* text : {R"({"id2label": {"0": "cat", "1": "dog", "2": "dog"}})", "[1, 2]", "no JSON"}) {
    std::ofstream(folder / "config.json") << text;
    EXPECT_THAT(said_of_numbering(folder.string(), {"cat", "eel", "dog"}), ElementsAre()) << text;
  }
  // Five stars are class 4: names that are only numbers are none.
  std::ofstream(folder / "config.json") << R"({"id2label": {"0": "1", "1": "2", "2": "3"}})";
  EXPECT_THAT(said_of_numbering(folder.string(), {}), ElementsAre());
}

}  // namespace
}  // namespace assay
