// Units that were taught a hypothesis: inspection finds exactly them (Sellam et al., SIGMOD 2019).

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/training.h>
#include "assay/inspection/units/specialise.h"
#include "tests/inspection/networks.h"

namespace assay::inspection {
namespace {

using namespace testing_networks;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

InspectOptions characters() {
  InspectOptions options;
  options.stop_early = false;
  options.vocabulary = Vocabulary{{""}, 0};
  for (char c = ' '; c <= '~'; ++c) options.vocabulary->symbols.emplace_back(1, c);
  return options;
}

std::vector<AnnotatorChoice> hypotheses() {
  return {annotator_choice("counter[of=depth]"), annotator_choice("regex[pattern=[()],name=parenthesis]")};
}
DatasetPtr strings() { return open_dataset("parentheses:1500,window=16"); }
training::Recipe recipe() { return {.optimiser = "adam", .learning_rate = 0.01, .batch = 50, .epochs = 4}; }

Graph small_lstm() {
  return training::build_architecture("next-symbol-lstm[units=12,window=16,embedding=6]");
}

Graph trained_with(const std::vector<Specialisation>& wanted) {
  const SpecialisedTraining made =
      specialised_training(small_lstm(), wanted, strings(), hypotheses(), characters(), {}, silence());
  return training::train(made.graph, strings(), nullptr, recipe(), {}, silence(), &made.loss).graph;
}

// The units of the layer by descending strength.
std::vector<std::size_t> ranking(const Graph& graph, const std::string& hypothesis) {
  const Inspection seen =
      inspect({inspected(graph)}, {{"lstm", 0, "lstm"}}, open_dataset("parentheses:400,window=16,seed=3"),
              hypotheses(), characters(), silence());
  std::vector<std::pair<double, std::size_t>> units;
  for (const ScoreRow& row : seen.rows) {
    if (row.hypothesis == hypothesis && row.unit) units.emplace_back(-std::fabs(row.score.value), *row.unit);
  }
  std::ranges::sort(units);
  std::vector<std::size_t> order;
  for (const auto& [score, unit] : units) order.push_back(unit);
  return order;
}

std::vector<std::size_t> first_two(std::vector<std::size_t> order) {
  order.resize(2);
  std::ranges::sort(order);
  return order;
}

TEST(Planted, UnitsAreRankedFirstForWhatTheyWereTaught) {
  const Graph graph = trained_with({{"depth", "lstm", {2, 9}, 0.4}, {"parenthesis", "lstm", {0, 5}, 0.4}});
  EXPECT_THAT(first_two(ranking(graph, "depth")), ElementsAre(2, 9));
  EXPECT_THAT(first_two(ranking(graph, "parenthesis")), ElementsAre(0, 5));
}

TEST(Planted, OthersAreRankedFirstWhereNothingWasTaught) {
  const Graph graph = training::train(small_lstm(), strings(), nullptr, recipe(), {}, silence()).graph;
  EXPECT_FALSE(first_two(ranking(graph, "depth")) == std::vector<std::size_t>({2, 9}) &&
               first_two(ranking(graph, "parenthesis")) == std::vector<std::size_t>({0, 5}));
}

// The loss is the plain mean over units, records and positions that are not padding.
TEST(Planted, LossIsTheMeanSquareOfTheDifference) {
  const DatasetPtr data = strings();
  const SpecialisedTraining made = specialised_training(small_lstm(), {{"depth", "lstm", {1, 4}, 0.5}}, data,
                                                        hypotheses(), characters(), {}, silence());
  const Graph fresh = training::initialise(made.graph, "keras", 1);
  const Session session(fresh, {.threads = 1});
  const std::vector<std::size_t> some{3, 70, 71, 1400};
  const Batch batch = data->read(some);
  const Tensors values = session.run(session.bind(batch), made.loss.values);
  const Array states = values.at(made.loss.values[0]).squeeze(1);  // [steps, records, units]
  const auto tokens = batch.inputs.as<std::int64_t>();
  double sum = 0;
  int count = 0;
  // Brackets that are open in front of the window are not known, and four nest at most.
  double greatest = 0;
  std::vector<std::vector<double>> depths(some.size());
  const auto depths_of = [](std::span<const std::int64_t> record) {
    std::vector<double> depth;
    int open = 0;
    for (const std::int64_t token : record) {
      open += token + 31 == '(' ? 1 : 0;
      depth.push_back(open);
      if (token + 31 == ')' && open > 0) --open;
    }
    return depth;
  };
  for (std::size_t i = 0; i < data->size(); ++i) {
    const Batch one = data->read(std::span(&i, 1));
    for (const double depth : depths_of(one.inputs.as<std::int64_t>())) greatest = std::max(greatest, depth);
  }
  for (std::size_t r = 0; r < some.size(); ++r) {
    const std::vector<double> own = depths_of(tokens.subspan(r * 16, 16));
    for (std::size_t k = 0; k < 16; ++k) {
      if (tokens[r * 16 + k] == 0) continue;
      for (const std::int64_t unit : {1, 4}) {
        const double value =
            states[static_cast<std::int64_t>(k)][static_cast<std::int64_t>(r)][unit].item<double>();
        sum += std::pow(value - own[k] / greatest, 2), ++count;
      }
    }
  }
  EXPECT_NEAR(made.loss.value(batch, values).item<double>(), sum / count, 1e-6);
}

TEST(Planted, SaysWhatCannotBeTaught) {
  const auto message = [](const Specialisation& one) {
    try {
      specialised_training(small_lstm(), {one}, strings(), hypotheses(), characters(), {}, silence());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message({"dept", "lstm", {1}, 0.5}), HasSubstr("did you mean 'depth'"));
  EXPECT_THAT(message({"depth", "lstm", {12}, 0.5}), HasSubstr("unit 12"));
  EXPECT_THAT(message({"depth", "lstm", {1}, 1.5}), HasSubstr("the whole loss is 1"));
  EXPECT_THAT(message({"depth", "lstm", {1}, 0}), HasSubstr("teaches nothing"));
  EXPECT_THAT(message({"depth", "logits", {1}, 0.5}), HasSubstr("positions"));
}

}  // namespace
}  // namespace assay::inspection
