// What operators of structure and recipe do, exactly.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/optimisers.h>
#include <assay/model.h>
#include "assay/training/weights.h"
#include "tests/mutation/programs.h"

namespace assay::mutation {
namespace {

using test::SmallStudy;

SmallStudy study() { return SmallStudy(test::rich_program()); }

// What a graph gives at a value for a few records.
Array values_at(const Graph& graph, const std::string& name) {
  const Session session(graph, {.threads = 1, .engine = "reference"});
  Rng rng(5);
  const ValueId id = *graph.find_value(name);
  return session.run(session.bind(test::random_array(rng, {3, 2, 4, 4})), std::span(&id, 1)).at(id);
}

float greatest_difference(const Array& a, const Array& b) {
  EXPECT_EQ(a.shape(), b.shape());
  return (a - b).abs().max().item<float>();
}

const std::map<std::string, std::function<double(double)>>& plain_functions() {
  static const std::map<std::string, std::function<double(double)>> all{
      {"elu", [](double x) { return x > 0 ? x : std::exp(x) - 1; }},
      {"selu",
       [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (std::exp(x) - 1)); }},
      {"softplus", [](double x) { return std::log(1 + std::exp(x)); }},
      {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"hard-sigmoid", [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {"exponential", [](double x) { return std::exp(x); }},
      {"linear", [](double x) { return x; }}};
  return all;
}

Array mapped(const Array& x, const std::function<double(double)>& function) {
  Array y = x.contiguous().clone();
  for (std::int64_t i = 0; i < y.count(); ++i) {
    float& value = y.elements<float>()[i];
    value = static_cast<float>(function(value));
  }
  return y;
}

TEST(StructureOperators, ChangeActivationFunctionsToThoseOfKeras) {
  const SmallStudy of = study();
  const Array before = values_at(of.program.graph, "bn");
  for (const auto& [name, function] : plain_functions()) {
    if (name == "relu") continue;
    const Graph changed = of.mutated("activation[to=" + name + "]@conv#1").program.graph;
    EXPECT_LT(greatest_difference(values_at(changed, "relu1"), mapped(before, function)), 1e-5) << name;
  }
  const Graph soft = of.mutated("activation[to=softmax]@conv#1").program.graph;
  EXPECT_LT(greatest_difference(values_at(soft, "relu1"), array::softmax(before, 1)), 1e-6);
  EXPECT_THROW(of.mutated("activation[to=relu]@conv#1"), Error);    // it has it
  EXPECT_THROW(of.mutated("activation[to=tanh]@mix#1"), Error);     // it has none
  EXPECT_THROW(of.mutated("activation[to=tanh]@logits#1"), Error);  // the network's output
  EXPECT_THROW(of.mutated("activation[to=swish]@conv#1"), Error);
  EXPECT_EQ(operators().find("activation").program.values(of.program, of.subject, "conv").size(), 10U);
}

TEST(StructureOperators, AddActivationFunctionsWhereThereAreNone) {
  const SmallStudy of = study();
  const Array before = values_at(of.program.graph, "mix");
  for (const auto& [name, function] : plain_functions()) {
    if (name == "linear") continue;
    const Graph changed = of.mutated("add-activation[to=" + name + "]@mix#1").program.graph;
    EXPECT_LT(greatest_difference(values_at(changed, "mix"), mapped(before, function)), 1e-5) << name;
  }
  EXPECT_THROW(of.mutated("add-activation[to=relu]@conv#1"), Error);
  EXPECT_THROW(of.mutated("add-activation[to=relu]@logits#1"), Error);
  EXPECT_THROW(of.mutated("add-activation[to=linear]@mix#1"), Error);
}

TEST(StructureOperators, TakeBiasesAwayAndAddThem) {
  const SmallStudy of = study();
  const Graph &graph = of.program.graph, bare = of.mutated("remove-bias@square#1").program.graph;
  const Array bias = graph.constant(*graph.find_value("square/b"));
  EXPECT_LT(greatest_difference(values_at(bare, "square") + bias, values_at(graph, "square")), 1e-6);
  EXPECT_EQ(values_at(bare, "mix").equal(values_at(graph, "mix")), true);
  const Graph more = of.mutated("add-bias@mix#1").program.graph;
  EXPECT_EQ(values_at(more, "softmax").equal(values_at(graph, "softmax")), true);  // it begins with zeros
  const auto weights = [](const Graph& in) { return training::find_weights(in); };
  ASSERT_EQ(weights(more).size(), weights(graph).size() + 1);
  EXPECT_EQ(weights(more).back().role, training::Role::bias);
  EXPECT_EQ(more.constant(weights(more).back().value).shape(), (Shape{3}));
  EXPECT_THROW(of.mutated("remove-bias@mix#1"), Error);
  EXPECT_THROW(of.mutated("add-bias@conv#1"), Error);
}

TEST(StructureOperators, BiasesOfProductsAndRecurrentCells) {
  test::Net net("products");
  const ValueId x = net.input({-1, 6});
  const ValueId product = net.builder.add("MatMul", "product", {x, net.weight("w", {6, 5})});
  const ValueId sum = net.builder.add("Add", "sum", {product, net.bias("b", 5)});
  const ValueId last = net.builder.add("MatMul", "last", {net.relu("relu", sum), net.weight("v", {5, 3})});
  Program program;
  program.graph = net.build(last);
  program.training = from_arrays(Array::zeros(DType::float32, {4, 6}), {0, 1, 2, 0});
  const SmallStudy of(program);
  const Graph bare = of.mutated("remove-bias@product#1").program.graph;
  const Graph more = of.mutated("add-bias@last#1").program.graph;
  EXPECT_EQ(training::find_weights(bare).size(), 2U);
  EXPECT_EQ(training::find_weights(more).size(), 4U);

  for (const Graph& cell : {test::lstm_like(), test::one_bias(test::lstm_like(), "lstm")}) {
    Program text;
    text.graph = cell;
    text.training = program.training;
    const SmallStudy recurrent(text);
    const Graph without = recurrent.mutated("remove-bias@lstm#1").program.graph;
    EXPECT_EQ(training::find_weights(without).size() + 1, training::find_weights(text.graph).size());
    EXPECT_FALSE(without.find_node("biases"));
    Program again = text;
    again.graph = without;
    const Graph with = SmallStudy(again).mutated("add-bias@lstm#1").program.graph;
    EXPECT_EQ(training::find_weights(with).size(), training::find_weights(text.graph).size());
  }
}

TEST(StructureOperators, RemoveAndAddLayers) {
  const SmallStudy of = study();
  const Graph& graph = of.program.graph;
  EXPECT_TRUE(values_at(of.mutated("lr@square#1").program.graph, "relu2").equal(values_at(graph, "flatten")));
  EXPECT_LT(greatest_difference(values_at(of.mutated("lr@bn#1").program.graph, "relu1"),
                                values_at(graph, "conv").clamp_min(0)),
            1e-6);
  EXPECT_THROW(of.mutated("lr@conv#1"), Error);  // another shape
  const Graph normal = of.mutated("las[kind=normalisation]@mix#1").program.graph;
  EXPECT_LT(greatest_difference(values_at(normal, "mix"), values_at(graph, "mix") / std::sqrt(1 + 1e-5F)),
            1e-5);
  EXPECT_EQ(training::find_weights(normal).size(), training::find_weights(graph).size() + 4);
  const Graph twice = of.mutated("las[kind=duplicate]@square#1").program.graph;
  EXPECT_EQ(twice.parameter_count(), graph.parameter_count() + 12 * 13);
  EXPECT_THROW(of.mutated("las@logits#1"), Error);
}

TEST(StructureOperators, SetDropoutRates) {
  const SmallStudy of = study();
  const Graph changed = of.mutated("dropout[to=0.75]@dropout#1").program.graph;
  const Node* dropout = nullptr;
  for (const Node& node : changed.nodes())
    if (node.op == "Dropout") dropout = &node;
  ASSERT_NE(dropout, nullptr);
  EXPECT_EQ(changed.constant(dropout->inputs[1]).as<float>()[0], 0.75F);
  EXPECT_TRUE(values_at(changed, "softmax").equal(values_at(of.program.graph, "softmax")));
  EXPECT_THROW(of.mutated("dropout[to=0.25]@dropout#1"), Error);
  EXPECT_THROW(of.mutated("dropout[to=1.5]@dropout#1"), Error);
  EXPECT_EQ(operators().find("dropout").program.values(of.program, of.subject, "dropout"),
            (std::vector<std::string>{"0.125", "0.5", "0.75", "1"}));
  Program dry;
  dry.graph = test::lenet_like();
  dry.training = of.program.training;
  const SmallStudy none(dry);
  const Drawn drawn = draw_mutants(none.program, none.subject, {.operators = {"dropout"}, .layers = {}});
  ASSERT_EQ(drawn.not_applicable.size(), 1U);
  EXPECT_EQ(drawn.not_applicable[0].reason, "it has no dropout");
}

TEST(StructureOperators, ChangeWhatTheRecipeSaysOfLayers) {
  const SmallStudy of = study();
  const auto recipe = [&](const std::string& mutant) { return of.mutated(mutant).program.recipe; };
  EXPECT_EQ(recipe("initialiser[to=zeros]@square#1").initialiser, "keras,zeros[layer=square]");
  EXPECT_THROW(recipe("initialiser[to=glorot-uniform]@square#1"), Error);
  EXPECT_THROW(recipe("initialiser[to=identity]@conv#1"), Error);
  EXPECT_NO_THROW(recipe("initialiser[to=identity]@square#1"));
  EXPECT_EQ(recipe("add-regularisation[to=l1]@conv#1").regularisation,
            "l2[amount=0.001,layer=square+logits],l1[layer=conv]");
  EXPECT_THROW(recipe("add-regularisation[to=l1]@square#1"), Error);
  EXPECT_EQ(recipe("regularisation[to=l1-l2]@square#1").regularisation,
            "l2[amount=0.001,layer=logits],l1-l2[layer=square]");
  EXPECT_THROW(recipe("regularisation[to=l2]@square#1"), Error);
  EXPECT_THROW(recipe("regularisation[to=l1]@conv#1"), Error);
  EXPECT_EQ(recipe("remove-regularisation@logits#1").regularisation, "l2[amount=0.001,layer=square]");
  Program everywhere = of.program;
  everywhere.recipe.regularisation = "l1";
  EXPECT_EQ(SmallStudy(everywhere).mutated("remove-regularisation@square#1").program.recipe.regularisation,
            "l1[layer=conv+mix+logits]");
}

TEST(RecipeOperators, ChangeOneSetting) {
  const SmallStudy of = study();
  const auto expect = [&](const std::string& mutant, const std::function<void(training::Recipe&)>& change) {
    training::Recipe wanted = of.program.recipe;
    change(wanted);
    EXPECT_EQ(training::recipe_hash(of.mutated(mutant + "#1").program.recipe), training::recipe_hash(wanted))
        << mutant;
  };
  using training::Recipe;
  expect("batch-size[to=32]@recipe", [](Recipe& r) { r.batch = 32; });
  expect("learning-rate[to=0.02]@recipe", [](Recipe& r) { r.learning_rate = 0.02; });
  expect("optimiser[to=adam]@recipe", [](Recipe& r) { r.optimiser = "adam", r.learning_rate = 0.001; });
  expect("loss[to=mse]@recipe", [](Recipe& r) { r.loss = "mse"; });
  expect("momentum[to=0.9]@recipe", [](Recipe& r) { r.optimiser = "sgd[momentum=0.9]"; });
  expect("disable-batching@recipe", [](Recipe& r) { r.batch = 48; });
  expect("no-shuffling@recipe", [](Recipe& r) { r.shuffle = false; });
  expect("clip-gradient[to=2]@recipe", [](Recipe& r) { r.clip_value = 2; });
  expect("clip-gradient[to=2,by=norm]@recipe", [](Recipe& r) { r.clip_norm = 2; });
  expect("patience[to=1]@recipe", [](Recipe& r) { r.patience = 1; });
  expect("remove-validation@recipe", [](Recipe& r) { r.patience.reset(); });
  EXPECT_EQ(of.mutated("remove-validation@recipe#1").program.validation, nullptr);
}

TEST(RecipeOperators, SayWhyTheyDoNotApply) {
  const SmallStudy of = study();
  Program bare = of.program;
  bare.recipe.optimiser = "adam", bare.recipe.patience.reset(), bare.recipe.shuffle = false;
  bare.recipe.batch = 48, bare.validation = nullptr;
  const SmallStudy poor(bare);
  const auto reason = [](const SmallStudy& in, const std::string& op) {
    const Drawn drawn = draw_mutants(in.program, in.subject, {.operators = {op}, .layers = {}});
    EXPECT_TRUE(drawn.mutants.empty()) << op;
    return drawn.not_applicable.empty() ? "" : drawn.not_applicable[0].reason;
  };
  EXPECT_EQ(reason(of, "batch-size[to=16]"), "the recipe has this batch size");
  EXPECT_EQ(reason(of, "learning-rate[to=0.1]"), "the recipe has this learning rate");
  EXPECT_EQ(reason(of, "optimiser[to=sgd]"), "the recipe has sgd already");
  EXPECT_EQ(reason(of, "loss[to=cross-entropy]"), "the recipe has cross-entropy already");
  EXPECT_EQ(reason(poor, "momentum"), "the optimiser adam has no momentum to set");
  EXPECT_EQ(reason(poor, "patience"), "the recipe has no early stopping");
  EXPECT_EQ(reason(poor, "no-shuffling"), "the recipe does not shuffle");
  EXPECT_EQ(reason(poor, "disable-batching"), "an epoch is one step already");
  EXPECT_EQ(reason(poor, "remove-validation"), "there are no validation data");
  EXPECT_EQ(reason(of, "clip-gradient[to=0]"), "the recipe has this limit");
  EXPECT_THROW(reason(of, "optimiser[to=adamm]"), Error);
  EXPECT_THROW(reason(of, "learning-rate[to=0]"), Error);
  EXPECT_THROW(reason(of, "momentum[to=1.5]"), Error);
}

TEST(RecipeOperators, LossesOfNumbersNeedNoLabels) {
  test::Net net("line");
  Program program;
  program.graph = net.build(net.dense("fc", net.input({-1, 3}), 3, 2));
  program.training = from_arrays(Array::zeros(DType::float32, {4, 3}), {},
                                 {.targets = Array::zeros(DType::float32, {4, 2})});
  program.recipe.loss = "mse";
  const SmallStudy of(program);
  for (const std::string& loss : operators().find("loss").program.values(of.program, of.subject, "recipe")) {
    EXPECT_FALSE(training::losses().find(loss).needs_labels) << loss;
    EXPECT_NE(loss, "mse");
  }
  EXPECT_THROW(of.mutated("loss[to=cross-entropy]@recipe#1"), Error);
  Program items = program;
  items.recipe.loss = "cross-entropy";  // the same numbers as classes of two items
  const SmallStudy of_items(items);
  EXPECT_EQ(operators().find("loss").program.values(of_items.program, of_items.subject, "recipe").size(),
            training::losses().size() - 1);
  EXPECT_NO_THROW(of_items.mutated("loss[to=mse]@recipe#1"));
}

TEST(RecipeOperators, AnyDrawsEachWordOnce) {
  const SmallStudy of = study();
  for (const auto& [op, count] :
       std::map<std::string, std::size_t>{{"optimiser", training::optimisers().size() - 1},
                                          {"loss", training::losses().size() - 1},
                                          {"batch-size", 4}}) {
    const Drawn drawn =
        draw_mutants(of.program, of.subject, {.operators = {op}, .per_operator = 50, .layers = {}});
    EXPECT_LE(drawn.mutants.size(), count) << op;
    EXPECT_GE(drawn.mutants.size() + 2, count) << op;
  }
}

}  // namespace
}  // namespace assay::mutation
