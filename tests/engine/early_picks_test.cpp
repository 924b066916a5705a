// Networks that decide by one position: what is picked is picked before nodes that compute all positions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/records.h>
#include <assay/session.h>
#include "assay/engine/constants.h"
#include "assay/engine/preparation/early_picks.h"
#include "assay/engine/shape_inference.h"
#include "assay/model/token_decision.h"
#include "tests/engine/graphs.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr std::int64_t words = 30, width = 8, length = 6;

// Rows of a table, mixed with the mean of all positions, then dense layers, a norm and scores of all words.
class Language {
 public:
  explicit Language(std::int64_t scores = words) : net("language") {
    GraphBuilder& b = net.builder;
    const ValueId ids = b.input("input_ids", DType::int64, {-1, -1});
    const ValueId mask = b.input("attention_mask", DType::int64, {-1, -1});
    const ValueId real = b.add("Cast", "real", {mask}, {{"to", std::int64_t{1}}});
    const ValueId rows = b.add("Gather", "rows", {net.weight("table", {words, width}), ids});
    const ValueId by_position =
        b.add("Unsqueeze", "by_position", {real, b.constant("last", test::integers({2}))});
    const ValueId there = b.add("Mul", "there", {rows, by_position});
    const ValueId mean = b.add("ReduceMean", "mean", {there, b.constant("positions", test::integers({1}))});
    const ValueId stream = b.add("Add", "stream", {there, mean});
    const ValueId up = b.add("MatMul", "up", {stream, net.weight("up/w", {width, 2 * width})});
    const ValueId shifted = b.add("Add", "shifted", {up, net.bias("up/b", 2 * width)});
    const ValueId active = b.add("Gelu", "active", {shifted});
    const ValueId down = b.add("MatMul", "down", {active, net.weight("down/w", {2 * width, width})});
    const ValueId sum = b.add("Add", "sum", {stream, down});
    const ValueId norm =
        b.add("LayerNormalization", "norm", {sum, net.bias("norm/s", width), net.bias("norm/b", width)},
              {{"axis", std::int64_t{-1}}});
    const ValueId same = b.add("Reshape", "same", {norm, b.constant("shape", test::integers({0, 0, width}))});
    b.output(b.add("MatMul", "logits", {same, net.weight("head", {width, scores})}));
  }
  Graph decided(TokenDecision decision = {}) { return with_token_decision(net.builder.build(), decision); }
  test::Net net;
};

std::vector<NamedArray> texts(std::int64_t records, std::int64_t tokens = length) {
  std::vector<std::int64_t> ids, mask;
  Rng rng(7);
  for (std::int64_t r = 0; r < records; ++r) {
    for (std::int64_t i = 0; i < tokens; ++i) {
      ids.push_back(static_cast<std::int64_t>(rng.below(words)));
      mask.push_back(i < tokens - r % 3 ? 1 : 0);
    }
  }
  return {{"input_ids", Array::of<std::int64_t>({records, tokens}, ids)},
          {"attention_mask", Array::of<std::int64_t>({records, tokens}, mask)}};
}

SessionOptions options_for(const Dataset& data, const std::string& engine = "auto") {
  SessionOptions options;
  options.engine = engine;
  set_record_shapes(options, data.facts());
  return options;
}

Tensors bound(const Session& session, const Dataset& data) {
  std::vector<std::size_t> all(data.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return session.bind(data.read(all));
}

std::optional<EarlyPicks> picks_of(const Graph& graph) {
  const RecordShapes shapes{{}, {{"input_ids", {length}}, {"attention_mask", {length}}}};
  const Constants constants(graph, std::uint64_t{1} << 30);
  const auto seen = [&](std::int64_t rows) {
    return sample_shapes(graph, constants, tiny_batch(graph, shapes, rows));
  };
  return pick_early(graph, compare_sample_shapes(graph, seen(2), seen(3)));
}

std::vector<std::string> passed_in(const Graph& graph) {
  std::vector<std::string> names;
  if (const auto picks = picks_of(graph)) {
    for (const ValueId id : picks->passed) names.push_back(graph.value(id).name);
  }
  return names;
}

TEST(EarlyPicks, PassAllThatComputesPositionsFromThemselves) {
  const std::vector<std::string> passed = passed_in(Language().decided({.answers = {3, 5}}));
  EXPECT_THAT(passed, IsSupersetOf({"logits", "norm", "sum", "down", "active", "up"}));
  EXPECT_THAT(passed, Not(Contains("mean")));
}

TEST(EarlyPicks, StopWhereOthersReadAllPositions) {
  Language language;
  GraphBuilder& b = language.net.builder;
  const ValueId active = *language.net.builder.build().find_value("active");
  b.output(b.add("ReduceMax", "strongest", {active}));
  const std::vector<std::string> passed = passed_in(language.decided());
  EXPECT_THAT(passed, IsSupersetOf({"logits", "norm", "sum", "down"}));
  EXPECT_THAT(passed, Not(Contains("active")));
}

TEST(EarlyPicks, AreNoneWhereAllPositionsDecide) {
  EXPECT_FALSE(picks_of(Language().decided({.position = TokenDecision::Position::all})));
}

void expect_same_numbers(const Array& found, const Array& wanted) {
  ASSERT_EQ(found.shape(), wanted.shape());
  EXPECT_LT((found - wanted).abs().max().item<float>(), 1e-5F);
}

TEST(EarlyPicks, ChangeNoResult) {
  const DatasetPtr data = from_arrays(texts(5));
  const Graph graph = Language().decided({.position = TokenDecision::Position::number, .number = 2});
  const Session quick(graph, options_for(*data)), plain(graph, options_for(*data, "reference"));
  const ValueId decision = graph.outputs()[0], logits = graph.outputs()[1];
  const Tensors given = bound(plain, *data);
  for (const std::vector<ValueId>& wanted : {std::vector{decision}, std::vector{decision, logits}}) {
    const Tensors found = quick.run(given, wanted), same = plain.run(given, wanted);
    for (const ValueId id : wanted) expect_same_numbers(found.at(id), same.at(id));
  }
}

TEST(EarlyPicks, LetRunsGoOnFromWhatTheyPass) {
  const DatasetPtr data = from_arrays(texts(5));
  const Graph graph = Language().decided();
  const Session quick(graph, options_for(*data)), plain(graph, options_for(*data, "reference"));
  const ValueId decision = graph.outputs()[0], norm = *graph.find_value("norm");
  Tensors given = bound(plain, *data);
  given[norm] = plain.run(given, std::span(&norm, 1)).at(norm) * 2.0F;
  expect_same_numbers(quick.run(given, std::span(&decision, 1)).at(decision),
                      plain.run(given, std::span(&decision, 1)).at(decision));
}

// Nodes that compute fewer positions are those of the network, with that share of their products.
TEST(EarlyPicks, ArePlannedAsTheNodesThatTheyStandFor) {
  test::Net net("first position");
  GraphBuilder& b = net.builder;
  const ValueId x = b.input("x", DType::float32, {-1, length, width});
  const ValueId up = b.add("MatMul", "up", {x, net.weight("up/w", {width, 2 * width})});
  const ValueId active = b.add("Relu", "active", {up});
  const ValueId down = b.add("MatMul", "down", {active, net.weight("down/w", {2 * width, width})});
  const ValueId first = b.add("Gather", "first", {down, b.constant("zero", Array::of<std::int64_t>({}, {0}))},
                              {{"axis", std::int64_t{1}}});
  b.output(b.add("MatMul", "scores", {first, net.weight("head", {width, 3})}));
  const Graph graph = b.build();
  std::map<std::string, int> planned;
  double products = 0;
  for (const PlannedSegment& part : Session(graph).plan()) {
    for (const NodeId n : part.nodes) ++planned[graph.node(n).name];
    products += part.multiply_adds;
  }
  for (const char* const name : {"up", "active", "down", "scores"}) EXPECT_EQ(planned[name], 1) << name;
  EXPECT_DOUBLE_EQ(products, 2 * 2 * width * width + 3 * width);
}

TEST(EarlyPicks, HaveGradients) {
  const DatasetPtr data = from_arrays(texts(5));
  const Graph graph = Language().decided();
  const Session quick(graph, options_for(*data)), plain(graph, options_for(*data, "reference"));
  const ValueId decision = graph.outputs()[0];
  for (const char* const name : {"rows", "sum"}) {
    const ValueId by = *graph.find_value(name);
    const auto gradient = [&](const Session& session) {
      const auto sum = [&](const Tensors& values) {
        return (values.at(decision) * values.at(decision)).sum();
      };
      return session.gradients(bound(session, *data), std::span(&decision, 1), sum, std::span(&by, 1)).at(by);
    };
    expect_same_numbers(gradient(quick), gradient(plain));
  }
}

TEST(EarlyPicks, NeedNoMemoryForScoresOfAllPositions) {
  constexpr std::int64_t scores = 2000, records = 64, tokens = 64;
  const DatasetPtr data = from_arrays(texts(records, tokens));
  SessionOptions options = options_for(*data);
  options.memory_limit = std::uint64_t{8} << 20;  // all scores are 32 MB
  const Session session(Language(scores).decided(), options);
  const ValueId decision = session.graph().outputs()[0], logits = session.graph().outputs()[1];
  EXPECT_EQ(session.run(bound(session, *data), std::span(&decision, 1)).at(decision).shape(),
            (Shape{records, scores}));
  EXPECT_THROW(session.run(bound(session, *data), std::span(&logits, 1)), Error);
  const Session usual(Language().decided(),
                      options_for(*from_arrays(texts(5))));  // has the limit that is usual
}

}  // namespace
}  // namespace assay
