// Choosing mutants, naming them, and what can be mutated at all.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include <assay/adapt.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include "assay/mutation/sites.h"
#include "tests/mutation/subjects.h"

namespace assay::mutation {
namespace {

using namespace test;

std::vector<OperatorChoice> specs(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

std::vector<std::string> texts(const Drawn& drawn) {
  std::vector<std::string> result;
  for (const Mutant& one : drawn.mutants) result.push_back(one.text());
  return result;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "no error";
}

TEST(SampleFew, IsDistinctAscendingAndUniform) {
  std::vector<int> hits(12);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    Rng rng(seed);
    const auto sample = sample_few(rng, 12, 4);
    ASSERT_EQ(sample.size(), 4U);
    for (std::size_t i = 1; i < 4; ++i) ASSERT_LT(sample[i - 1], sample[i]);
    for (const std::int64_t i : sample) ++hits[static_cast<std::size_t>(i)];
  }
  for (const int count : hits) EXPECT_NEAR(count, 2000, 180);
  Rng rng(1);
  EXPECT_EQ(sample_few(rng, 3, 3), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_TRUE(sample_few(rng, 3, 0).empty());
}

TEST(Draw, GivesTheNumberAskedForInLayersByWeight) {
  const Graph graph = lenet_like();
  const Subject subject = subject_of(graph);
  const Drawn drawn = draw_mutants(subject, {.operators = specs({"gf"}), .per_operator = 600, .layers = {}});
  ASSERT_EQ(drawn.mutants.size(), 600U);
  std::map<std::string, double> share;
  for (const Mutant& one : drawn.mutants) share[one.layer] += 1.0 / 600;
  const double all = 36 + 216 + 240 + 50;
  EXPECT_NEAR(share["conv1"], 36 / all, 0.05);
  EXPECT_NEAR(share["conv2"], 216 / all, 0.08);
  EXPECT_NEAR(share["dense1"], 240 / all, 0.08);
  EXPECT_NEAR(share["logits"], 50 / all, 0.05);
}

TEST(Draw, ListsNoTwoEqualMutantsAndStopsWhenThereAreNoMore) {
  const Subject subject = subject_of(lenet_like());
  const Drawn neb = draw_mutants(subject, {.operators = specs({"neb"}), .per_operator = 100, .layers = {}});
  EXPECT_EQ(neb.mutants.size(), 4U + 6 + 10);  // one neuron each
  const Drawn flips = draw_mutants(
      subject, {.operators = specs({"bitflip[bits=31]"}), .per_operator = 1000, .layers = {"conv1"}});
  EXPECT_EQ(flips.mutants.size(), 36U);
  EXPECT_EQ(
      draw_mutants(subject, {.operators = specs({"afrm"}), .per_operator = 50, .layers = {}}).mutants.size(),
      3U);
  // tanh and sigmoid after three layers that end in a ReLU; no layer keeps its shape.
  EXPECT_EQ(
      draw_mutants(subject, {.operators = specs({"lam"}), .per_operator = 50, .layers = {}}).mutants.size(),
      6U);
  EXPECT_EQ(
      draw_mutants(subject, {.operators = specs({"lam"}), .per_operator = 4, .layers = {}}).mutants.size(),
      4U);
}

TEST(Draw, OfOneOperatorDoesNotDependOnTheOthers) {
  const Subject subject = subject_of(lenet_like());
  const auto alone =
      texts(draw_mutants(subject, {.operators = specs({"ws"}), .per_operator = 5, .layers = {}, .seed = 3}));
  auto together = texts(draw_mutants(
      subject, {.operators = specs({"gf", "ws", "ld"}), .per_operator = 5, .layers = {}, .seed = 3}));
  std::erase_if(together, [](const std::string& text) { return !text.starts_with("ws"); });
  EXPECT_EQ(together, alone);
  EXPECT_NE(
      texts(draw_mutants(subject, {.operators = specs({"ws"}), .per_operator = 5, .layers = {}, .seed = 4})),
      alone);
}

TEST(Draw, IdsAreUniqueAlsoAmongOneOperatorWithSeveralOptions) {
  const Subject subject = subject_of(lenet_like());
  const Drawn drawn =
      draw_mutants(subject, {.operators = specs({"gf[sigma=0.1]", "gf[sigma=1]", "neb", "stuck"}),
                             .per_operator = 20,
                             .layers = {}});
  std::set<std::string> ids;
  for (const Mutant& one : drawn.mutants) EXPECT_TRUE(ids.insert(one.id()).second) << one.id();
}

TEST(Draw, SpreadsOverTheWholeNetworkWhenAsked) {
  const Graph graph = lenet_like();
  const Subject subject = subject_of(graph);
  const Drawn drawn =
      draw_mutants(subject, {.operators = specs({"gf[ratio=0.1]", "neb[ratio=0.5]", "ns[ratio=0.5]", "ld"}),
                             .per_operator = 3,
                             .layers = {},
                             .whole_network = true});
  std::map<std::string, std::set<std::string>> layers;
  for (const Mutant& one : drawn.mutants) {
    if (one.op.name == "ld") continue;
    EXPECT_TRUE(one.layer.empty());
    const Mutation mutation = apply(subject, one);
    for (const Change& change : mutation.changes) layers[one.op.name].insert(change.layer);
    if (one.op.name == "gf") {
      EXPECT_EQ(mutation.sites, std::llround(0.1 * (36 + 216 + 240 + 50)));
    }
    if (one.op.name == "neb") {
      EXPECT_EQ(mutation.sites, 10);
    }
  }
  EXPECT_GE(layers["gf"].size(), 3U);
  EXPECT_GE(layers["neb"].size(), 2U);
  EXPECT_FALSE(layers["neb"].contains("logits"));
  EXPECT_NE(message_of([&] {
              draw_mutants(subject, {.operators = specs({"gf"}), .layers = {"conv1"}, .whole_network = true});
            }).find("layers cannot be chosen"),
            std::string::npos);
}

TEST(Draw, OfChosenUnitsChangesThoseNeuronsOnly) {
  const Subject subject = subject_of(lenet_like());
  const std::map<std::string, std::vector<std::size_t>> units{{"conv2", {1, 4}}, {"dense1", {0, 7, 8, 9}}};
  const Drawn drawn = draw_mutants(
      subject,
      {.operators = specs({"neb", "gf[ratio=0.5]", "gf[bias=true,ratio=1]", "ws", "ns[count=2]", "lam"}),
       .per_operator = 30,
       .layers = {},
       .units = units});
  std::map<std::string, std::set<std::int64_t>> changed;
  std::map<std::string, std::size_t> count;
  for (const Mutant& one : drawn.mutants) {
    ++count[one.op.name];
    EXPECT_EQ(parse_mutant(one.text()), one);
    const Mutation mutation = apply(subject, one);
    for (const Change& change : mutation.changes) changed[change.layer].insert(change.neuron);
    if (one.op.text().find("bias=true") != std::string::npos) {
      EXPECT_EQ(mutation.sites, one.layer == "conv2" ? 2 * (36 + 1) : 4 * (24 + 1)) << one.text();
    }
  }
  EXPECT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed["conv2"], (std::set<std::int64_t>{1, 4}));
  EXPECT_EQ(changed["dense1"], (std::set<std::int64_t>{0, 7, 8, 9}));
  EXPECT_EQ(count["neb"], 6U);
  EXPECT_FALSE(count.contains("lam"));
  ASSERT_EQ(drawn.not_applicable.size(), 2U);
  EXPECT_NE(drawn.not_applicable[0].reason.find("a layer as a whole"), std::string::npos);
  EXPECT_NE(message_of([&] {
              draw_mutants(subject, {.operators = specs({"neb"}), .layers = {}, .units = {{"conv1", {4}}}});
            }).find("has neurons 0 to 3"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              draw_mutants(subject, {.operators = specs({"neb"}), .layers = {"conv1"}, .units = units});
            }).find("leave out layers"),
            std::string::npos);
}

TEST(Draw, SaysWhereOperatorsDoNotApply) {
  const Drawn drawn = draw_mutants(subject_of(lenet_like()), {.operators = specs({"ld"}), .layers = {}});
  EXPECT_TRUE(drawn.mutants.empty());
  ASSERT_EQ(drawn.not_applicable.size(), 4U);
  EXPECT_EQ(drawn.not_applicable[0].layer, "conv1");
  EXPECT_EQ(drawn.not_applicable[0].reason, "input [1, 12, 12] and output [4, 10, 10] differ");
}

TEST(Draw, RefusesLayersAndOptionsThatDoNotExist) {
  const Subject subject = subject_of(lenet_like());
  EXPECT_NE(message_of([&] {
              draw_mutants(subject, {.operators = specs({"gf"}), .layers = {"conv3"}});
            }).find("did you mean 'conv"),
            std::string::npos);
  for (const char* op :
       {"gf[ratio=0]", "gf[ratio=1.5]", "gf[sigma=-1]", "gf[relative=maybe]", "bitflip[bits=32]",
        "bitflip[bits=x]", "stuck[value=x]", "lam[kind=pool]", "wi[bias=7]"}) {
    EXPECT_NE(message_of([&] { draw_mutants(subject, {.operators = specs({op}), .layers = {}}); }),
              "no error")
        << op;
  }
}

TEST(Mutant, IsWrittenAndReadAsText) {
  const Mutant one = mutant("gf[sigma=0.5,ratio=0.02]", "/layer1/conv#1/Conv", 17);
  EXPECT_EQ(one.text(), "gf[ratio=0.02,sigma=0.5]@/layer1/conv#1/Conv#17");
  EXPECT_EQ(parse_mutant(one.text()), one);
  EXPECT_EQ(one.id(), "gf-layer1_conv_1_Conv-17");
  EXPECT_EQ(parse_mutant("neb#3"), mutant("neb", "", 3));
  EXPECT_EQ(parse_mutant("neb#3").id(), "neb-3");
  for (const char* text : {"", "gf", "gf@conv", "gf@#1", "gf#", "gf#x", "gf[ratio=1#2", "gf@conv#-1",
                           "gf@conv#1x", "#1", "gf[ratio=1]conv#1"}) {
    EXPECT_THROW(parse_mutant(text), Error) << text;
  }
}

TEST(Mutant, ThatDoesNotApplySaysWhy) {
  const Subject subject = subject_of(lenet_like());
  EXPECT_NE(message_of([&] {
              apply(subject, mutant("ld", "conv1"));
            }).find("does not apply to layer 'conv1': input [1, 12, 12]"),
            std::string::npos);
  EXPECT_NE(message_of([&] { apply(subject, mutant("ld", "")); }).find("applies to no layer"),
            std::string::npos);
}

TEST(Subject, KnowsWhatCannotBeMutated) {
  const Subject subject = subject_of(transformer_like());
  std::set<std::string> out;
  for (const Subject::LeftOut& one : subject.left_out()) {
    out.insert(one.layer);
    EXPECT_NE(one.reason.find("product of two activations"), std::string::npos) << one.reason;
  }
  EXPECT_EQ(out, (std::set<std::string>{"scores", "context"}));
  EXPECT_EQ(subject.layers().size(), 7U);
  EXPECT_NE(message_of([&] { subject.layer("scores"); }).find("cannot be mutated"), std::string::npos);
}

TEST(Subject, LeavesOutWhatTheDecisionDoesNotDependOn) {
  Net net("heads", 2);
  const ValueId x = net.relu("relu", net.dense("shared", net.input({-1, 4}), 4, 6));
  net.builder.output(net.builder.add("Softmax", "softmax", {net.dense("first", x, 6, 3)}));
  net.builder.output(net.dense("second", net.dense("before", x, 6, 6), 6, 2));
  const auto names = [](const Graph& graph) {
    const Subject subject = subject_of(graph);
    std::vector<std::string> mutated, left_out;
    for (const SubjectLayer& layer : subject.layers()) mutated.push_back(layer.name());
    for (const Subject::LeftOut& one : subject.left_out()) left_out.push_back(one.layer);
    return std::pair(mutated, left_out);
  };
  using Names = std::vector<std::string>;
  const Graph graph = net.builder.build();
  EXPECT_EQ(names(graph), std::pair(Names({"shared", "first"}), Names({"before", "second"})));
  EXPECT_EQ(names(with_decision(graph, "1")),
            std::pair(Names({"shared", "before", "second"}), Names({"first"})));
}

TEST(Subject, FindsBiasesPreactivationsAndLastLayers) {
  const Subject transformer = subject_of(transformer_like());
  const SubjectLayer& up = transformer.layer("up");
  EXPECT_EQ(up.biases.size(), 1U);  // added by a node of its own
  EXPECT_TRUE(up.has_activation());
  EXPECT_EQ(transformer.graph().value(up.preactivation).name, "up_bias");
  EXPECT_FALSE(up.last);
  EXPECT_TRUE(transformer.layer("logits").last);
  const Subject square = subject_of(square_dense());
  EXPECT_TRUE(square.layer("logits").output_function);
  EXPECT_FALSE(square.layer("first").output_function);
  EXPECT_TRUE(square.layer("first").keeps_shape());
  const Subject resnet = subject_of(resnet_like());
  EXPECT_EQ(resnet.graph().value(resnet.layer("stem").preactivation).name, "stem_bn");
}

// Every network of the folder that ASSAY_SHARED_DATA names: each operator gives mutants that run, or reasons.
TEST(RealNetworks, WorkOrSayWhyNot) {
  const char* const folder = std::getenv("ASSAY_SHARED_DATA");
  if (!folder || !std::filesystem::exists(std::filesystem::path(folder) / "models"))
    GTEST_SKIP() << "ASSAY_SHARED_DATA names no folder with models";
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(folder) / "models")) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const Graph graph = read_model(entry.path());
    const Subject subject = subject_of(graph);
    EXPECT_FALSE(subject.layers().empty());
    const Array records = records_for(graph, 2);
    for (const OperatorInfo& info : operators()) {
      if (info.of_source()) continue;
      const Drawn drawn =
          draw_mutants(subject, {.operators = {Spec{info.name, {}}}, .per_operator = 1, .layers = {}});
      EXPECT_TRUE(!drawn.mutants.empty() || drawn.not_applicable.size() == subject.layers().size())
          << info.name;
      for (const Mutant& one : drawn.mutants)
        EXPECT_EQ(output_of(apply(subject, one).graph, records).size(0), 2) << one.text();
    }
    ++count;
  }
  EXPECT_GE(count, 5);
}

}  // namespace
}  // namespace assay::mutation
