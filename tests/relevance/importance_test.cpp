#include <assay/relevance.h>

#include <gtest/gtest.h>

#include <cmath>

#include <assay/array_math.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include "tests/engine/graphs.h"
#include "tests/support/records.h"

namespace assay::relevance {
namespace {

using namespace assay::test;

// Random records, of class 0 unless told otherwise.
DatasetPtr random_records(std::int64_t count, std::vector<std::int64_t> labels = {}) {
  Rng rng(11);
  RecordOptions options{.name = "records of a test"};
  for (std::int64_t i = 0; i < count; ++i) options.ids.push_back("r" + std::to_string(i));
  options.class_names = {"0", "1", "2", "3", "4"};
  labels.resize(static_cast<std::size_t>(count));
  return from_arrays(uniform_array(rng, {count, 1, 12, 12}), std::move(labels), std::move(options));
}

struct Fixture : testing::Test {
  // The labels are what the network says, but for every third.
  Fixture() : graph(lenet_like()), session(graph, {.threads = 1}), data(random_records(40)) {
    std::vector<std::int64_t> labels;
    for (std::size_t i = 0; i < data->size(); ++i) {
      const Evaluation one = predict(i);
      labels.push_back(i % 3 == 0 ? (one.predictions[0] + 1) % 5 : one.predictions[0]);
    }
    data = random_records(40, labels);
    for (const Layer& layer : session.layers()) layers.push_back(layer);
  }
  Evaluation predict(std::size_t i) {
    const ValueId logits = session.logits();
    const Batch batch = data->read(std::span(&i, 1));
    const Array z = session.run(session.bind(batch.inputs), std::span(&logits, 1)).at(logits);
    Evaluation e;
    e.predictions = {z.argmax(1).item<std::int64_t>()};
    return e;
  }
  Importance analyse(ImportanceOptions options = {}) {
    return analyse_importance(session, data, layers, options, silence());
  }

  Graph graph;
  Session session;
  DatasetPtr data;
  std::vector<Layer> layers;
};
using ImportanceAnalysis = Fixture;

TEST_F(ImportanceAnalysis, IsTheSumOverCorrectlyClassifiedRecordsOneByOne) {
  const Importance all = analyse();
  EXPECT_EQ(all.records, 40u);
  EXPECT_EQ(all.used, 26u);
  EXPECT_NEAR(*all.evaluation.accuracy, 26.0 / 40, 1e-12);
  const auto attribution = make_attribution("epsilon", session);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    std::vector<double> expected(static_cast<std::size_t>(layers[l].neurons), 0), absolute = expected;
    double start = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      if (i % 3 == 0) continue;
      const Batch batch = data->read(std::span(&i, 1));
      const Relevance r =
          attribution->attribute(session.bind(batch.inputs), {}, std::span(&layers[l].value, 1));
      const Array flat =
          r.values.at(layers[l].value).reshape({layers[l].neurons, -1}).to(DType::float64).sum(1);
      for (std::int64_t n = 0; n < flat.size(0); ++n) {
        expected[static_cast<std::size_t>(n)] += flat[n].item<double>();
        absolute[static_cast<std::size_t>(n)] += std::abs(flat[n].item<double>());
      }
      start += r.start[0];
    }
    for (std::size_t n = 0; n < expected.size(); ++n) {
      EXPECT_NEAR(all.layers[l].relevance[n], expected[n], 1e-4 * (1 + absolute[n]))
          << layers[l].name << " " << n;
      EXPECT_NEAR(all.layers[l].absolute[n], absolute[n], 1e-4 * (1 + absolute[n]));
    }
    EXPECT_NEAR(all.layers[l].total_in, start, 1e-4 * std::abs(start));
  }
}

// Of one layer epsilon relevance is a program of its own, of several it goes node by node.
TEST_F(ImportanceAnalysis, OfOneLayerIsThatAmongSeveral) {
  const Importance all = analyse();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Importance one = analyse_importance(session, data, std::span(&layers[l], 1), {}, silence());
    EXPECT_EQ(one.used, all.used);
    EXPECT_EQ(one.evaluation.accuracy, all.evaluation.accuracy);
    ASSERT_EQ(one.layers.size(), 1U);
    for (std::size_t n = 0; n < all.layers[l].relevance.size(); ++n)
      EXPECT_NEAR(one.layers[0].relevance[n], all.layers[l].relevance[n], 1e-4) << layers[l].name;
  }
}

TEST_F(ImportanceAnalysis, DoesNotDependOnTheBatchSize) {
  const Importance a = analyse({.batch = 40}), b = analyse({.batch = 7});
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (std::size_t n = 0; n < a.layers[l].relevance.size(); ++n) {
      EXPECT_NEAR(a.layers[l].relevance[n], b.layers[l].relevance[n],
                  1e-5 * (1e-3 + a.layers[l].absolute[n]));
    }
  }
}

TEST_F(ImportanceAnalysis, ClassesAddUpAndCanBeChosen) {
  const Importance all = analyse();
  for (const LayerImportance& layer : all.layers) {
    for (std::size_t n = 0; n < layer.relevance.size(); ++n) {
      double sum = 0;
      for (const auto& one : layer.by_class) sum += one[n];
      EXPECT_NEAR(sum, layer.relevance[n], 1e-9 * (1 + layer.absolute[n]));
    }
  }
  std::size_t used = 0;
  for (std::int64_t c = 0; c < 5; ++c) {
    const Importance one = analyse({.only_class = c});
    used += one.used;
    for (std::size_t n = 0; n < one.layers[0].relevance.size(); ++n) {
      EXPECT_NEAR(one.layers[0].relevance[n], all.layers[0].by_class[static_cast<std::size_t>(c)][n],
                  1e-6 * (1 + all.layers[0].absolute[n]));
    }
  }
  EXPECT_EQ(used, all.used);
  EXPECT_THROW(analyse({.only_class = 5}), Error);
}

TEST_F(ImportanceAnalysis, NormalisedRecordsPutInOneEach) {
  const Importance all = analyse({.normalised = true});
  EXPECT_DOUBLE_EQ(all.layers[0].total_in, static_cast<double>(all.used));
  EXPECT_NEAR(all.layers.back().total_here, static_cast<double>(all.used), 1e-3);
}

TEST_F(ImportanceAnalysis, RecordsThatAreNotFiniteAreCountedAndLeftOut) {
  const auto broken = std::make_shared<Spoiled>(data, std::vector<std::size_t>{2}, 5);
  const Importance clean = analyse();
  const Importance all = analyse_importance(session, broken, layers, {}, silence());
  EXPECT_EQ(all.evaluation.non_finite, 1u);
  EXPECT_EQ(all.evaluation.non_finite_ids, std::vector<std::string>{"r2"});
  EXPECT_EQ(all.used, clean.used - 1);
  for (const double v : all.layers[0].relevance) EXPECT_TRUE(std::isfinite(v));
}

TEST(LayerImportanceRanking, OrdersByRelevanceAndFindsTheSmallestM) {
  const LayerImportance layer{
      .layer = {}, .relevance = {1, 5, 5, -3}, .absolute = {1, 5, 5, 3}, .by_class = {}};
  EXPECT_EQ(layer.ranking(), (std::vector<std::size_t>{1, 2, 0, 3}));
  EXPECT_EQ(layer.smallest_m(0.3, 10), 1u);  // 5 of 14
  EXPECT_EQ(layer.smallest_m(0.7, 10), 2u);  // 10 of 14
  EXPECT_EQ(layer.smallest_m(0.9, 10), 4u);  // 11 of 14 do not suffice
  EXPECT_EQ(layer.smallest_m(0.9, 3), 3u);
}

}  // namespace
}  // namespace assay::relevance
