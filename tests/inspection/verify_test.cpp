// Verification by perturbation.

#include "assay/inspection/verify.h"

#include <cmath>

#include <assay/progress.h>
#include "tests/inspection/networks.h"

namespace assay::inspection {
namespace {

using namespace testing_networks;

TEST(Silhouette, HandWorked) {
  // {1, 2 | 9, 10, 12} -> 0.8183.
  const std::vector<double> points{1, 2, 9, 10, 12};
  const std::vector<char> labels{0, 0, 1, 1, 1};
  EXPECT_NEAR(silhouette_of(points, 1, labels), 0.8183, 5e-5);
  EXPECT_EQ(silhouette_of(std::vector<double>{1, 1, 1}, 1, std::vector<char>{0, 0, 1}), 0);
}

// 1 where the symbol is one of the first two.
class EarlySymbol final : public Annotator {
 public:
  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return "1"; }
  Behaviours annotate(const RecordBlock& records) const override {
    Behaviours all{{7}, {}};
    for (const std::int64_t token : records.batch.inputs.as<std::int64_t>())
      all.values.push_back(token <= 2 ? 1.0F : 0.0F);
    return all;
  }

 private:
  std::vector<Hypothesis> hypotheses_{{"early", BehaviourKind::binary, {}}};
};

// An embedding whose unit 0 is the hypothesis, and whose other units tell symbols apart otherwise.
Graph embedding() {
  GraphBuilder b("embedding");
  const ValueId tokens = b.input("tokens", DType::int64, {-1, 7});
  const ValueId table = b.constant("table", Array::of<float>({6, 3}, {1, 0.1F, 0, 1, -0.4F, 2, 1, 0.9F, 4, -1,
                                                                      0.2F, 1, -1, -0.7F, 3, -1, 0.5F, 5}));
  const ValueId x = b.add("Relu", "after", {b.add("Gather", "embed", {table, tokens})});
  b.output(b.add("ReduceMean", "mean", {x, b.constant("axes", Array::of<std::int64_t>({1}, Ints{1}))},
                 {{"keepdims", std::int64_t{0}}}));
  return b.build();
}

TEST(Verify, TellsAUnitThatFollowsFromOneThatDoesNot) {
  const InspectedModel model = inspected(embedding());
  InspectOptions options;
  options.vocabulary = Vocabulary{{"a", "b", "c", "d", "e", "f"}, {}};
  const std::vector<AnnotatorChoice> hypotheses{{"early", std::make_shared<EarlySymbol>()}};
  const std::vector<Claim> claims{{0, {0}, "early"}, {0, {1}, "early"}};
  const auto results = verify({model}, {{"embed", 0, "embed"}}, random_tokens(30), hypotheses, options,
                              claims, {.swaps = 40, .random_groups = 20}, silence());
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].baseline, 40U);
  EXPECT_EQ(results[0].treatment, 40U);
  EXPECT_GT(results[0].silhouette, results[1].silhouette + 0.3);
  EXPECT_THROW(
      verify({model}, {{"embed", 0, "embed"}}, random_tokens(30), hypotheses, {}, claims, {}, silence()),
      Error);
}

}  // namespace
}  // namespace assay::inspection
