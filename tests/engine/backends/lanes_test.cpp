// What the lanes back end alone does: more operators, gradients, bits that do not depend on how records are
// cut, every instruction set.

#include "assay/engine/lanes/segment.h"

#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/session.h>
#include "assay/engine/direct_sums.h"
#include "assay/engine/lanes/kernels.h"
#include "assay/engine/lanes/winograd.h"
#include "tests/engine/backends/network.h"
#include "tests/engine/graphs.h"
#include "tests/random_arrays.h"
#include "tests/written.h"

namespace assay {
namespace {

using test::Ints;
using test::Network;

const Backend& lanes_backend() { return lanes::backend(); }

TEST(Lanes, FunctionsAgreeAndSoDoTheirGradients) {
  for (const char* op : {"Abs", "Atan", "Erf", "Exp", "Gelu", "HardSigmoid", "LeakyRelu", "Mish", "Neg",
                         "Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh", "Elu", "HardSwish"}) {
    Network net(lanes_backend(), {3, 5, 7}, 17);
    net.expect_agreement({net.add(op, {net.input})});
  }
  Network by_tanh(lanes_backend(), {3, 5, 7}, 17);
  by_tanh.expect_agreement({by_tanh.add("Gelu", {by_tanh.input}, {{"approximate", std::string("tanh")}})});
  for (const char* op : {"Log", "Sqrt", "Reciprocal"}) {  // of numbers above 1
    Network net(lanes_backend(), {6}, 17);
    net.expect_agreement(
        {net.add(op, {net.add("Add", {net.add("Abs", {net.input}), net.constant({}, 0, 1)})})});
  }
}

// Near 0 and on both sides of where the formula changes, in parts of the value.
TEST(Lanes, TheErrorFunctionIsExactToAFewBits) {
  std::vector<float> points;
  for (float x = 1e-6F; x < 6; x = x * 1.01F + 1e-6F) points.insert(points.end(), {x, -x});
  GraphBuilder build("g");
  const ValueId x = build.input("x", DType::float32, {-1, static_cast<std::int64_t>(points.size())});
  build.output(build.add("Erf", "erf", {x}));
  const Session session(build.build(), {.threads = 1, .engine = "lanes"});
  const ValueId y = session.graph().outputs()[0];
  const Array got =
      session.run({{x, array::tensor(points).unsqueeze(0)}}, std::span(&y, 1)).at(y).contiguous();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double want = std::erf(double{points[i]});
    EXPECT_NEAR(got.elements<float>()[i], want, 4e-7 * std::abs(want)) << points[i];
  }
}

TEST(Lanes, PairsAreStretchedAlongAxesOfSizeOne) {
  Network net(lanes_backend(), {4, 3, 5}, 18);
  const ValueId pooled = net.add("GlobalAveragePool", {net.input});
  const ValueId gate = net.add("Sigmoid", {pooled});
  const ValueId gated = net.add("Mul", {net.input, gate});
  const ValueId shifted =
      net.add("Sub", {pooled, net.add("Div", {gated, net.add("Add", {gate, net.constant({3, 1}, 0.1, 2)})})});
  const ValueId bounds = net.add("Min", {net.add("Max", {shifted, gated}), net.constant({}, 0, 0.4)});
  net.expect_agreement({bounds, net.add("Div", {net.constant({4, 1, 1}), net.add("Exp", {gate})})});
}

TEST(Lanes, AValueThatIsReadTwiceGetsBothGradients) {
  Network net(lanes_backend(), {5}, 3);
  const ValueId square = net.add("Mul", {net.input, net.input});
  const ValueId sum = net.add("Add", {square, square});
  const ValueId flat = net.add("Flatten", {sum});
  net.expect_agreement({sum, net.add("Tanh", {flat}), flat, square});
}

TEST(Lanes, TransposedConvolutionsAgree) {
  struct Case {
    std::int64_t in, out, groups;
    Ints kernel, pads, strides, dilations, more;
  };
  for (const Case& c : {Case{3, 4, 1, {3, 3}, {0, 0, 0, 0}, {2, 2}, {1, 1}, {0, 0}},
                        Case{4, 6, 2, {4, 2}, {1, 0, 2, 1}, {3, 1}, {1, 2}, {1, 0}},
                        Case{2, 3, 1, {5}, {2, 1}, {2}, {1}, {1}}}) {
    Shape input{c.in}, weights{c.in, c.out / c.groups};
    for (const std::int64_t k : c.kernel) {
      input.push_back(6);
      weights.push_back(k);
    }
    Network net(lanes_backend(), input, 5);
    net.expect_agreement(
        {net.add("Relu", {net.add("ConvTranspose", {net.input, net.constant(weights), net.constant({c.out})},
                                  {{"group", c.groups},
                                   {"pads", c.pads},
                                   {"strides", c.strides},
                                   {"dilations", c.dilations},
                                   {"output_padding", c.more}})})});
  }
}

// A convolution that is computed with fewer products than its definition has.
struct Windows {
  std::int64_t channels, units, rows, columns;
  Ints kernel, strides, pads;
  std::int64_t records;

  bool few_products() const {
    lanes::WinogradWindows windows{.channels = channels, .units = units, .axes = {}};
    const std::int64_t sizes[] = {rows, columns};
    for (std::size_t a = 0; a < 2; ++a) {
      const std::int64_t room = sizes[a] + pads[a] + pads[a + 2] - kernel[a];
      windows.axes[a] = {sizes[a], room / strides[a] + 1, kernel[a], strides[a], pads[a]};
    }
    return windows.pays();
  }
};
ValueId add_windows(Network& net, const Windows& layer) {
  return net.add(
      "Conv",
      {net.input, net.constant({layer.units, layer.channels, layer.kernel[0], layer.kernel[1]}, 0.2),
       net.constant({layer.units})},
      {{"pads", layer.pads}, {"strides", layer.strides}});
}

// Odd sizes, every way of padding, blocks that end beyond the result, kernels of two to seven taps in steps
// of one and two; the gradient is one of two that meet. After a smooth function: at the kink of another,
// rounding would choose the side.
TEST(Lanes, ConvolutionsWithFewerProductsAgree) {
  const Ints one{1, 1}, two{2, 2};
  for (const Windows& c : {Windows{32, 32, 8, 8, {3, 3}, one, {1, 1, 1, 1}, 17},
                           Windows{72, 80, 7, 9, {3, 3}, one, {0, 0, 0, 0}, 1},
                           Windows{90, 66, 9, 5, {3, 3}, one, {2, 1, 0, 2}, 16},
                           Windows{64, 70, 15, 8, {3, 3}, one, {0, 2, 2, 0}, 3},
                           Windows{33, 65, 14, 14, {3, 3}, one, {2, 2, 2, 2}, 5},
                           Windows{160, 160, 6, 6, {3, 3}, one, {1, 1, 1, 1}, 2},
                           Windows{6, 16, 12, 12, {5, 5}, one, {0, 0, 0, 0}, 17},
                           Windows{24, 36, 13, 15, {5, 5}, one, {3, 2, 1, 0}, 3},
                           Windows{80, 80, 13, 13, {2, 4}, one, {1, 0, 0, 2}, 2},
                           Windows{60, 60, 13, 15, {6, 7}, one, {3, 2, 2, 0}, 1},
                           Windows{50, 50, 13, 12, {3, 5}, one, {1, 4, 2, 0}, 5},
                           Windows{24, 36, 19, 20, {5, 5}, two, {0, 0, 0, 0}, 2},
                           Windows{64, 64, 19, 21, {5, 7}, two, {1, 1, 1, 2}, 18},
                           Windows{40, 40, 11, 16, {7, 5}, {1, 2}, {0, 2, 3, 2}, 2},
                           Windows{80, 80, 15, 13, {6, 4}, {2, 1}, {3, 0, 0, 1}, 3}}) {
    EXPECT_TRUE(c.few_products());
    Network net(lanes_backend(), {c.channels, c.rows, c.columns}, c.records);
    const ValueId sum = add_windows(net, c);
    net.expect_agreement({net.add("Sigmoid", {sum}), net.add("Tanh", {net.input})});
    Network plain(lanes_backend(), {c.channels, c.rows, c.columns}, c.records);
    plain.expect_agreement({add_windows(plain, c)});
  }
}

// The sums of products in double precision, of one record.
std::vector<double> exact_results(const Windows& c, const Array& record, const Array& weights,
                                  std::int64_t rows, std::int64_t columns) {
  std::vector<double> all;
  const auto x = record.as<float>(), w = weights.as<float>();
  for (std::int64_t u = 0; u < c.units; ++u)
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::int64_t i = 0, tap = u * weights.count() / c.units; i < c.channels; ++i)
          for (std::int64_t r = 0; r < c.kernel[0]; ++r)
            for (std::int64_t k = 0; k < c.kernel[1]; ++k, ++tap) {
              const std::int64_t at_row = row * c.strides[0] - c.pads[0] + r,
                                 at_column = column * c.strides[1] - c.pads[1] + k;
              if (at_row < 0 || at_row >= c.rows || at_column < 0 || at_column >= c.columns) continue;
              sum += static_cast<double>(w[static_cast<std::size_t>(tap)]) *
                     static_cast<double>(
                         x[static_cast<std::size_t>((i * c.rows + at_row) * c.columns + at_column)]);
            }
        all.push_back(sum);
      }
  return all;
}

// How near the error of a result comes to what is allowed of it.
double share_of_allowed(const Windows& c, const char* engine) {
  const Array weights = array::randn({c.units, c.channels, c.kernel[0], c.kernel[1]}),
              record = (array::randn({1, c.channels, c.rows, c.columns}) + 100.0).to(DType::float32);
  GraphBuilder build("g");
  const ValueId x = build.input("x", DType::float32, {-1, c.channels, c.rows, c.columns});
  build.output(build.add("Conv", "conv", {x, build.constant("w", weights)},
                         {{"pads", c.pads}, {"strides", c.strides}}));
  const Graph graph = build.build();
  const ValueId y = graph.outputs()[0];
  const Session session(graph, {.threads = 1, .engine = engine});
  const Array result = session.run({{x, record}}, std::span(&y, 1)).at(y).contiguous();
  const auto rounding = transform_rounding(graph, graph.nodes()[0], record.shape(), result.shape());
  if (!rounding) return std::numeric_limits<double>::infinity();
  const Array greatest = record.abs().amax(Shape{2, 3}).contiguous();
  const std::int64_t positions = result.size(2) * result.size(3);
  const std::vector<double> exact = exact_results(c, record, weights, result.size(2), result.size(3));
  double nearest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const std::size_t unit = i / static_cast<std::size_t>(positions);
    double allowed = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(c.channels); ++k)
      allowed += static_cast<double>(rounding->gains[unit * static_cast<std::size_t>(c.channels) + k]) *
                 static_cast<double>(greatest.as<float>()[k]);
    nearest = std::max(nearest, std::abs(static_cast<double>(result.as<float>()[i]) - exact[i]) /
                                    (rounding->share * allowed));
  }
  return nearest;
}

// Large equal parts of neighbours go in and cancel: there the transforms lose most.
TEST(FewerProducts, RoundAsFarAsTheySay) {
  array::manual_seed(5);
  const auto expect_covered = [](const Windows& c, const char* engine) {
    const double share = share_of_allowed(c, engine);
    EXPECT_LE(share, 1) << engine;
    EXPECT_GE(share, 1e-4) << engine;  // it is the worst case of all signs, and no more than that
  };
  for (const Windows& c : {Windows{32, 32, 8, 8, {3, 3}, {1, 1}, {1, 1, 1, 1}, 1},
                           Windows{6, 16, 12, 12, {5, 5}, {1, 1}, {0, 0, 0, 0}, 1},
                           Windows{50, 50, 13, 12, {3, 5}, {1, 1}, {1, 4, 2, 0}, 1},
                           Windows{24, 36, 19, 20, {5, 5}, {2, 2}, {0, 0, 0, 0}, 1},
                           Windows{80, 80, 15, 13, {6, 4}, {2, 1}, {3, 0, 0, 1}, 1}})
    expect_covered(c, "lanes");
  for (const Windows& c : {Windows{32, 32, 8, 8, {3, 3}, {1, 1}, {1, 1, 1, 1}, 1},
                           Windows{64, 48, 15, 14, {3, 3}, {1, 1}, {2, 0, 1, 1}, 1}})
    expect_covered(c, "channels");
}

// What is not finite is where it is with the kernels, and the records beside it do not notice.
TEST(FewerProducts, KeepInfinitiesApart) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  array::manual_seed(3);
  GraphBuilder build("g");
  const ValueId x = build.input("x", DType::float32, {-1, 32, 9, 9});
  build.output(build.add("Conv", "conv", {x, build.constant("w", array::randn({40, 32, 3, 3}))},
                         {{"pads", Ints{1, 1, 1, 1}}}));
  const Graph graph = build.build();
  const ValueId y = graph.outputs()[0];
  const Session kernels(graph, {.threads = 1, .engine = "reference"});
  const Array clean = array::randn({18, 32, 9, 9}), spoilt = clean.clone();
  spoilt[3][5][2][4].fill_(nan);
  spoilt[7][31][8][8].fill_(infinity);
  spoilt[7][0][0][0].fill_(-infinity);
  spoilt[17][1][4][3].fill_(3e38F);
  const auto run = [&](const Session& session, const Array& records) {
    return session.run({{x, records}}, std::span(&y, 1)).at(y);
  };
  const auto gradients = [&](const Session& session, const Array& of_result) {
    return session
        .gradients(
            {{x, clean}}, std::span(&y, 1),
            [&](const Tensors& values) { return (values.at(y) * of_result).sum(); }, std::span(&x, 1))
        .at(x);
  };
  const Array of_clean = array::randn({18, 40, 9, 9}), of_spoilt = of_clean.clone();
  of_spoilt[3][5][2][4].fill_(nan);
  of_spoilt[7][31][8][8].fill_(infinity);
  for (const std::string engine : {"lanes", "channels"}) {
    const Session session(graph, {.threads = 1, .engine = engine});
    const Array undisturbed = run(session, clean), got = run(session, spoilt), want = run(kernels, spoilt),
                undisturbed_gradients = gradients(session, of_clean),
                got_gradients = gradients(session, of_spoilt), want_gradients = gradients(kernels, of_spoilt);
    for (std::int64_t r = 0; r < 18; ++r) {
      const bool same = r != 3 && r != 7;
      EXPECT_TRUE(!same || r == 17 || got[r].equal(undisturbed[r])) << engine << r;
      EXPECT_TRUE(!same || got_gradients[r].equal(undisturbed_gradients[r])) << engine << r;
      EXPECT_TRUE(array::allclose(got[r], want[r], 1e-4, 1e-4, /*equal_nan=*/true)) << engine << r;
      EXPECT_TRUE(array::allclose(got_gradients[r], want_gradients[r], 1e-4, 1e-4, /*equal_nan=*/true))
          << engine << r;
    }
  }
}

// As near to double precision as the kernels are, or nearly so.
TEST(FewerProducts, AreExactToAFewBits) {
  array::manual_seed(7);
  struct Case {
    std::int64_t channels, kernel, stride;
  };
  for (const Case& c :
       {Case{32, 3, 1}, Case{128, 3, 1}, Case{24, 5, 1}, Case{32, 7, 1}, Case{64, 4, 1}, Case{48, 5, 2}}) {
    const Array weights = array::randn({c.channels, c.channels, c.kernel, c.kernel}),
                records = array::rand({4, c.channels, 13, 13});
    EXPECT_TRUE((Windows{c.channels, c.channels, 13, 13, Ints(2, c.kernel), Ints(2, c.stride), Ints(4, 1), 4}
                     .few_products()));
    GraphBuilder build("g");
    const ValueId x = build.input("x", DType::float32, {-1, c.channels, 13, 13});
    build.output(build.add("Conv", "conv", {x, build.constant("w", weights)},
                           {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints(2, c.stride)}}));
    const Graph graph = build.build();
    const ValueId y = graph.outputs()[0];
    const Array exact = array::convolution(
        records.to(DType::float64), weights.to(DType::float64), /*bias=*/{},
        {.stride = Ints(2, c.stride), .padding = {1, 1}, .dilation = {1, 1}, .output_padding = {0, 0}});
    const auto error = [&](const char* engine) {
      const Session session(graph, {.threads = 1, .engine = engine});
      return (session.run({{x, records}}, std::span(&y, 1)).at(y) - exact)
          .square()
          .mean()
          .sqrt()
          .item<double>();
    };
    for (const char* const engine : {"lanes", "channels"}) {
      const double ours = error(engine);
      EXPECT_LT(ours, 3 * error("reference")) << engine;
      EXPECT_LT(ours, 1e-6 * array::var(exact, {}, false, /*unbiased=*/true).sqrt().item<double>()) << engine;
    }
  }
}

TEST(Lanes, DenseLayersOverRowsAgree) {
  Network net(lanes_backend(), {4, 6}, 19);
  const ValueId product = net.add("MatMul", {net.input, net.constant({6, 29})});
  const ValueId biased = net.add("Relu", {net.add("Add", {product, net.constant({29})})});
  const ValueId turned = net.add("Transpose", {biased}, {{"perm", Ints{0, 2, 1}}});
  net.expect_agreement({net.add("LogSoftmax", {turned}, {{"axis", std::int64_t{1}}}),
                        net.add("MatMul", {turned, net.constant({4, 3})})});
}

TEST(Lanes, MovementsAgree) {
  Network net(lanes_backend(), {4, 6, 5}, 16);
  const ValueId padded = net.add("Pad", {net.input, net.integers({0, 0, 1, 2, 0, 1, 0, 0})});
  const ValueId cut = net.add("Slice", {padded, net.integers({4, 1}), net.integers({-100, 6}),
                                        net.integers({1, -1}), net.integers({-1, 2})});
  const std::vector<ValueId> parts =
      net.add_several("Split", {net.input, net.integers({1, 3, 2})}, 3, {{"axis", std::int64_t{2}}});
  const ValueId joined = net.add("Concat", {parts[2], net.input, parts[0]}, {{"axis", std::int64_t{-2}}});
  net.expect_agreement({cut, joined, parts[1], net.add("Transpose", {joined}, {{"perm", Ints{0, 3, 1, 2}}})});
}

TEST(Lanes, PlacesOfAnAxisAndFilledMarginsAgree) {
  Network net(lanes_backend(), {4, 6, 5}, 16);
  const auto at = [&](Ints places, std::int64_t axis) {
    return net.add("Gather", {net.input, net.integers(std::move(places))}, {{"axis", axis}});
  };
  const ValueId number = net.whole(-2);
  const ValueId one = net.add("Gather", {net.input, number}, {{"axis", std::int64_t{2}}});
  const ValueId filled =
      net.add("Pad", {net.input, net.integers({0, 0, 1, 2, 0, 1, -1, 0}), net.constant({}, 0, 3)});
  net.expect_agreement(
      {at({5, 3, 1}, 2), at({1, 2}, -3), at({-1}, 3), at({3, 0, 0, -1, 2, 3}, 1), one, filled});
  EXPECT_FALSE(net.supported(at({1, 0}, 0))) << "records change their places";
}

TEST(Lanes, ChoicesBetweenAnOperandAndANumberAgree) {
  Network net(lanes_backend(), {4, 6, 5}, 17);
  const ValueId seen = net.truths({6, 5}), other = net.truths({4, 1, 1});
  const ValueId low = net.constant({}, 0, -3);
  const ValueId pooled =
      net.add("ReduceMean", {net.input, net.integers({2})}, {{"keepdims", std::int64_t{1}}});
  net.expect_agreement({net.add("Where", {seen, net.input, low}), net.add("Where", {other, low, net.input}),
                        net.add("Where", {seen, low, pooled})});
}

TEST(Lanes, SquaresAndCubesAgree) {
  for (const double power : {2, 3}) {
    Network net(lanes_backend(), {4, 6}, 5);
    net.expect_agreement({net.add("Pow", {net.input, net.constant({}, 0, power)})});
  }
  Network others(lanes_backend(), {4, 6}, 5);
  EXPECT_FALSE(others.supported(others.add("Pow", {others.input, others.constant({}, 0, 4)})));
}

TEST(Lanes, FactorsAndWhatIsTakenAwayAreLearned) {
  Network net(lanes_backend(), {4, 6}, 19);
  const ValueId row = net.add("ReduceMean", {net.input, net.integers({1})}, {{"keepdims", std::int64_t{1}}});
  const ValueId scaled = net.add("Mul", {net.input, net.constant({6})});
  const ValueId broadcast =
      net.add("Mul", {net.constant({4, 1}), net.add("Sub", {row, net.constant({4, 6})})});
  net.expect_agreement({net.add("Sub", {net.constant({1, 4, 1}), scaled}), broadcast});
}

// Sizes below, at and beyond those of a block, and operands with one matrix for several.
TEST(Lanes, ProductsOfComputedMatricesAgree) {
  for (const auto& [rows, inner, columns] :
       {std::tuple{1, 1, 1}, std::tuple{5, 7, 13}, std::tuple{4, 12, 6}, std::tuple{9, 3, 25}}) {
    Network net(lanes_backend(), {3, rows, inner}, 17);
    const ValueId wide = net.add("MatMul", {net.input, net.constant({inner, columns})});
    const ValueId turned = net.add("Transpose", {wide}, {{"perm", Ints{0, 1, 3, 2}}});
    const ValueId product = net.add("MatMul", {turned, net.input});
    const ValueId one =
        net.add("ReduceMean", {net.input, net.integers({1})}, {{"keepdims", std::int64_t{1}}});
    const ValueId shared = net.add("MatMul", {turned, one});
    const ValueId same =
        net.add("MatMul", {net.add("Transpose", {wide}, {{"perm", Ints{0, 1, 3, 2}}}), wide});
    net.expect_agreement({product, shared, same});
  }
}

TEST(Lanes, NormalisationsByOwnStatisticsAgree) {
  for (const bool shifted : {false, true}) {
    for (const std::int64_t axis : {-1, 1, 2}) {
      Network net(lanes_backend(), {3, 5, 7}, 18);
      const Shape scaled = axis == 1 ? Shape{3, 5, 7} : axis == 2 ? Shape{5, 7} : Shape{7};
      std::vector<ValueId> inputs{net.input, net.constant(scaled, 0.5, 1)};
      if (shifted) inputs.push_back(net.constant(scaled));
      net.expect_agreement({net.add("LayerNormalization", inputs, {{"axis", axis}, {"epsilon", 1e-3F}})});
    }
  }
  for (const Shape& shape : {Shape{6, 4}, Shape{6, 1, 5}, Shape{6, 3, 3}}) {
    Network net(lanes_backend(), shape, 18);
    const ValueId scale = net.constant({6}, 0.5, 1), shift = net.constant({6});
    net.expect_agreement(
        {net.add("InstanceNormalization", {net.input, scale, shift}),
         net.add("GroupNormalization", {net.input, scale, shift}, {{"num_groups", std::int64_t{2}}})});
  }
}

// A layer of a transformer is one segment, from the dense layers of its heads to its second normalisation.
TEST(Lanes, AttentionAgrees) {
  constexpr std::int64_t positions = 5, units = 12, heads = 3;
  Network net(lanes_backend(), {positions, units}, 19);
  const auto dense = [&](ValueId x, std::int64_t in, std::int64_t out) {
    return net.add("Add", {net.add("MatMul", {x, net.constant({in, out}, 0.3)}), net.constant({out})});
  };
  const auto by_head = [&](ValueId x, Ints order) {
    const ValueId apart = net.add("Reshape", {x, net.integers({0, 0, heads, -1})});
    return net.add("Transpose", {apart}, {{"perm", std::move(order)}});
  };
  const ValueId queries = by_head(dense(net.input, units, units), {0, 2, 1, 3});
  const ValueId keys = by_head(dense(net.input, units, units), {0, 2, 3, 1});
  const ValueId values = by_head(dense(net.input, units, units), {0, 2, 1, 3});
  const ValueId scores = net.add("Mul", {net.add("MatMul", {queries, keys}), net.constant({}, 0, 0.5)});
  const ValueId seen =
      net.add("Where", {net.truths({positions, positions}), scores, net.constant({}, 0, -4)});
  const ValueId read = net.add("MatMul", {net.add("Softmax", {seen}), values});
  const ValueId joined = net.add(
      "Reshape", {net.add("Transpose", {read}, {{"perm", Ints{0, 2, 1, 3}}}), net.integers({0, 0, -1})});
  const auto normal = [&](ValueId x) {
    return net.add("LayerNormalization", {x, net.constant({units}, 0.2, 1), net.constant({units})});
  };
  const ValueId first = normal(net.add("Add", {net.input, dense(joined, units, units)}));
  const ValueId second = normal(
      net.add("Add", {first, dense(net.add("Gelu", {dense(first, units, 2 * units)}), 2 * units, units)}));
  net.expect_agreement({net.add("Gather", {second, net.whole(0)}, {{"axis", std::int64_t{1}}}), scores});
}

TEST(Lanes, ReductionsAgree) {
  for (const char* op : {"ReduceMean", "ReduceSum", "ReduceMax"}) {
    for (const Ints& axes : {Ints{1}, Ints{-1}, Ints{1, 3}, Ints{2, 3}}) {
      Network net(lanes_backend(), {3, 4, 5}, 5);
      std::vector<ValueId> inputs{net.input};
      std::map<std::string, Attribute> attributes{{"keepdims", std::int64_t{axes.size() == 1 ? 1 : 0}}};
      inputs.push_back(net.integers(axes));
      net.expect_agreement({net.add(op, inputs, attributes)});
    }
  }
  Network net(lanes_backend(), {3, 4, 5}, 5);
  net.expect_agreement({net.add("GlobalMaxPool", {net.input})}, {});
}

TEST(Lanes, TapsGiveLeastMeanAndGreatest) {
  Network net(lanes_backend(), {3, 9, 9}, 21);
  const ValueId conv = net.add("Conv", {net.input, net.constant({11, 3, 3, 3}), net.constant({11})});
  const ValueId pool = net.add("MaxPool", {net.add("Relu", {conv})}, {{"kernel_shape", Ints{2, 2}}});
  net.expect_agreement({pool}, {{conv, Reduction::mean},
                                {conv, Reduction::min},
                                {conv, Reduction::max},
                                {pool, Reduction::mean},
                                {conv, Reduction::min, 1, true},
                                {pool, Reduction::max, 1, true},
                                {pool, Reduction::mean, 1, true}});
  Network flat(lanes_backend(), {13}, 17);
  const ValueId units = flat.add("Gemm", {flat.input, flat.constant({13, 29}), flat.constant({29})});
  flat.expect_agreement({units}, {{units, Reduction::max, 1, true},
                                  {units, Reduction::mean},
                                  {units, Reduction::min, 1, true},
                                  {units, Reduction::max, 1, true},
                                  {units, Reduction::mean, 1, true}});
  Network rows(lanes_backend(), {9, 5}, 21);
  const ValueId dense = rows.add("MatMul", {rows.input, rows.constant({5, 7})});
  const ValueId turned = rows.add("Transpose", {dense}, {{"perm", Ints{0, 2, 1}}});
  rows.expect_agreement({turned}, {{dense, Reduction::mean, 2},
                                   {dense, Reduction::min, 2},
                                   {dense, Reduction::max, 2},
                                   {dense, Reduction::max, 2, true},
                                   {turned, Reduction::min, 1, true},
                                   {turned, Reduction::mean, 1}});
}

// Records of a batch, their batch, and the number of threads: none of them may change a bit.
// By channels; 1: dense layers, whose neighbouring tiles go side by side; 3: a network of several layers.
class Cuts : public testing::TestWithParam<std::int64_t> {};

TEST_P(Cuts, ChangeNoBits) {
  GraphBuilder build(test::resnet_like());
  array::manual_seed(6);
  if (GetParam() == 1) {
    build = GraphBuilder("dense");
    ValueId x = build.add("Flatten", "flat", {build.input("x", DType::float32, {-1, 1, 8, 8})});
    std::int64_t inputs = 64;
    for (const std::int64_t units : {53, 30, 9}) {
      const std::string name = fmt::format("{} units", units);
      const ValueId w = build.constant(name + "/w", array::randn({inputs, units}) / 8),
                    b = build.constant(name + "/b", array::randn({units}));
      x = build.add("Relu", name + " relu", {build.add("Gemm", name, {x, w, b})});
      inputs = units;
    }
    build.output(x);
  } else if (GetParam() > 3) {
    build = GraphBuilder("windows");
    const std::int64_t kernel = GetParam() < 32 ? 5 : 3;
    const ValueId x = build.input("x", DType::float32, {-1, GetParam(), 8, 8});
    const ValueId w = build.constant("w", array::randn({32, GetParam(), kernel, kernel}));
    build.output(build.add("GlobalAveragePool", "mean",
                           {build.add("Relu", "relu", {build.add("Conv", "conv", {x, w})})}));
  }
  const Graph graph = build.build();
  const ValueId input = graph.inputs()[0], output = graph.outputs()[0];
  array::manual_seed(5);
  const Array records = array::randn({37, GetParam(), 8, 8});
  const Session one(graph, {.threads = 1, .engine = "lanes"}),
      three(graph, {.threads = 3, .engine = "lanes"});
  const auto gradient = [&](const Session& session, const Array& batch) {
    return session
        .gradients(
            {{input, batch}}, std::span(&output, 1),
            [&](const Tensors& v) { return v.at(output).square().sum(); }, std::span(&input, 1))
        .at(input);
  };
  const Array whole = one.run({{input, records}}, std::span(&output, 1)).at(output),
              gradients = gradient(one, records);
  EXPECT_TRUE(three.run({{input, records}}, std::span(&output, 1)).at(output).equal(whole));
  EXPECT_TRUE(gradient(three, records).equal(gradients));
  for (const std::int64_t size : {1, 5, 16, 36}) {
    for (std::int64_t begin = 0; begin < 37; begin += size) {
      const std::int64_t end = std::min<std::int64_t>(37, begin + size);
      const Array part = records.slice(0, begin, end);
      EXPECT_TRUE(
          one.run({{input, part}}, std::span(&output, 1)).at(output).equal(whole.slice(0, begin, end)));
      EXPECT_TRUE(gradient(three, part).equal(gradients.slice(0, begin, end)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Cuts, testing::Values(1, 3, 8, 48));

TEST(Lanes, EqualMaximaTakeTheGradientAsWithTheKernels) {
  for (const char* op : {"MaxPool", "GlobalMaxPool", "ReduceMax"}) {
    Network net(lanes_backend(), {2, 4, 4}, 3);
    net.round_input();
    std::vector<ValueId> inputs{net.input};
    std::map<std::string, Attribute> attributes;
    if (std::string(op) == "MaxPool") attributes = {{"kernel_shape", Ints{3, 3}}};
    if (std::string(op) == "ReduceMax") inputs.push_back(net.integers({2}));
    const ValueId most = net.add(op, inputs, attributes);
    net.expect_agreement({most});
  }
}

TEST(Lanes, AnEngineThatIsNotThereIsAnError) {
  EXPECT_THROW(Session(test::lenet_like(), {.engine = "lane"}), Error);
  EXPECT_NO_THROW(Session(test::lenet_like(), {.engine = "lanes"}));
}

// Values that would fill memory rather than cache are left to the kernels.
TEST(Lanes, LargeValuesAreNotItsOwn) {
  Network small(lanes_backend(), {1, 64, 64}, 1), large(lanes_backend(), {1, 600, 600}, 1);
  EXPECT_TRUE(small.supported(small.add("Relu", {small.input})));
  EXPECT_FALSE(large.supported(large.add("Relu", {large.input})));
}

TEST(Lanes, NanAndInfinityTravel) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  for (const char* op :
       {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "Selu", "Exp", "Log", "Softplus", "Softsign", "Atan",
        "Erf", "Gelu", "HardSigmoid", "HardSwish", "Mish", "Clip", "MaxPool", "Softmax"}) {
    GraphBuilder build("g");
    const ValueId x = build.input("x", DType::float32, {-1, 1, 4});
    std::map<std::string, Attribute> attributes;
    if (std::string(op) == "MaxPool") attributes = {{"kernel_shape", Ints{4}}};
    build.output(build.add(op, "node", {x}, attributes));
    const Graph graph = build.build();
    const ValueId y = graph.outputs()[0];
    for (const float special : {nan, infinity, -infinity, 100.0F, -100.0F, 0.0F}) {
      const Array record = array::tensor({0.5F, special, -0.25F, 2.0F}).reshape({1, 1, 4});
      const Session lanes(graph, {.threads = 1, .engine = "lanes"}),
          kernels(graph, {.threads = 1, .engine = "reference"});
      ASSERT_EQ(lanes.plan().at(0).engine, "lanes");
      const Array got = lanes.run({{x, record}}, std::span(&y, 1)).at(y),
                  want = kernels.run({{x, record}}, std::span(&y, 1)).at(y);
      EXPECT_TRUE(array::allclose(got, want, 1e-5, 1e-7, /*equal_nan=*/true))
          << op << " of " << special << ": " << written(got) << written(want);
    }
  }
}

// Every instruction set that this processor has, one by one.
class InstructionSets : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(static_cast<decltype(hwy::SupportedTargets())>(GetParam()));
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

std::vector<std::int64_t> instruction_sets() {
  std::vector<std::int64_t> sets;
  for (std::int64_t all = static_cast<std::int64_t>(hwy::SupportedTargets()); all != 0; all &= all - 1)
    sets.push_back(all & -all);
  return sets;
}

TEST_P(InstructionSets, AgreeWithTheKernels) {
  Network net(lanes_backend(), {3, 9, 9}, 19);
  const ValueId conv =
      net.add("Relu", {net.add("Conv", {net.input, net.constant({21, 3, 3, 3}), net.constant({21})},
                               {{"pads", Ints{1, 1, 1, 1}}})});
  const ValueId pool = net.add("MaxPool", {conv}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const ValueId mean = net.add("AveragePool", {pool}, {{"kernel_shape", Ints{3, 3}}});
  const ValueId flat =
      net.add("Flatten", {net.add("Concat", {pool, net.add("Tanh", {pool})}, {{"axis", std::int64_t{1}}})});
  const ValueId dense = net.add("Gemm", {flat, net.constant({672, 45}, 0.1), net.constant({45})});
  net.expect_agreement({mean, net.add("Softmax", {dense})},
                       {{conv, Reduction::mean}, {pool, Reduction::max}});
}

TEST_P(InstructionSets, ConvolutionsWithFewerProductsAgreeWithTheKernels) {
  for (const Windows& layer : {Windows{33, 41, 9, 7, {3, 3}, {1, 1}, {1, 0, 2, 1}, 19},
                               Windows{32, 48, 12, 11, {5, 5}, {1, 1}, {1, 0, 0, 2}, 19},
                               Windows{64, 64, 15, 17, {4, 7}, {2, 2}, {1, 0, 1, 0}, 3}}) {
    EXPECT_TRUE(layer.few_products());
    Network net(lanes_backend(), {layer.channels, layer.rows, layer.columns}, layer.records);
    net.expect_agreement({net.add("Relu", {add_windows(net, layer)})});
  }
}

TEST_P(InstructionSets, ProductsAndNormalisationsAgreeWithTheKernels) {
  Network net(lanes_backend(), {2, 7, 13}, 19);
  const ValueId turned = net.add("Transpose", {net.input}, {{"perm", Ints{0, 1, 3, 2}}});
  const ValueId product = net.add("MatMul", {turned, net.input});
  net.expect_agreement(
      {net.add("LayerNormalization", {product, net.constant({13}, 0.5, 1), net.constant({13})})});
}

INSTANTIATE_TEST_SUITE_P(All, InstructionSets, testing::ValuesIn(instruction_sets()));

TEST(Lanes, SessionsRunWhatTheLanesCannotWithTheKernels) {
  for (const Graph& graph :
       {test::branching(), test::transformer_like(), test::resnet_like(), test::lenet_like(true)}) {
    const Session lanes(graph, {.threads = 2, .engine = "lanes"}),
        kernels(graph, {.threads = 2, .engine = "reference"});
    bool used = false;
    for (const PlannedSegment& part : lanes.plan()) used |= part.engine == "lanes";
    EXPECT_TRUE(used) << graph.name();
    Shape shape = graph.value(graph.inputs()[0]).shape;
    shape[0] = 23;
    array::manual_seed(1);
    const Tensors given{{graph.inputs()[0], array::randn(shape)}};
    const ValueId y = graph.outputs()[0], x = graph.inputs()[0];
    const Array got = lanes.run(given, graph.outputs()).at(y),
                want = kernels.run(given, graph.outputs()).at(y);
    EXPECT_TRUE(array::allclose(got, want, 1e-4, 1e-5)) << graph.name();
    const auto objective = [&](const Tensors& values) { return values.at(y).square().sum(); };
    const auto gradient = [&](const Session& session) {
      return session.gradients(given, std::span(&y, 1), objective, std::span(&x, 1)).at(x);
    };
    EXPECT_TRUE(array::allclose(gradient(lanes), gradient(kernels), 1e-3, 1e-5)) << graph.name();
  }
}

}  // namespace
}  // namespace assay
