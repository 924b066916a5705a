// Networks that do not give each record a row of scores are refused by every command that reads scores.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <assay/error.h>
#include <assay/extend/question.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/records.h>

namespace assay {
namespace {

constexpr std::int64_t records = 3, inputs = 6, classes = 3;  // as many records as classes

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
      question.datasets.emplace("records", from_arrays(numbers({records, inputs}, 2), {0, 1, 2},
                                                       {.valid_range = ValidRange{{-9}, {9}}}));
      try {
        ask(question, silence());
        ADD_FAILURE() << "it was answered";
      } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::mismatch) << error.what();
        // Training counts the outputs first.
        EXPECT_THAT(error.what(), ::testing::AnyOf(::testing::HasSubstr("put the records' axis first"),
                                                   ::testing::HasSubstr("the network has 1 outputs")));
      }
    }
  }
}

}  // namespace
}  // namespace assay
