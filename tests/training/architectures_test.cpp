#include <assay/training.h>

#include <gtest/gtest.h>

#include <assay/error.h>
#include <assay/session.h>
#include "assay/training/weights.h"

namespace assay::training {
namespace {

std::int64_t trainable_elements(const Graph& graph) {
  std::int64_t count = 0;
  for (const Weight& weight : find_weights(graph)) {
    if (weight.trainable()) count += graph.constant(weight.value).count();
  }
  return count;
}

TEST(Architectures, HaveThePublishedNumbersOfParameters) {
  const std::map<std::string, std::int64_t> published{
      {"lenet1", 7206},           {"lenet4", 69362},          {"lenet5", 107786},
      {"deepmutation-a", 107786}, {"deepmutation-b", 694402}, {"deepmutation-c", 1147978},
      {"cifar-convnet", 952234},  {"dave2", 2116983},         {"dave2-dropout", 3276225},
      {"next-symbol-lstm", 88672}};
  ASSERT_FALSE(architectures().empty());
  for (const ArchitectureInfo& info : architectures()) {
    ASSERT_TRUE(published.contains(info.name)) << info.name << ": write the published number above";
    EXPECT_EQ(info.parameters, published.at(info.name)) << info.name;
    EXPECT_EQ(trainable_elements(info.build()), info.parameters) << info.name;
  }
}

TEST(Architectures, RunOnRecordsOfTheirShape) {
  for (const ArchitectureInfo& info : architectures()) {
    const Session session(architectures().find(info.name).build());
    Shape shape{1};
    shape.insert(shape.end(), info.record_shape.begin(), info.record_shape.end());
    const ValueId logits = session.logits();
    const Array out =
        session
            .run(session.bind(Array::zeros(session.graph().value(session.graph().inputs()[0]).dtype, shape)),
                 std::span(&logits, 1))
            .at(logits);
    const std::int64_t outputs = info.name.starts_with("dave2")    ? 1
                                 : info.name == "next-symbol-lstm" ? 96
                                                                   : 10;
    EXPECT_EQ(out.shape(), (Shape{1, outputs})) << info.name;
  }
}

TEST(Architectures, TakeOptions) {
  const Session session(build_architecture("next-symbol-lstm[symbols=5,window=7,embedding=3,units=4]"));
  EXPECT_EQ(trainable_elements(session.graph()), 5 * 3 + 4 * 4 * (3 + 4 + 2) + 4 * 5 + 5);
  EXPECT_EQ(session.layer("lstm").neurons, 4);
  EXPECT_EQ(trainable_elements(build_architecture("lenet1[extra=2]")),
            6 * 25 + 6 + 14 * 6 * 25 + 14 + 10 * 14 * 49 + 10);
  EXPECT_THROW(build_architecture("lenet5[units=3]"), Error);
  EXPECT_THROW(build_architecture("next-symbol-lstm[units=0]"), Error);
}

TEST(Architectures, AnUnknownNameIsAnErrorThatListsTheKnown) {
  try {
    architectures().find("lenet6").build();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("lenet5"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::training
