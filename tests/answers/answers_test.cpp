#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include <assay/error.h>
#include <assay/records.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/networks/evaluation.h"
#include "assay/answers/networks/network.h"
#include "assay/answers/setting.h"
#include "assay/answers/testing/asked_mutants.h"
#include "assay/answers/testing/attack.h"
#include "assay/data/files/numpy.h"
#include "assay/support/files/file.h"
#include "tests/engine/graphs.h"

namespace assay::answers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RecordShapes, AreOfOneInputOrOfEachByItsName) {
  SessionOptions one, several;
  take_record_shapes(one, "3x32x32", "shape");
  EXPECT_THAT(one.record_shape, ElementsAre(3, 32, 32));
  take_record_shapes(several, "picture=3x8x8,table=7", "shape");
  EXPECT_THAT(several.record_shapes.at("picture"), ElementsAre(3, 8, 8));
  EXPECT_THAT(several.record_shapes.at("table"), ElementsAre(7));
  EXPECT_THAT(refusal([&] { take_record_shapes(several, "picture=3x8x8,7", "shape"); }),
              HasSubstr("shape 'picture=3x8x8,7': each of several inputs needs its name"));
}

TEST(Setting, WhatTookLongIsReplacedOnlyWhereItMayBe) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "assay_answers_kept";
  write_file(file, "something");
  const auto foreign = [] { return false; };
  EXPECT_THAT(refusal([&] { check_replaced(file, "a state", {}, foreign); }), HasSubstr("than a state"));
  EXPECT_EQ(refusal([&] { check_replaced(file, "a state", {.replace = true}, foreign); }), "");
  EXPECT_EQ(refusal([&] { check_replaced(file, "a state", {}, [] { return true; }); }), "");
  std::filesystem::remove(file);
}

TEST(DeclaredAccuracy, IsCheckedAndToldWhereThereIsOne) {
  const Session session(test::lenet_like());
  Rng rng(3);
  const DatasetPtr data =
      from_arrays(test::random_array(rng, {8, 1, 12, 12}), std::vector<std::int64_t>(8, 0),
                  {.name = "pictures", .class_names = {"a", "b", "c", "d", "e"}});
  report::Document document;
  add_accuracy(document, {}, session, data, {}, silence());
  EXPECT_TRUE(document.facts.empty());
  add_accuracy(document, AccuracyBounds{.expected = 0}, session, data, {}, silence());
  ASSERT_EQ(document.facts.size(), 1U);
  EXPECT_EQ(document.facts[0].id, "test_accuracy");
  EXPECT_THAT(refusal([&] { check_accuracy(AccuracyBounds{.expected = 0.9}, session, data, {}); }),
              HasSubstr("no labels"));
}

TEST(AttackQuestion, WritesAFileAndAJournalOfEachAttack) {
  const std::vector<Output> outputs =
      outputs_of({.attacks = {"fgsm", "fgsm[eps=0.1]"}, .folder = "made"}, "out");
  std::vector<std::string> paths;
  for (const Output& output : outputs) paths.push_back(output.path);
  ASSERT_EQ(paths.size(), 5U);
  EXPECT_THAT(paths, testing::IsSupersetOf({"made", "made/fgsm.npz", "made/fgsm-2.npz"}));
  EXPECT_EQ(outputs[2].name, "the journal of out");
  EXPECT_THROW(outputs_of({.attacks = {"fgsm[eps=x]"}, .folder = "made"}, "out"), Error);
}

// Records of which it is counted how often they are read.
struct CountedReads {
  std::shared_ptr<std::atomic<std::size_t>> reads = std::make_shared<std::atomic<std::size_t>>(0);
  DatasetPtr data;

  CountedReads(DatasetFacts facts, const std::function<void(std::size_t, Record&)>& write) {
    const std::size_t size = facts.size;
    data = from_function(std::move(facts), [write, reads = reads](std::size_t i, Record& record) {
      Rng rng(i + 1);
      for (float& value : record.inputs[0].values) value = static_cast<float>(rng.normal());
      write(i, record);
      ++*reads;
    });
    std::vector<std::string> halves(size, "first");
    std::fill(halves.begin() + static_cast<std::ptrdiff_t>(size / 2), halves.end(), "second");
    data = characterised(data, {{"half", halves}});
  }

  std::size_t reads_of(const Session& session, const std::string& predictions) const {
    *reads = 0;
    EvaluationQuestion question;
    if (!predictions.empty())
      question.predictions = (std::filesystem::path(testing::TempDir()) / predictions).string();
    evaluate(session, data, question, {}, silence());
    return *reads;
  }
};

TEST(Evaluation, PredictionsAreOfTheSamePass) {
  const Session classes(test::lenet_like());
  const CountedReads digits(
      {.size = 8, .record_shape = {1, 12, 12}, .class_names = {"a", "b", "c", "d", "e"}},
      [](std::size_t i, Record& record) { record.label = i % 5; });
  digits.data->hash();  // is computed once
  EXPECT_EQ(digits.reads_of(classes, "of_classes.npz"), digits.reads_of(classes, ""));

  test::Net net("pixels");
  const Session pixels(net.build(net.conv("scores", net.input({-1, 1, 4, 4}), 1, 3, 1)));
  const CountedReads masks({.size = 8, .record_shape = {1, 4, 4}, .target_width = 16},
                           [](std::size_t i, Record& record) { record.targets[i] = 2; });
  masks.data->hash();
  EXPECT_EQ(masks.reads_of(pixels, "of_items.npz"), masks.reads_of(pixels, ""));
  const auto arrays = read_npz(std::filesystem::path(testing::TempDir()) / "of_items.npz");
  const Tensors values =
      pixels.run(pixels.bind(masks.data->read(std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7})),
                 std::vector{pixels.logits()});
  EXPECT_EQ(arrays.at("outputs").shape(), (Shape{8, 3, 4, 4}));
  EXPECT_TRUE(std::ranges::equal(arrays.at("outputs").as<float>(), values.at(pixels.logits()).as<float>(),
                                 [](float a, float b) { return std::abs(a - b) < 1e-5F; }));
  EXPECT_EQ(arrays.at("y").shape(), (Shape{8, 16}));
}

TEST(MutationQuestion, NamesMutantsOrDrawsThem) {
  MutationQuestion named, drawn;
  choose_mutants(named, {"gf[sigma=0.5]@conv2#17"}, "", {}, std::nullopt);
  const mutation::Drawn mutants = drawn_mutants(named, {}, [](const mutation::DrawOptions&) {
    ADD_FAILURE() << "nothing is drawn";
    return mutation::Drawn();
  });
  ASSERT_EQ(mutants.mutants.size(), 1U);
  EXPECT_EQ(mutants.mutants[0].layer, "conv2");
  choose_mutants(drawn, {}, "", {"ns"}, 3);
  drawn_mutants(drawn, {.seed = 7}, [](const mutation::DrawOptions& options) {
    EXPECT_EQ(options.seed, 7U);
    EXPECT_EQ(options.operators.size(), 1U);
    return mutation::Drawn();
  });
}

TEST(MutationQuestion, SaysWhyNothingCanBeJudgedOrWritten) {
  const Graph network = test::lenet_like();
  MutationQuestion question;
  const mutation::Drawn none;
  EXPECT_THAT(refusal([&] { require_judgeable(question, none, network); }), HasSubstr("which test set"));
  question.tests = {"test.npz"};
  EXPECT_THAT(refusal([&] { require_judgeable(question, none, network); }),
              HasSubstr("no mutant can be made"));
  question.draw.layers = {"fc9"};
  EXPECT_THAT(refusal([&] { require_judgeable(question, none, network); }),
              HasSubstr("a place at layer fc9"));
  EXPECT_EQ(refusal([&] {
              require_judgeable(
                  question, {.mutants = {mutation::parse_mutant("ns@fc#1")}, .not_applicable = {}}, network);
            }),
            "");
  EXPECT_THAT(refusal([&] { only_mutant(question, none); }), HasSubstr("name both"));
}

}  // namespace
}  // namespace assay::answers
