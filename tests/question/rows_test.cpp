// Networks that do not give each record a row of scores are refused by every command that reads scores; a
// single score needs no axis of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <assay/error.h>
#include <assay/extend/question.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/records.h>

namespace assay::frame {
namespace {

constexpr std::int64_t record_count = 3, inputs = 6, classes = 3;  // as many records as classes

Array numbers(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(rng.normal());
  return Array::of<float>(shape, values);
}

// A dense layer whose scores `after` arranges otherwise.
Graph network(const std::string& name, const std::function<ValueId(GraphBuilder&, ValueId)>& after) {
  GraphBuilder builder(name);
  const ValueId x = builder.input("x", DType::float32, {-1, inputs});
  const ValueId weights = builder.constant("w", numbers({inputs, classes}, 1));
  builder.output(after(builder, builder.add("MatMul", "fc", {x, weights})));
  return builder.build();
}

std::vector<Graph> odd_networks() {
  const auto of_name = [](const std::string& name, const std::string& op,
                          std::map<std::string, Attribute> attributes, bool twice = false) {
    return network(name, [=](GraphBuilder& builder, ValueId scores) {
      return builder.add(op, "after", twice ? std::vector{scores, scores} : std::vector{scores}, attributes);
    });
  };
  return {of_name("transposed", "Transpose", {{"perm", std::vector<std::int64_t>{1, 0}}}),
          of_name("twice", "Concat", {{"axis", std::int64_t{0}}}, true),
          network("mean", [](GraphBuilder& builder, ValueId scores) {
            const ValueId axes = builder.constant("axes", Array::of<std::int64_t>({1}, {0}));
            return builder.add("ReduceMean", "after", {scores, axes}, {{"keepdims", std::int64_t{1}}});
          })};
}

TEST(Rows, OfScoresThatAreNotThoseOfTheRecordsAreRefused) {
  const std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::vector<std::string>>>>>
      questions{{"evaluate", {{"data", {"@records"}}}},
                {"importance", {{"data", {"@records"}}}},
                {"cover", {{"train", {"@records"}}, {"test", {"@records"}}, {"criterion", {"nc"}}}},
                {"cover", {{"train", {"@records"}}, {"test", {"@records"}}, {"criterion", {"lsc"}}}},
                {"mutate", {{"test", {"@records"}}, {"count", {"1"}}}},
                {"select", {{"test", {"@records"}}, {"by", {"deepgini"}}}},
                {"train",
                 {{"data", {"@records"}},
                  {"initialiser", {"keep"}},
                  {"epochs", {"1"}},
                  {"out", {::testing::TempDir() + "rows.onnx"}}}},
                {"explore",
                 {{"data", {"@records"}},
                  {"train", {"@records"}},
                  {"mutant", {"ws"}},
                  {"criterion", {"nc"}},
                  {"out", {::testing::TempDir() + "rows-explored"}}}},
                {"attack",
                 {{"data", {"@records"}}, {"attack", {"fgsm"}}, {"out", {::testing::TempDir() + "rows"}}}}};
  for (const Graph& odd : odd_networks()) {
    for (const auto& [command, flags] : questions) {
      SCOPED_TRACE(odd.name() + " " + command);
      Question question{command, flags};
      question.flags.push_back({"model", {"@net"}});
      question.networks.emplace("net", odd);
      question.datasets.emplace("records", from_arrays(numbers({record_count, inputs}, 2), {0, 1, 2},
                                                       {.valid_range = ValidRange{{-9}, {9}}}));
      try {
        ask(question, silence());
        ADD_FAILURE() << "it was answered";
      } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::mismatch) << error.what();
        // Training counts the outputs first.
        EXPECT_THAT(error.what(), ::testing::AnyOf(::testing::HasSubstr("put the records' axis first"),
                                                   ::testing::HasSubstr("the network tells 2 apart")));
      }
    }
  }
}

// Scores of each step with the steps in front, as PyTorch's recurrent layers give them: no class a record, so
// that criteria which need none measure what they can.
TEST(Rows, ScoresOfEachStepWithRecordsBehindThemAreCovered) {
  const Graph steps = network("steps", [](GraphBuilder& builder, ValueId scores) {
    const ValueId axes = builder.constant("axes", Array::of<std::int64_t>({1}, {0}));
    const ValueId upright = builder.add("Unsqueeze", "upright", {scores, axes});
    return builder.add("Concat", "after", {upright, upright}, {{"axis", std::int64_t{0}}});  // [2, N, 3]
  });
  const auto put = [&](const std::string& criterion) {
    Question question{"cover", {{"train", {"@records"}}, {"test", {"@records"}}, {"criterion", {criterion}}}};
    question.flags.push_back({"model", {"@net"}});
    question.networks.emplace("net", steps);
    question.datasets.emplace("records", from_arrays(numbers({record_count, inputs}, 2), {0, 1, 2}, {}));
    return ask(question, silence());
  };
  EXPECT_NO_THROW(put("nc"));
  EXPECT_NO_THROW(put("kmnc"));
  try {
    put("idc[m=2]");
    ADD_FAILURE() << "relevance needs a decision";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("transpose(0, 1)"));
  }
}

// One score that says yes or no, as [N, 1] or, after a node that takes the axis away, as [N].
Graph yes_or_no(const std::string& op, bool sigmoid) {
  GraphBuilder builder("net");
  const ValueId x = builder.input("x", DType::float32, {-1, inputs});
  const ValueId hidden =
      builder.add("MatMul", "hidden", {x, builder.constant("w1", numbers({inputs, 4}, 1))});
  const ValueId active = builder.add("Relu", "active", {hidden});
  ValueId score = builder.add("MatMul", "out", {active, builder.constant("w2", numbers({4, 1}, 2))});
  if (sigmoid) score = builder.add("Sigmoid", "yes", {score});
  if (op == "Squeeze all") score = builder.add("Squeeze", "flat", {score});
  if (op == "Squeeze")
    score =
        builder.add("Squeeze", "flat", {score, builder.constant("axes", Array::of<std::int64_t>({1}, {-1}))});
  if (op == "Reshape")
    score =
        builder.add("Reshape", "flat", {score, builder.constant("to", Array::of<std::int64_t>({1}, {-1}))});
  if (op == "Gather")
    score = builder.add("Gather", "flat", {score, builder.constant("at", Array::of<std::int64_t>({}, {0}))},
                        {{"axis", std::int64_t{1}}});
  builder.output(score);
  return builder.build();
}

TEST(Rows, ASingleScoreNeedsNoAxisOfItsOwn) {
  constexpr std::int64_t many = 31;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < many; ++i) labels.push_back(i % 3 == 0 ? 1 : 0);
  const std::filesystem::path out = std::filesystem::path(::testing::TempDir()) / "single-score";
  const std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::vector<std::string>>>>>
      questions{{"evaluate", {{"data", {"@records"}}}},
                {"importance", {{"data", {"@records"}}, {"layer", {"hidden"}}}},
                {"cover",
                 {{"train", {"@records"}},
                  {"test", {"@records"}},
                  {"layer", {"hidden"}},
                  {"criterion", {"nc", "idc[m=2]", "lsc", "dsc"}}}},
                {"mutate", {{"test", {"@records"}}, {"operator", {"ws", "gf", "nai"}}, {"count", {"3"}}}},
                {"select", {{"test", {"@records"}}, {"by", {"deepgini"}}, {"size", {"5"}}}},
                {"train", {{"data", {"@records"}}, {"initialiser", {"keep"}}, {"epochs", {"2"}}}},
                {"explore", {{"data", {"@records"}}, {"mutant", {"ws"}}, {"constraint", {"none"}}}},
                {"attack", {{"data", {"@records"}}, {"attack", {"fgsm", "deepfool"}}}}};
  for (const auto& [command, flags] : questions) {
    for (const bool sigmoid : {false, true}) {
      std::string expected;
      for (const char* op : {"none", "Squeeze", "Squeeze all", "Reshape", "Gather"}) {
        SCOPED_TRACE(fmt::format("{} {} {}", command, op, sigmoid ? "of a sigmoid" : ""));
        Question question{command, flags};
        question.flags.push_back({"model", {"@net"}});
        if (command != "train") question.flags.push_back({"batch", {"6"}});  // the last of one record
        std::filesystem::remove_all(out);
        std::filesystem::create_directories(out);
        if (command == "train") question.flags.push_back({"out", {out / "out.onnx"}});
        if (command == "attack" || command == "explore") question.flags.push_back({"out", {out / "out"}});
        question.networks.emplace("net", yes_or_no(op, sigmoid));
        question.datasets.emplace("records", from_arrays(numbers({many, inputs}, 2), labels,
                                                         {.valid_range = ValidRange{{-9}, {9}}}));
        const std::string headline = ask(question, silence()).headline;
        if (expected.empty()) expected = headline;
        EXPECT_EQ(headline, expected);
      }
    }
  }
}

}  // namespace
}  // namespace assay::frame
