// Texts that begin alike, of which causal networks compute the rest alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include <assay/array_math.h>
#include <assay/progress.h>
#include <assay/records.h>
#include "assay/attack/objective.h"
#include "assay/attack/tokens/tail_scores.h"
#include "assay/attack/tokens/token_attack.h"
#include "assay/engine/elements.h"
#include "assay/model/token_decision.h"
#include "tests/attack/build.h"

namespace assay::test::on_tails {
using namespace attack;
namespace {

using Tokens = std::vector<std::int64_t>;
using Decision = TokenDecision::Position;

constexpr std::int64_t known = 20, length = 12, width = 8, heads = 2, texts = 4, first = 7;

// How a network of two layers is written.
struct Writing {
  std::string name;
  bool masked = false;   // with an input attention_mask
  bool flat = false;     // products of [records * tokens, width], as in GPT-2
  bool rotary = false;   // positions by rotation, as in Llama
  bool grouped = false;  // heads share keys and values
  bool cached = false;   // empty keys and values of earlier tokens in front
  bool looks_ahead = false;
  bool reads_all = false;  // 0 times the sum of all rows is added to the scores
};

class CausalNetwork : public Net {
 public:
  explicit CausalNetwork(const Writing& writing) : Net("causal", 4), writing_(writing), b(builder) {}

  Graph make() {
    const ValueId ids = b.input("input_ids", DType::int64, {-1, -1});
    if (writing_.masked) mask_ = b.input("attention_mask", DType::int64, {-1, -1});
    ids_ = ids;
    const ValueId rows = b.add("Gather", "rows", {random("table", {known, width}), ids});
    ValueId x = writing_.rotary ? rows : b.add("Add", "placed", {rows, random("places", {1, length, width})});
    for (int layer = 0; layer < 2; ++layer) x = block("h" + std::to_string(layer), x);
    ValueId scores = b.add("MatMul", "scores", {normal("end", x), random("head", {width, known})});
    if (writing_.reads_all) {
      const ValueId sum = b.add("ReduceSum", "sum", {rows, whole("both", {1, 2})});
      scores = b.add("Add", "with_all", {scores, b.add("Mul", "none", {sum, number("zero", 0)})});
    }
    b.output(scores);
    return b.build();
  }

 private:
  ValueId random(const std::string& name, Shape shape) {
    return b.constant(name, random_array(rng, std::move(shape), 0.7));
  }
  ValueId whole(const std::string& name, const Ints& numbers) { return b.constant(name, integers(numbers)); }
  ValueId number(const std::string& name, float value) {
    return b.constant(name, Array::of<float>({}, std::vector{value}));
  }
  ValueId reshaped(const std::string& name, ValueId x, const Ints& shape) {
    return b.add("Reshape", name, {x, whole(name + "/shape", shape)});
  }
  ValueId normal(const std::string& name, ValueId x) {
    return b.add("LayerNormalization", name + "/norm",
                 {x, random(name + "/gain", {width}), random(name + "/shift", {width})});
  }
  ValueId product(const std::string& name, ValueId x, std::int64_t in, std::int64_t out) {
    const ValueId weights = random(name + "/w", {in, out});
    if (!writing_.flat) return b.add("MatMul", name, {x, weights});
    const ValueId rows = reshaped(name + "/flat", x, {-1, in});
    return reshaped(name, b.add("Gemm", name + "/gemm", {rows, weights, bias(name + "/b", out)}),
                    {-1, length, out});
  }
  ValueId in_heads(const std::string& name, ValueId x, std::int64_t count) {
    return b.add("Transpose", name, {reshaped(name + "/parts", x, {0, -1, count, width / heads})},
                 {{"perm", Ints{0, 2, 1, 3}}});
  }
  ValueId rotated(const std::string& name, ValueId x) {
    if (!writing_.rotary) return x;
    constexpr std::int64_t half = width / heads / 2;
    std::vector<float> cosines, sines;
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t d = 0; d < 2 * half; ++d) {
        cosines.push_back(std::cos(static_cast<float>(i) / static_cast<float>(1 + d % half)));
        sines.push_back(std::sin(static_cast<float>(i) / static_cast<float>(1 + d % half)));
      }
    const auto part = [&](const std::string& role, std::int64_t begin, std::int64_t end) {
      return b.add("Slice", name + role,
                   {x, whole(name + role + "/begin", {begin}), whole(name + role + "/end", {end}),
                    whole(name + role + "/axis", {3})});
    };
    const ValueId turned =
        b.add("Concat", name + "/turned",
              {b.add("Neg", name + "/less", {part("/high", half, 2 * half)}), part("/low", 0, half)},
              {{"axis", std::int64_t{-1}}});
    const auto times = [&](const std::string& role, ValueId value, const std::vector<float>& factors) {
      return b.add(
          "Mul", name + role,
          {value, b.constant(name + role + "/f", Array::of<float>({1, 1, length, 2 * half}, factors))});
    };
    return b.add("Add", name, {times("/cos", x, cosines), times("/sin", turned, sines)});
  }
  // All heads of those that are shared.
  ValueId repeated(const std::string& name, ValueId x) {
    if (!writing_.grouped) return x;
    const ValueId apart = b.add("Unsqueeze", name + "/apart", {x, whole(name + "/axis", {2})});
    const ValueId all = b.add("Expand", name + "/all", {apart, whole(name + "/times", {1, 1, heads, 1, 1})});
    return reshaped(name, all, {0, heads, -1, width / heads});
  }
  ValueId after_cache(const std::string& name, ValueId x, std::int64_t count) {
    if (!writing_.cached) return x;
    const ValueId records = b.add(
        "Slice", name + "/records",
        {b.add("Shape", name + "/sizes", {ids_}), whole(name + "/from", {0}), whole(name + "/to", {1})});
    const ValueId shape =
        b.add("Concat", name + "/empty", {records, whole(name + "/rest", {count, 0, width / heads})},
              {{"axis", std::int64_t{0}}});
    return b.add("Concat", name, {b.add("ConstantOfShape", name + "/cache", {shape}), x},
                 {{"axis", std::int64_t{2}}});
  }
  ValueId masked(const std::string& name, ValueId scores) {
    std::vector<float> later;
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t j = 0; j < length; ++j) later.push_back(j > i && !writing_.looks_ahead ? -1e30F : 0);
    scores = b.add("Add", name + "/causal",
                   {scores, b.constant(name + "/later", Array::of<float>({1, 1, length, length}, later))});
    if (!writing_.masked) return scores;
    const ValueId real = b.add("Cast", name + "/real", {mask_}, {{"to", std::int64_t{1}}});
    const ValueId wide = b.add("Unsqueeze", name + "/wide", {real, whole(name + "/axes", {1, 2})});
    const ValueId missing = b.add("Sub", name + "/missing", {wide, number(name + "/one", 1)});
    return b.add("Add", name + "/masked",
                 {scores, b.add("Mul", name + "/less", {missing, number(name + "/much", 1e30F)})});
  }
  ValueId block(const std::string& name, ValueId x) {
    const ValueId in = normal(name, x);
    const std::int64_t shared = writing_.grouped ? 1 : heads, narrow = shared * width / heads;
    const auto heads_of = [&](const std::string& role, std::int64_t count) {
      return in_heads(name + role, product(name + role + "/p", in, width, count * width / heads), count);
    };
    const ValueId q = rotated(name + "/rq", heads_of("/q", heads));
    const ValueId k = repeated(
        name + "/ks",
        after_cache(name + "/kc", rotated(name + "/rk", heads_of("/k", narrow * heads / width)), shared));
    const ValueId v = repeated(name + "/vs", after_cache(name + "/vc", heads_of("/v", shared), shared));
    const ValueId turned = b.add("Transpose", name + "/kt", {k}, {{"perm", Ints{0, 1, 3, 2}}});
    const ValueId share =
        b.add("Softmax", name + "/share", {masked(name, b.add("MatMul", name + "/qk", {q, turned}))},
              {{"axis", std::int64_t{-1}}});
    const ValueId mixed = b.add("Transpose", name + "/mixed", {b.add("MatMul", name + "/mix", {share, v})},
                                {{"perm", Ints{0, 2, 1, 3}}});
    x = b.add("Add", name + "/first",
              {x, product(name + "/o", reshaped(name + "/joined", mixed, {0, -1, width}), width, width)});
    const ValueId inner =
        b.add("Tanh", name + "/tanh", {product(name + "/up", normal(name + "/second", x), width, 2 * width)});
    return b.add("Add", name + "/sum", {x, product(name + "/down", inner, 2 * width, width)});
  }

  Writing writing_;
  GraphBuilder& b;
  ValueId ids_ = no_value, mask_ = no_value;
};

Graph network_of(const Writing& writing, Decision position = Decision::last, std::int64_t number = 0) {
  return with_token_decision(CausalNetwork(writing).make(),
                             {.position = position, .number = number, .answers = {1, 2, 3}});
}

// The last texts are shorter where there is a mask.
DatasetPtr some_texts(const Session& session, bool masked) {
  Rng rng(8);
  Tokens ids, mask;
  for (std::int64_t r = 0; r < texts; ++r)
    for (std::int64_t i = 0; i < length; ++i) {
      ids.push_back(static_cast<std::int64_t>(rng.below(known)));
      mask.push_back(masked && r >= 2 && i + 1 == length ? 0 : 1);
    }
  std::vector<NamedArray> arrays{{"input_ids", Array::of<std::int64_t>({texts, length}, ids)}};
  if (masked) arrays.push_back({"attention_mask", Array::of<std::int64_t>({texts, length}, mask)});
  const DatasetPtr unlabelled = from_arrays(arrays, Tokens(texts, 0));
  const std::size_t all[] = {0, 1, 2, 3};
  const AttackedNetwork network(session, {}, false);
  const Array scores = network.outputs(session.bind(unlabelled->read(all)));
  return from_arrays(arrays, attack::numbers(array::argmax(scores, 1)));
}

struct Attacked {
  Tokens ids;
  std::vector<std::uint64_t> forward;
  std::size_t succeeded = 0;
};

SessionOptions options_for(bool masked, const std::string& engine) {
  SessionOptions options{.threads = 1, .engine = engine};
  options.record_shape = {length};
  if (masked) options.record_shapes = {{"input_ids", {length}}, {"attention_mask", {length}}};
  return options;
}

Attacked attacked(const Graph& graph, bool masked, const std::string& spec, const std::string& engine) {
  const Session session(graph, options_for(masked, engine));
  const auto folder = std::filesystem::path(::testing::TempDir()) / "token_tails";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const AttackSummary summary =
      attack_dataset(session, some_texts(session, masked), parse_spec("attack", spec),
                     folder / "attacked.npz", {}, silence());
  Attacked found{.ids = {}, .forward = {}, .succeeded = summary.succeeded};
  const DatasetPtr stored = open_dataset(summary.data);
  for (std::size_t i = 0; i < stored->size(); ++i) {
    const std::size_t one[] = {i};
    const Tokens ids = attack::numbers(stored->read(one).inputs);
    found.ids.insert(found.ids.end(), ids.begin(), ids.end());
    found.forward.push_back(summary.records[i].forward);
  }
  return found;
}

TokenLimits limits() { return TokenLimits(SpecOptions("attack", {"gcg", {}}, TokenLimits::options("1"))); }

const std::string later_tokens = "gcg[steps=6,candidates=8,top=6,changes=3,positions=7:,target=next]";
const std::string later_flips = "hotflip[changes=5,positions=7:]";

class EveryWriting : public ::testing::TestWithParam<Writing> {};

TEST_P(EveryWriting, GivesTheRecordsThatWholeTextsGive) {
  Writing whole = GetParam();
  whole.reads_all = true;  // so nothing can be left out
  for (const std::string& attack : {later_tokens, later_flips})
    for (const std::string engine : {"reference", "auto"}) {
      const Attacked rest = attacked(network_of(GetParam()), whole.masked, attack, engine),
                     all = attacked(network_of(whole), whole.masked, attack, engine);
      EXPECT_GT(rest.succeeded, 0u) << "a test of nothing: " << attack;
      EXPECT_EQ(rest.ids, all.ids) << attack << " " << engine;
      for (std::size_t r = 0; r < all.forward.size(); ++r)
        EXPECT_EQ(rest.forward[r], all.forward[r] + 4) << "the rest alone is not computed: " << attack;
    }
}

TEST_P(EveryWriting, GivesTheScoresThatWholeTextsGet) {
  for (const auto& [position, number] : {std::pair{Decision::last, 0}, std::pair{Decision::number, 9}}) {
    const Session session(network_of(GetParam(), position, number), options_for(GetParam().masked, "auto"));
    const DatasetPtr data = some_texts(session, GetParam().masked);
    const InputUnits units{array::full({length}, 0), array::full({length}, known - 1)};
    const AttackedNetwork network(session, units, false);
    const std::size_t both[] = {1, 3};
    for (const std::size_t record : both) {
      const Tensors given = session.bind(data->read(std::span(&record, 1)));
      const Array point = network.first(given).to(DType::float32) / static_cast<double>(known - 1);
      AttackProblem problem;
      problem.inputs = point;
      problem.held = network.held_of(given);
      problem.keys = {record};
      problem.places = {0};
      problem.log = std::make_shared<AttackLog>(1);
      const Array other = point.clone();
      for (std::int64_t i = first; i < length; ++i)
        other.elements<float>()[i] = static_cast<float>(i) / (known - 1);
      const TokenSpace space(network, limits());
      const auto tail = TailScores::of(space, first);
      ASSERT_NE(tail, nullptr);
      ASSERT_TRUE(tail->take(problem, point, other));
      EXPECT_EQ(problem.log->forward[0], 3u);
      const Array found = tail->scores(problem, other), wanted = network.scores(problem, other);
      for (std::int64_t c = 0; c < wanted.count(); ++c)
        EXPECT_NEAR(found.elements<float>()[c], wanted.elements<float>()[c], 1e-5) << "record " << record;
      problem.labels = array::tensor(Tokens{0});
      problem.scores = wanted;
      const Array ours = tail->gradients(problem, other, loss(problem)),
                  theirs = space.gradients(problem, other, {}, loss(problem));
      ASSERT_EQ(ours.shape(), theirs.shape());
      for (std::int64_t i = first * width; i < theirs.count(); ++i)
        EXPECT_NEAR(ours.elements<float>()[i], theirs.elements<float>()[i], 1e-5) << "record " << record;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryWriting,
    ::testing::Values(Writing{.name = "plain"}, Writing{.name = "masked", .masked = true},
                      Writing{.name = "flat", .masked = true, .flat = true},
                      Writing{.name = "llama", .masked = true, .rotary = true, .grouped = true},
                      Writing{.name = "cached", .masked = true, .grouped = true, .cached = true}),
    [](const auto& of) { return of.param.name; });

TEST(TokenTail, IsNotTakenWherePositionsLookAhead) {
  const Writing ahead{.name = "", .masked = true, .looks_ahead = true};
  Writing whole = ahead;
  whole.reads_all = true;
  for (const std::string& attack : {later_tokens, later_flips}) {
    const Attacked found = attacked(network_of(ahead), true, attack, "reference"),
                   wanted = attacked(network_of(whole), true, attack, "reference");
    EXPECT_EQ(found.ids, wanted.ids) << attack;
    EXPECT_GT(found.forward[0], wanted.forward[0]) << "nothing is tried: " << attack;
  }
}

TEST(TokenTail, IsNotTriedWhereASearchIsShorterThanItsTrial) {
  const Writing causal{.name = "", .masked = true};
  Writing whole = causal;
  whole.reads_all = true;
  for (const std::string attack :
       {"hotflip[changes=3,positions=7:]", "gcg[steps=2,candidates=3,changes=3,positions=7:]"}) {
    const Attacked found = attacked(network_of(causal), true, attack, "reference"),
                   wanted = attacked(network_of(whole), true, attack, "reference");
    EXPECT_EQ(found.ids, wanted.ids) << attack;
    EXPECT_EQ(found.forward, wanted.forward) << attack;
  }
}

TEST(TokenTail, IsNotMadeWhereItSavesLittleOrTokensAreMixed) {
  const Session session(network_of({.name = ""}), options_for(false, "reference"));
  const AttackedNetwork network(session, {}, false);
  const TokenSpace space(network, limits());
  EXPECT_EQ(TailScores::of(space, 2), nullptr);
  EXPECT_EQ(TailScores::of(space, length - 1), nullptr) << "one position has no axis that tells";
  const Session mixed(network_of({.name = "", .reads_all = true}), options_for(false, "reference"));
  const AttackedNetwork other(mixed, {}, false);
  EXPECT_EQ(TailScores::of(TokenSpace(other, limits()), first), nullptr);
}

}  // namespace
}  // namespace assay::test::on_tails
