// Attacks on tokens, on a network that adds up rows of tokens: what the gradient promises is what happens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include <assay/error.h>
#include <assay/progress.h>
#include <assay/records.h>
#include "assay/attack/tokens/token_attack.h"
#include "tests/attack/build.h"

namespace assay::test::on_tokens {
using namespace attack;
namespace {

using ::testing::HasSubstr;
using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t known = 20, width = 4, length = 6, classes = 3;

struct Weights {
  std::vector<float> table, head;
};

Weights some_weights() {
  Rng rng(5);
  Weights weights;
  for (std::int64_t i = 0; i < known * width; ++i) weights.table.push_back(static_cast<float>(rng.normal()));
  for (std::int64_t i = 0; i < width * classes; ++i) weights.head.push_back(static_cast<float>(rng.normal()));
  return weights;
}

// scores = sum over positions with mask 1 of E[token] H.
Graph sum_of_rows() {
  const Weights weights = some_weights();
  GraphBuilder b("rows");
  const ValueId ids = b.input("input_ids", DType::int64, {-1, -1}),
                mask = b.input("attention_mask", DType::int64, {-1, -1});
  const ValueId rows =
      b.add("Gather", "rows", {b.constant("table", Array::of<float>({known, width}, weights.table)), ids});
  const ValueId real =
      b.add("Unsqueeze", "real",
            {b.add("Cast", "mask", {mask}, {{"to", std::int64_t{1}}}), b.constant("axis", integers({2}))});
  const ValueId sum =
      b.add("ReduceSum", "sum", {b.add("Mul", "kept", {rows, real}), b.constant("over", integers({1}))},
            {{"keepdims", std::int64_t{0}}});
  b.output(
      b.add("MatMul", "scores", {sum, b.constant("head", Array::of<float>({width, classes}, weights.head))}));
  return b.build();
}

// Eight records; the last position of each fills up.
struct Texts {
  Tokens ids, mask;
  DatasetPtr data;
};

std::vector<double> scores_by_hand(const Weights& weights, std::span<const std::int64_t> ids,
                                   std::span<const std::int64_t> mask) {
  std::vector<double> scores(classes);
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (std::int64_t w = 0; mask[i] != 0 && w < width; ++w)
      for (std::int64_t c = 0; c < classes; ++c)
        scores[static_cast<std::size_t>(c)] +=
            static_cast<double>(weights.table[static_cast<std::size_t>(ids[i] * width + w)]) *
            weights.head[static_cast<std::size_t>(w * classes + c)];
  return scores;
}

std::int64_t best_of(const std::vector<double>& scores) {
  return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

Texts some_texts() {
  Rng rng(9);
  Texts texts;
  Tokens labels;
  for (int r = 0; r < 8; ++r) {
    for (std::int64_t i = 0; i < length; ++i) {
      texts.ids.push_back(i + 1 == length ? 0 : 1 + static_cast<std::int64_t>(rng.below(known - 1)));
      texts.mask.push_back(i + 1 == length ? 0 : 1);
    }
    const std::span<const std::int64_t> ids = texts.ids, mask = texts.mask;
    labels.push_back(best_of(scores_by_hand(some_weights(), ids.last(length), mask.last(length))));
  }
  texts.data = from_arrays({{"input_ids", Array::of<std::int64_t>({8, length}, texts.ids)},
                            {"attention_mask", Array::of<std::int64_t>({8, length}, texts.mask)}},
                           labels);
  return texts;
}

std::filesystem::path fresh(const std::string& name) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

struct Attacked {
  AttackSummary summary;
  Tokens ids;  // of the attacked records, one after the other
};

Attacked attacked(const std::string& spec, const std::string& folder) {
  const Texts texts = some_texts();
  SessionOptions options = reference;
  set_record_shapes(options, texts.data->facts());
  const Session session(sum_of_rows(), options);
  Attacked result{.summary = attack_dataset(session, texts.data, parse_spec("attack", spec),
                                            fresh(folder) / "attacked.npz", {}, silence()),
                  .ids = {}};
  const DatasetPtr stored = open_dataset(result.summary.data);
  for (std::size_t i = 0; i < stored->size(); ++i) {
    const std::size_t one[] = {i};
    const Batch batch = stored->read(one);
    result.ids.insert(result.ids.end(), batch.inputs.as<std::int64_t>().begin(),
                      batch.inputs.as<std::int64_t>().end());
  }
  return result;
}

// HotFlip by trying everything: the gradient of the cross-entropy with respect to the sum of the rows is
// H (p - onehot), the same for all positions.
Tokens hotflip_by_hand(std::span<const std::int64_t> ids, std::span<const std::int64_t> mask,
                       std::int64_t label, std::size_t budget) {
  const Weights weights = some_weights();
  Tokens tokens(ids.begin(), ids.end());
  std::set<std::size_t> changed;
  while (changed.size() < budget) {
    std::vector<double> p = scores_by_hand(weights, tokens, mask);
    if (best_of(p) != label) break;
    const double top = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& value : p) sum += value = std::exp(value - top);
    for (double& value : p) value /= sum;
    p[static_cast<std::size_t>(label)] -= 1;
    const auto promise = [&](std::int64_t token) {
      double value = 0;
      for (std::int64_t w = 0; w < width; ++w)
        for (std::int64_t c = 0; c < classes; ++c)
          value += static_cast<double>(weights.table[static_cast<std::size_t>(token * width + w)]) *
                   weights.head[static_cast<std::size_t>(w * classes + c)] * p[static_cast<std::size_t>(c)];
      return value;
    };
    double best = 0;
    std::size_t at = 0;
    std::int64_t to = -1;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (mask[i] == 0 || changed.contains(i)) continue;
      for (std::int64_t v = 0; v < known; ++v) {
        const double gain = promise(v) - promise(tokens[i]);
        if (gain > best + 1e-9) best = gain, at = i, to = v;
      }
    }
    if (to < 0) break;
    tokens[at] = to;
    changed.insert(at);
  }
  return tokens;
}

TEST(HotFlip, ReplacesTheTokenThatTheGradientNames) {
  const Texts texts = some_texts();
  const Attacked found = attacked("hotflip[changes=3]", "hotflip");
  ASSERT_EQ(found.summary.records.size(), 8u);
  EXPECT_GT(found.summary.succeeded, 0u);
  for (std::size_t r = 0; r < 8; ++r) {
    const std::span<const std::int64_t> ids = std::span(texts.ids).subspan(r * length, length),
                                        mask = std::span(texts.mask).subspan(r * length, length);
    const Tokens wanted = hotflip_by_hand(ids, mask, texts.data->label(r), 3);
    EXPECT_EQ(Tokens(found.ids.begin() + static_cast<std::ptrdiff_t>(r * length),
                     found.ids.begin() + static_cast<std::ptrdiff_t>((r + 1) * length)),
              wanted)
        << "record " << r;
    EXPECT_EQ(found.summary.records[r].success,
              best_of(scores_by_hand(some_weights(), wanted, mask)) != texts.data->label(r));
  }
}

class EveryTokenAttack : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryTokenAttack, KeepsItsBudgetAndWhatFillsUp) {
  const Texts texts = some_texts();
  const Attacked found = attacked(GetParam() + "[changes=2]", "budget");
  EXPECT_GT(found.summary.succeeded, 0u) << "a test of nothing";
  for (std::size_t r = 0; r < 8; ++r) {
    std::size_t changed = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const std::int64_t now = found.ids[r * length + i], before = texts.ids[r * length + i];
      EXPECT_TRUE(now >= 0 && now < known);
      if (texts.mask[r * length + i] == 0) {
        EXPECT_EQ(now, before);
      }
      changed += now != before;
    }
    EXPECT_LE(changed, 2u);
    EXPECT_EQ(static_cast<double>(changed), found.summary.records[r].l0);
  }
}

TEST_P(EveryTokenAttack, ChangesGivenPlacesAlone) {
  const std::vector<std::pair<std::string, std::set<std::size_t>>> cases{
      {"last2", {3, 4}}, {"first1", {0}}, {"1:3", {1, 2}}, {"-3:-1", {2, 3}}, {"3:", {3, 4}}, {":-4", {0}}};
  std::size_t changed = 0;
  for (const auto& [places, wanted] : cases) {
    const Texts texts = some_texts();
    const Attacked found = attacked(GetParam() + "[changes=5,positions=" + places + "]", "places");
    for (std::size_t i = 0; i < found.ids.size(); ++i) {
      if (found.ids[i] == texts.ids[i]) continue;
      ++changed;
      EXPECT_TRUE(wanted.contains(i % length)) << places << " changes place " << i % length;
    }
  }
  EXPECT_GT(changed, 5u) << "a test of nothing";
}

TEST_P(EveryTokenAttack, SuccessIsWhatTheScoresSay) {
  const Texts texts = some_texts();
  const Attacked found = attacked(GetParam() + "[changes=2]", "success");
  for (std::size_t r = 0; r < 8; ++r) {
    const auto scores =
        scores_by_hand(some_weights(), std::span<const std::int64_t>(found.ids).subspan(r * length, length),
                       std::span<const std::int64_t>(texts.mask).subspan(r * length, length));
    EXPECT_EQ(found.summary.records[r].success, best_of(scores) != texts.data->label(r));
  }
}

TEST_P(EveryTokenAttack, ReachesATarget) {
  const Texts texts = some_texts();
  const Attacked found = attacked(GetParam() + "[changes=5,target=2]", "target");
  EXPECT_GT(found.summary.succeeded, 0u);
  for (const AttackedRecord& record : found.summary.records) {
    EXPECT_NE(texts.data->label(record.original), 2);
    if (record.success) {
      EXPECT_EQ(record.predicted, 2);
    }
  }
}

TEST_P(EveryTokenAttack, ASeedGivesTheSameTokens) {
  EXPECT_EQ(attacked(GetParam(), "seed").ids, attacked(GetParam(), "seed").ids);
}

TEST_P(EveryTokenAttack, MakesTextsAndKeepsProtectedWords) {
  const auto folder = fresh("token_words");
  std::string words;
  for (std::int64_t i = 0; i < known; ++i) words += fmt::format("{}\"w{}\": {}", i == 0 ? "" : ", ", i, i);
  std::ofstream(folder / "tokenizer.json")
      << R"({"version":"1.0","added_tokens":[{"id":0,"content":"w0","special":true,"normalized":false}],
             "pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"WordLevel","unk_token":"w0","vocab":{)"
      << words << "}}}";
  const Texts texts = some_texts();
  const std::int64_t kept = texts.ids[1];
  const Attacked found = attacked(fmt::format("{}[changes=5,tokenizer={},protect=w{}]", GetParam(),
                                              (folder / "tokenizer.json").string(), kept),
                                  "words");
  for (std::size_t i = 0; i < found.ids.size(); ++i) {
    if (texts.ids[i] == kept) {
      EXPECT_EQ(found.ids[i], kept);
    }
    if (texts.mask[i] != 0) {
      EXPECT_NE(found.ids[i], 0) << "a special token is put in";
    }
  }
}

TEST_P(EveryTokenAttack, RefusesWhatItCannotDo) {
  const std::string name = GetParam();
  const auto said = [&](const std::string& spec) -> std::string {
    try {
      attacked(spec, "errors");
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(said(name + "[changes=0]"), HasSubstr("would change nothing"));
  EXPECT_THAT(said(name + "[changes=1.5]"), HasSubstr("neither a number of tokens nor a share"));
  EXPECT_THAT(said(name + "[protect=w1]"), HasSubstr("a tokenizer is needed"));
  for (const char* const places :
       {"some", "last", "last0", "first", "first-1", "3", "4:4", "4:2", "-1:-3", "a:b"})
    EXPECT_THAT(said(name + "[positions=" + places + "]"),
                HasSubstr("is neither last20 nor first20 nor a:b"));
  const Session session(dense_network(), reference);
  const DatasetPtr numbers = from_arrays(random_records(3, {6}), {0, 1, 2});
  try {
    attack_dataset(session, numbers, parse_spec("attack", name), fresh("numbers") / "a.npz", {}, silence());
    FAIL() << "these are no tokens";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is on texts as numbers of tokens"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryTokenAttack, ::testing::Values("hotflip", "gcg", "embedding-pgd"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(TokenAttacks, AreNamedWhereOthersAreRefused) {
  try {
    attacked("fgsm", "refused");
    FAIL() << "tokens cannot be changed slightly";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("hotflip, gcg and embedding-pgd for tokens"));
  }
}

}  // namespace
}  // namespace assay::test::on_tokens
