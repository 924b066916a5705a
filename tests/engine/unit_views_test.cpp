// Views of units: further outputs that are layers. What they compute is tested against NumPy from Python.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <assay/adapt.h>
#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/session.h>
#include <assay/unit_views.h>
#include "assay/engine/layers/layer_selection.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/engine/preparation/adaptation.h"
#include "assay/engine/preparation/view_words.h"
#include "tests/engine/graphs.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

Graph with_views(const Graph& graph, const Texts& texts) {
  return with_unit_views(Session(graph), texts).graph();
}

Texts names_of(const std::vector<Layer>& layers) {
  Texts names;
  for (const Layer& layer : layers) names.push_back(layer.name);
  return names;
}

TEST(UnitViews, AreLayersAfterAllOthers) {
  const Graph plain = test::transformer_like();
  const Session without(plain),
      session(with_views(plain, {"heads=norm", "layer=up,tokens=last", "attention=variance,tokens=max"}));
  EXPECT_THAT(names_of(unit_view_layers(session)),
              ElementsAre("context/heads/norm", "up/last", "context/attention/variance/max"));
  Texts expected = names_of(without.layers());
  for (const Layer& view : unit_view_layers(session)) expected.push_back(view.name);
  EXPECT_EQ(names_of(session.layers()), expected);
  for (std::size_t i = 0; i < without.layers().size(); ++i) {
    const Layer &own = session.layers()[i], &before = without.layers()[i];
    EXPECT_EQ(own.op, before.op) << own.name;
    EXPECT_EQ(own.value, before.value) << own.name;
    EXPECT_EQ(session.graph().node(own.node).name, plain.node(before.node).name);
  }
  const Layer& heads = session.layer("context/heads/norm");
  EXPECT_EQ(heads.shape, (Shape{4, 2}));
  EXPECT_EQ(heads.neurons, 2);
  EXPECT_FALSE(heads.carries_weights);
  EXPECT_EQ(session.layer("up/last").shape, (Shape{8}));
}

TEST(UnitViews, AreLookedAtByDefaultAndDoNotMoveOtherLayers) {
  const Session plain(test::transformer_like()),
      session(with_views(test::transformer_like(), {"layer=context,heads=mean,name=all/context"}));
  EXPECT_THAT(names_of(counted_layers(session)), ElementsAre("all/context"));
  EXPECT_THAT(names_of(subject_layers(session)), ElementsAre("all/context"));
  EXPECT_EQ(names_of(counted_layers(plain)), names_of(plain.layers()));
  EXPECT_EQ(subject_layers(plain)[0].name, plain.penultimate_layer().name);
  EXPECT_EQ(session.layer("-1").name, "logits");
  EXPECT_EQ(session.layer("context").name, "context");
  EXPECT_EQ(session.penultimate_layer().name, plain.penultimate_layer().name);
}

TEST(UnitViews, LeaveWhatTheNetworkComputesAsItIs) {
  Rng rng(3);
  const Graph plain = test::transformer_like();
  const Array x = test::random_array(rng, {3, 4, 6});
  const Session before(plain), after(with_views(plain, {"heads=kurtosis", "layer=residual,tokens=share"}));
  const ValueId logits = before.logits();
  ASSERT_EQ(after.logits(), logits);
  const Array one = before.run(before.bind(x), std::span(&logits, 1)).at(logits),
              other = after.run(after.bind(x), std::span(&logits, 1)).at(logits);
  EXPECT_LT((one - other).abs().max().item<double>(), 1e-6);
}

TEST(UnitViews, AreNotInFilesOfTheNetwork) {
  const Graph plain = test::transformer_like();
  EXPECT_EQ(without_unit_views(with_views(plain, {"heads=norm"})).hash(), plain.hash());
  const AdaptOptions options{.views = {"heads=norm", "layer=up,tokens=max"}};
  AdaptedNetwork network = adapted(plain, options, nullptr, silence());
  const Session session = session_of(network, {}, nullptr, silence());
  EXPECT_EQ(unit_view_layers(session).size(), 2U);
  EXPECT_EQ(network.form.views, 2U);
  EXPECT_EQ(in_form_of_file(session.graph(), network.form).hash(), plain.hash());
}

// Relevance of heads is found at what they give.
TEST(UnitViews, CarryTheRelevanceOfWhatTheyAreMadeOf) {
  const Session session(with_views(test::transformer_like(), {"heads=norm", "layer=up,tokens=last"}));
  const Layer heads = relevance_carrier(session, session.layer("context/heads/norm"));
  EXPECT_EQ(heads.value, session.layer("context").value);
  EXPECT_THAT(heads.neuron_axes, ElementsAre(1));
  EXPECT_EQ(heads.neurons, 2);
  EXPECT_EQ(relevance_carrier(session, session.layer("up/last")).name, "up");
  EXPECT_EQ(relevance_carrier(session, session.layer("down")).name, "down");
}

// Positions that exporters merge into the records are told apart again.
TEST(UnitViews, OfPositionsThatAreRows) {
  test::Net net("merged");
  const ValueId x = net.input({-1, 3, 4});
  const ValueId rows =
      net.builder.add("Reshape", "rows", {x, net.builder.constant("shape", test::integers({-1, 4}))});
  const Graph plain = net.build(net.relu("relu", net.dense("dense", rows, 4, 5)));
  const Session session(with_views(plain, {"layer=dense,tokens=last"}));
  Rng rng(5);
  const Tensors given = session.bind(test::random_array(rng, {2, 3, 4}));
  const std::vector<ValueId> wanted{session.layer("dense").value, session.layer("dense/last").value};
  const Tensors found = session.run(given, wanted);
  const Array last = found.at(wanted[0]).reshape({2, 3, 5}).narrow(1, 2, 1).reshape({2, 5});
  EXPECT_EQ((last - found.at(wanted[1])).abs().max().item<double>(), 0);
}

TEST(ViewsInWords, AreRead) {
  const ViewWords view = parse_view("layer=\"a,b\",heads=norm,tokens=share,threshold=0.5,name=n");
  EXPECT_EQ(view.layer, "a,b");
  EXPECT_EQ(view.heads, "norm");
  EXPECT_EQ(view.tokens, "share");
  EXPECT_EQ(view.threshold, 0.5F);
  EXPECT_EQ(view.name, "n");
}

TEST(ViewsInWords, SayWhatIsWrong) {
  const auto said = [](const std::string& text) -> std::string {
    try {
      parse_view(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(said(""), HasSubstr("shows what the layer is anyway"));
  EXPECT_THAT(said("layer=a"), HasSubstr("shows what the layer is anyway"));
  EXPECT_THAT(said("context"), HasSubstr("there is no 'context'"));
  EXPECT_THAT(said("heads="), HasSubstr("heads= has no value"));
  EXPECT_THAT(said("heads=norm,heads=mean"), HasSubstr("heads= is there twice"));
  EXPECT_THAT(said("attention=norm"), HasSubstr("attention=norm is not known; there are mean, variance"));
  EXPECT_THAT(said("layer=a,tokens=any,threshold=x"), HasSubstr("threshold=x is not a number"));
}

}  // namespace
}  // namespace assay
