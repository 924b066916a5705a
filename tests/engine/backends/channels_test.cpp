// The back end whose vectors hold channels, beyond what every back end has to do.

#include <hwy/highway.h>

#include <limits>

#include <assay/session.h>
#include "assay/engine/channels/segment.h"
#include "assay/engine/channels/winograd.h"
#include "assay/engine/direct_sums.h"
#include "tests/engine/backends/network.h"
#include "tests/random_arrays.h"

namespace assay {
namespace {

using test::Ints;
using test::Network;

const Backend& channels_backend() { return channels::backend(); }

std::map<std::string, Attribute> along(std::int64_t axis) { return {{"axis", axis}}; }

// Sums of more numbers than one block holds, and units that fill no vector or several panels.
TEST(Channels, DenseLayersOfEveryWidthAgree) {
  for (const std::int64_t units : {1, 3, 8, 17, 64, 65, 130}) {
    for (const std::int64_t inputs : {1, 5, 256, 257, 1700}) {
      Network net(channels_backend(), {inputs}, 13);
      const ValueId dense =
          net.add("Gemm", {net.input, net.constant({inputs, units}, 0.05), net.constant({units})});
      net.expect_agreement({net.add("Relu", {dense})}, {{dense, Reduction::mean}});
    }
  }
}

// Weights are packed from where they lie, by unit or by input, on the way back as well; a factor comes first.
TEST(Channels, DenseLayersOfManyRowsAndStoredEitherWayAgree) {
  for (const std::int64_t inputs : {3, 130, 1700}) {
    Network rows(channels_backend(), {7, inputs}, 3);
    const ValueId product = rows.add("MatMul", {rows.input, rows.constant({inputs, 33}, 0.05)});
    rows.expect_agreement({rows.add("Tanh", {rows.add("Add", {product, rows.constant({33})})})});
    for (const float factor : {1.0F, 0.5F}) {
      Network net(channels_backend(), {inputs}, 5);
      const ValueId dense = net.add("Gemm", {net.input, net.constant({33, inputs}, 0.05), net.constant({33})},
                                    {{"transB", std::int64_t{1}}, {"alpha", factor}});
      net.expect_agreement({net.add("Tanh", {dense})});
    }
  }
}

TEST(Channels, WideConvolutionsAgree) {
  for (const std::int64_t stride : {1, 2}) {
    // More products than one block holds with any vectors, forward and back.
    Network net(channels_backend(), {201, 9, 8}, 5);
    const ValueId conv =
        net.add("Conv", {net.input, net.constant({402, 201, 3, 3}, 0.02), net.constant({402})},
                {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{stride, stride}}});
    net.expect_agreement({net.add("Sigmoid", {conv})},
                         {{conv, Reduction::mean}, {conv, Reduction::max, 1, true}});
  }
}

TEST(Channels, DepthwiseConvolutionsAgree) {
  for (const std::int64_t count : {1, 7, 16, 27, 40}) {
    Network net(channels_backend(), {count, 9, 11}, 3);
    const ValueId conv = net.add("Conv", {net.input, net.constant({count, 1, 5, 3}), net.constant({count})},
                                 {{"group", count}, {"pads", Ints{2, 1, 2, 0}}, {"strides", Ints{2, 1}}});
    net.expect_agreement({net.add("Clip", {conv, net.constant({}, 0, -0.5), net.constant({}, 0, 0.7)})});
  }
}

// On the way back positions a stride apart are met by different taps, some by none; few channels are met by
// all taps at once.
TEST(Channels, StridesAndDilationsAgree) {
  for (const auto& [channels, groups] : {std::pair{3, 1}, {12, 1}, {12, 3}, {12, 12}}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      for (const std::int64_t size : {1, 2, 3}) {
        for (const std::int64_t dilation : {1, 2}) {
          Network net(channels_backend(), {channels, 11, 8}, 3);
          const Ints pads = size == 1 ? Ints{0, 0, 0, 0} : Ints{1, 0, 0, 1};
          const ValueId conv = net.add("Conv", {net.input, net.constant({24, channels / groups, size, size})},
                                       {{"group", std::int64_t{groups}},
                                        {"pads", pads},
                                        {"strides", Ints{stride, 1}},
                                        {"dilations", Ints{dilation, dilation}}});
          net.expect_agreement({net.add("Relu", {conv})});
        }
      }
    }
  }
}

// Phases of a stride, taps that lie apart, groups, and each channel by itself; up to widths that fill
// vectors.
TEST(Channels, TransposedConvolutionsAgree) {
  struct Case {
    std::int64_t in, out, groups;
    Ints kernel, pads, strides, dilations, more;
  };
  for (const Case& c : {Case{3, 4, 1, {3, 3}, {0, 0, 0, 0}, {2, 2}, {1, 1}, {0, 0}},
                        Case{64, 40, 1, {2, 2}, {0, 0, 0, 0}, {2, 2}, {1, 1}, {0, 0}},
                        Case{20, 33, 1, {3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, {0, 0}},
                        Case{4, 6, 2, {4, 2}, {1, 0, 2, 1}, {3, 1}, {1, 2}, {1, 0}},
                        Case{24, 24, 24, {4, 4}, {1, 1, 1, 1}, {2, 2}, {1, 1}, {0, 0}},
                        Case{2, 17, 1, {5}, {2, 1}, {2}, {1}, {1}}}) {
    Shape input{c.in}, weights{c.in, c.out / c.groups};
    for (const std::int64_t k : c.kernel) {
      input.push_back(6);
      weights.push_back(k);
    }
    Network net(channels_backend(), input, 5);
    const ValueId up =
        net.add("ConvTranspose", {net.input, net.constant(weights, 0.3), net.constant({c.out})},
                {{"group", c.groups},
                 {"pads", c.pads},
                 {"strides", c.strides},
                 {"dilations", c.dilations},
                 {"output_padding", c.more}});
    net.expect_agreement({net.add("Sigmoid", {up})});
  }
}

// Blocks of 2 x 2 results with fewer products: odd sizes, padding on any side, channels and units that fill
// no vector, weights that fill several panels and blocks; sums and functions of the results.
void expect_blocks_to_agree(std::int64_t channels, std::int64_t units, const Ints& size, const Ints& pads) {
  Network net(channels_backend(), {channels, size[0], size[1]}, 5);
  const auto layer = [&](ValueId from, std::int64_t of) {
    return net.add("Conv", {from, net.constant({units, of, 3, 3}, 0.1), net.constant({units})},
                   {{"pads", pads}});
  };
  const SlidingWindow window{{3, 3}, {1, 1}, {1, 1}, {pads[0], pads[1]}, {pads[2], pads[3]}};
  const ValueId first = layer(net.input, channels), second = layer(net.input, channels);
  const Shape made = net.value(first).shape();
  EXPECT_TRUE(channels::grid_of(window, 1, {channels, size[0], size[1]}, {made.begin() + 1, made.end()}));
  const ValueId sum = net.add("Relu", {net.add("Add", {second, first})});
  const ValueId gated = net.add("Mul", {sum, net.add("Sigmoid", {sum})});
  net.expect_agreement({gated, layer(gated, units)}, {{first, Reduction::mean}, {sum, Reduction::max}});
}

TEST(Channels, ConvolutionsWithFewerProductsAgree) {
  expect_blocks_to_agree(16, 16, {9, 8}, {1, 1, 1, 1});
  expect_blocks_to_agree(33, 21, {7, 12}, {2, 0, 1, 2});
  expect_blocks_to_agree(70, 90, {11, 9}, {0, 1, 0, 0});
  expect_blocks_to_agree(160, 20, {6, 7}, {1, 1, 1, 1});
}

// Bounds on what a network computes need the products of its definition.
TEST(Channels, ConvolutionsOfDirectSumsHaveAllProducts) {
  const auto expected = [](std::int64_t direct) {
    GraphBuilder build("net");
    const ValueId x = build.input("x", DType::float32, {-1, 64, 20, 20});
    build.output(build.add("Conv", "conv", {x, build.constant("", array::ones({64, 64, 3, 3}))},
                           {{direct_sums, direct}}));
    return Session(build.build(), {.threads = 1, .engine = "channels"}).plan().at(0).nanoseconds;
  };
  EXPECT_GT(expected(1), 1.5 * expected(0));
}

// Every instruction set that this processor has, one by one.
TEST(Channels, ConvolutionsWithFewerProductsAgreeOnEveryInstructionSet) {
  const auto all = static_cast<std::int64_t>(hwy::SupportedTargets());
  for (std::int64_t rest = all; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(static_cast<decltype(hwy::SupportedTargets())>(rest & -rest));
    expect_blocks_to_agree(33, 41, {9, 8}, {1, 0, 2, 1});
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Of the last axes of what lies plainly, and of all positions where channels lie last; sums that are read
// again.
TEST(Channels, ReductionsOfLastAxesAgree) {
  for (const std::int64_t keep : {0, 1}) {
    const std::map<std::string, Attribute> kept{{"keepdims", keep}};
    Network net(channels_backend(), {6, 5, 9}, 13);
    const ValueId conv =
        net.add("Conv", {net.input, net.constant({20, 6, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
    std::vector<ValueId> all{net.add("ReduceMean", {conv, net.integers({2, 3})}, kept),
                             net.add("ReduceSum", {net.input, net.integers({3, 2})}, kept)};
    if (keep == 1) {
      const ValueId square = net.add("Pow", {net.input, net.constant({}, 0, 2)}),
                    mean = net.add("ReduceMean", {square, net.integers({-1})}, kept);
      all.push_back(net.add("ReduceSum", {conv, net.integers({-1, 1, 2})}, kept));
      all.push_back(net.add("Div", {net.input, net.add("Sqrt", {mean})}));
    }
    net.expect_agreement(all, {{conv, Reduction::max}});
    EXPECT_FALSE(net.supported(net.add("ReduceMean", {net.input, net.integers({1, 3})}, kept)));
  }
}

// With channels last and plainly, by zeros and by another number; by nothing, as exporters write for windows
// that fit.
TEST(Channels, PaddingsAgree) {
  Network net(channels_backend(), {3, 6, 5}, 9);
  const ValueId conv =
                    net.add("Conv", {net.input, net.constant({20, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}}),
                more = net.integers({0, 0, 1, 0, 0, 2, 0, 3}), none = net.integers({0, 0, 0, 0, 0, 0, 0, 0});
  net.expect_agreement({net.add("Pad", {conv, more}),
                        net.add("Pad", {net.input, more, net.constant({}, 0, 1.5)}),
                        net.add("Relu", {net.add("Pad", {net.input, none})})});
  EXPECT_FALSE(net.supported(net.add("Pad", {net.input, net.integers({0, 0, -1, 0, 0, 0, 2, 0})})));
}

TEST(Channels, ThirdPowersAgree) {
  Network net(channels_backend(), {5, 8}, 9);
  net.expect_agreement({net.add("Tanh", {net.add("Pow", {net.input, net.constant({}, 0, 3)})})});
  EXPECT_FALSE(net.supported(net.add("Pow", {net.input, net.constant({}, 0, 2.5)})));
}

ValueId without_nan(Network& net, ValueId id, double number) {
  return net.add("Where", {net.add("IsNaN", {id}), net.constant({}, 0, number), id});
}

// In place, where others read the value too, and where it is another value seen in another way.
TEST(Channels, NumbersTakeThePlaceOfNan) {
  Network net(channels_backend(), {4, 5, 8});
  net.spoil_input();
  const ValueId alone = net.add("Mul", {net.input, net.constant({8})}),
                shared = net.add("Mul", {net.input, net.constant({5, 1})}),
                seen = net.add("Reshape", {shared, net.integers({-1, 20, 8})});
  net.expect_agreement({without_nan(net, net.input, 3), without_nan(net, alone, 0),
                        without_nan(net, shared, 1), without_nan(net, shared, -1),
                        without_nan(net, seen, 2)});
}

// Attention as exporters write it, where a mask hides some rows whole: one segment, but where what the test
// says is wanted.
TEST(Channels, AttentionThatReplacesNanIsOneSegment) {
  GraphBuilder build("attention");
  const float low = -std::numeric_limits<float>::infinity();
  const ValueId x = build.input("x", DType::float32, {-1, 2, 6, 4}),
                mask = build.input("mask", DType::float32, {-1, 2, 6, 6}),
                turned = build.add("Transpose", "turned", {x}, {{"perm", Ints{0, 1, 3, 2}}}),
                scores = build.add("Add", "scores", {build.add("MatMul", "products", {x, turned}), mask}),
                soft = build.add("Softmax", "soft", {scores}, along(-1)),
                is_nan = build.add("IsNaN", "test", {soft}),
                safe = build.add("Where", "safe", {is_nan, build.constant("", array::zeros({})), soft});
  build.output(build.add("MatMul", "mixed", {safe, x}));
  const Graph graph = build.build();
  Array hidden = array::zeros({3, 2, 6, 6});
  for (std::int64_t i = 0; i < 40; ++i) hidden.elements<float>()[i] = low;
  const Tensors given{{x, array::randn({3, 2, 6, 4})}, {mask, hidden}};
  const Session plain(graph, {.threads = 2, .engine = "reference"}),
      quick(graph, {.threads = 2, .engine = "channels"});
  for (const std::vector<ValueId>& wanted :
       {std::vector{graph.outputs()[0]}, {is_nan, graph.outputs()[0]}, {is_nan}}) {
    const Tensors expected = plain.run(given, wanted), found = quick.run(given, wanted);
    for (const ValueId id : wanted) {
      EXPECT_EQ(found.at(id).dtype(), expected.at(id).dtype());
      EXPECT_TRUE(array::allclose(found.at(id), expected.at(id), 1e-5, 1e-6));
    }
  }
  EXPECT_EQ(quick.plan().size(), 1);
}

// Blocks of several records pass together, in numbers that leave some over.
TEST(Channels, ConvolutionsWithFewerProductsHaveTheSameBitsInEveryBatch) {
  GraphBuilder build("net");
  array::manual_seed(5);
  ValueId at = build.input("x", DType::float32, {-1, 40, 13, 11});
  for (const char* const name : {"first", "second"}) {
    at = build.add("Conv", name, {at, build.constant("", array::randn({40, 40, 3, 3}) * 0.1)},
                   {{"pads", Ints{1, 1, 1, 1}}});
    at = build.add("Relu", std::string(name) + "_made", {at});
  }
  build.output(at);
  const Graph graph = build.build();
  const ValueId x = graph.inputs()[0], y = graph.outputs()[0];
  const Array records = array::randn({9, 40, 13, 11});
  const Session one(graph, {.threads = 1, .engine = "channels"}),
      two(graph, {.threads = 2, .engine = "channels"});
  const Array together = one.run({{x, records}}, std::span(&y, 1)).at(y);
  EXPECT_TRUE(two.run({{x, records}}, std::span(&y, 1)).at(y).equal(together));
  for (std::int64_t r = 0; r < 9; ++r)
    EXPECT_TRUE(one.run({{x, records.slice(0, r, r + 1)}}, std::span(&y, 1))
                    .at(y)
                    .equal(together.slice(0, r, r + 1)));
}

// Pictures that grow by whole factors, as necks of detectors have them, with channels last and plainly.
TEST(Channels, RepeatedPositionsAgree) {
  struct Case {
    std::string places, nearest;
    Ints repeats;
  };
  for (const Case& c : {Case{"asymmetric", "floor", {2, 2}}, Case{"half_pixel", "round_prefer_ceil", {3, 1}},
                        Case{"half_pixel", "round_prefer_floor", {4, 5}}}) {
    Network net(channels_backend(), {20, 5, 3}, 4);
    const std::map<std::string, Attribute> nearest{{"mode", std::string("nearest")},
                                                   {"coordinate_transformation_mode", c.places},
                                                   {"nearest_mode", c.nearest}};
    const auto larger = [&](ValueId of) {
      return net.add("Resize",
                     {of, no_value, no_value, net.integers({4, 20, 5 * c.repeats[0], 3 * c.repeats[1]})},
                     nearest);
    };
    const ValueId conv = net.add("Conv", {net.input, net.constant({20, 20, 1, 1}, 0.2)});
    const ValueId joined = net.add("Concat", {larger(net.input), larger(conv)}, along(1));
    net.expect_agreement({joined, net.add("Tanh", {joined}), conv});
  }
}

TEST(Channels, OtherResizesAreNotSupported) {
  Network net(channels_backend(), {2, 6, 6}, 3);
  const auto resized = [&](const std::string& mode, const std::string& nearest, std::int64_t size) {
    return net.add("Resize", {net.input, no_value, no_value, net.integers({3, 2, size, size})},
                   {{"mode", mode},
                    {"coordinate_transformation_mode", std::string("asymmetric")},
                    {"nearest_mode", nearest}});
  };
  EXPECT_TRUE(net.supported(resized("nearest", "floor", 12)));
  EXPECT_FALSE(net.supported(resized("nearest", "ceil", 12)));
  EXPECT_FALSE(net.supported(resized("nearest", "floor", 9)));
  EXPECT_FALSE(net.supported(resized("nearest", "floor", 3)));
  EXPECT_FALSE(net.supported(resized("linear", "floor", 12)));
}

// Scales instead of sizes, as PyTorch exports them: the neck of a detector is one segment.
TEST(Channels, ScaledPicturesAreOneSegment) {
  for (const float scale : {2.0F, 2.1F}) {
    GraphBuilder build("net");
    array::manual_seed(3);
    const ValueId x = build.input("x", DType::float32, {-1, 8, 6, 5});
    const ValueId conv = build.add("Conv", "conv", {x, build.constant("", array::randn({8, 8, 1, 1}))});
    const std::vector<float> scales{1, 1, 2, scale};
    const ValueId larger =
        build.add("Resize", "larger", {conv, no_value, build.constant("", Array::of<float>({4}, scales))},
                  {{"mode", std::string("nearest")},
                   {"coordinate_transformation_mode", std::string("asymmetric")},
                   {"nearest_mode", std::string("floor")}});
    build.output(build.add("Relu", "made", {larger}));
    const Graph graph = build.build();
    const ValueId y = graph.outputs()[0];
    const Session fast(graph, {.engine = "channels"}), reference(graph, {.engine = "reference"});
    EXPECT_EQ(fast.plan().size() == 1, scale == 2.0F);
    const Array records = array::randn({3, 8, 6, 5});
    EXPECT_TRUE(array::allclose(fast.run({{x, records}}, std::span(&y, 1)).at(y),
                                reference.run({{x, records}}, std::span(&y, 1)).at(y), 1e-5, 1e-5));
  }
}

// What several values say of one is added up, of parts, of broadcasts, and of what others look at as well.
TEST(Channels, GradientsOfSharedValuesAddUp) {
  Network net(channels_backend(), {6, 5, 4}, 5);
  const ValueId conv = net.add("Conv", {net.input, net.constant({6, 6, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  const ValueId mean = net.add("GlobalAveragePool", {conv});
  const ValueId centred = net.add("Sub", {conv, mean});
  const ValueId parts = net.add("Slice", {conv, net.integers({1}), net.integers({4}), net.integers({1})});
  const ValueId last = net.add("Transpose", {conv}, {{"perm", Ints{0, 2, 3, 1}}});
  const ValueId twice = net.add("Add", {conv, conv}), sum = net.add("Add", {twice, net.input});
  const ValueId share = net.add("Div", {mean, net.add("Exp", {centred})});
  net.expect_agreement({centred, parts, last, sum, share, net.add("Min", {centred, mean}),
                        net.add("Conv", {sum, net.constant({3, 6, 1, 1})})});
}

// A gate for every channel, as squeeze and excitation has it.
TEST(Channels, GatesOfChannelsAgree) {
  Network net(channels_backend(), {24, 6, 7}, 4);
  const ValueId conv = net.add("Conv", {net.input, net.constant({40, 24, 1, 1})});
  const ValueId pooled = net.add("GlobalAveragePool", {conv});
  const ValueId gate = net.add("Sigmoid", {net.add("Conv", {pooled, net.constant({40, 40, 1, 1})})});
  const ValueId gated = net.add("Mul", {conv, gate});
  net.expect_agreement({gated, net.add("Mul", {gate, gated}), net.add("Add", {net.input, net.input})},
                       {{gated, Reduction::min}});
}

// What is done to results while they are near: sums with what is there, functions, products with functions.
TEST(Channels, SumsAndFunctionsOfResultsAgree) {
  for (const bool picture : {true, false}) {
    Network net(channels_backend(), picture ? Shape{20, 5, 6} : Shape{7, 20}, 4);
    const auto layer = [&](ValueId from) {
      return picture ? net.add("Conv", {from, net.constant({20, 20, 1, 1}, 0.2), net.constant({20})})
                     : net.add("MatMul", {from, net.constant({20, 20}, 0.2)});
    };
    const ValueId first = layer(net.input);
    const ValueId second = net.add("Relu", {net.add("Add", {layer(first), first})});
    const ValueId third = net.add("Add", {net.input, layer(second)});
    const ValueId gated = net.add("Mul", {third, net.add("Sigmoid", {third})});
    const ValueId twice = layer(gated);
    const ValueId doubled = net.add("Add", {twice, twice});
    const ValueId fourth = layer(doubled);
    const ValueId later = net.add("Add", {fourth, layer(fourth)});
    const ValueId product = net.add("Mul", {net.add("Tanh", {later}), later});
    net.expect_agreement({product, doubled}, {{second, Reduction::mean}});
    net.expect_agreement({product});
  }
}

TEST(Channels, AttentionAgrees) {
  Network net(channels_backend(), {10, 24}, 3);
  const auto projected = [&](ValueId from) {
    const ValueId dense =
        net.add("Add", {net.add("MatMul", {from, net.constant({24, 24}, 0.2)}), net.constant({24})});
    const ValueId heads = net.add("Reshape", {dense, net.integers({0, 10, 4, 6})});
    return net.add("Transpose", {heads}, {{"perm", Ints{0, 2, 1, 3}}});
  };
  const ValueId normal =
      net.add("LayerNormalization", {net.input, net.constant({24}, 0.1, 1), net.constant({24})}, along(-1));
  const ValueId query = projected(normal), values = projected(normal);
  const ValueId keys = net.add("Transpose", {projected(normal)}, {{"perm", Ints{0, 1, 3, 2}}});
  const ValueId scores = net.add("Mul", {net.add("MatMul", {query, keys}), net.constant({1})});
  const ValueId weights = net.add("Softmax", {scores}, along(-1));
  const ValueId mixed =
      net.add("Transpose", {net.add("MatMul", {weights, values})}, {{"perm", Ints{0, 2, 1, 3}}});
  const ValueId joined = net.add("Reshape", {mixed, net.integers({0, 10, 24})});
  const ValueId sum = net.add("Add", {net.input, net.add("MatMul", {joined, net.constant({24, 24}, 0.2)})});
  const ValueId first = net.add("Gather", {sum, net.whole(0)}, along(1));
  net.expect_agreement({sum, weights, first}, {{sum, Reduction::mean, 2}, {weights, Reduction::max}});
}

// Pictures whose channels move to the last axis for a while, as in ConvNeXt.
TEST(Channels, ChannelsThatMoveAgree) {
  Network net(channels_backend(), {12, 5, 6}, 3);
  const ValueId conv = net.add("Conv", {net.input, net.constant({12, 1, 3, 3})},
                               {{"group", std::int64_t{12}}, {"pads", Ints{1, 1, 1, 1}}});
  const ValueId last = net.add("Transpose", {conv}, {{"perm", Ints{0, 2, 3, 1}}});
  const ValueId normal =
      net.add("LayerNormalization", {last, net.constant({12}), net.constant({12})}, along(-1));
  const ValueId dense = net.add("Gelu", {net.add("MatMul", {normal, net.constant({12, 20})})});
  const ValueId back = net.add("Transpose", {net.add("MatMul", {dense, net.constant({20, 12})})},
                               {{"perm", Ints{0, 3, 1, 2}}});
  const ValueId sum = net.add("Add", {back, net.input});
  const ValueId flat = net.add("Flatten", {sum});
  net.expect_agreement({sum, flat, net.add("Softmax", {flat}, along(1))}, {{back, Reduction::max}});
}

TEST(Channels, SlicesAndPartsAgree) {
  Network net(channels_backend(), {12, 6, 4}, 3);
  const ValueId conv = net.add("Conv", {net.input, net.constant({12, 12, 1, 1})});
  const std::vector<ValueId> parts = net.add_several("Split", {conv, net.integers({4, 8})}, 2, along(1));
  const ValueId backwards = net.add("Slice", {parts[1], net.integers({-1, 0}), net.integers({-100, 5}),
                                              net.integers({1, 2}), net.integers({-2, 2})});
  const ValueId joined = net.add("Concat", {parts[0], parts[1], net.input}, along(1));
  const ValueId upright = net.add("Unsqueeze", {parts[0], net.integers({2})});
  net.expect_agreement({backwards, joined, net.add("Tanh", {backwards}), net.add("Relu", {upright}),
                        net.add("Concat", {parts[0], parts[0]}, along(3))},
                       {{parts[1], Reduction::mean}, {joined, Reduction::max}});
}

TEST(Channels, ConstantsThatLieAcrossAgree) {
  Network net(channels_backend(), {5, 4, 3}, 3);
  const ValueId conv = net.add("Conv", {net.input, net.constant({5, 5, 1, 1})});
  const ValueId sum = net.add("Add", {conv, net.constant({5, 4, 3})});
  net.expect_agreement({net.add("Mul", {sum, net.constant({4, 1})}),
                        net.add("Div", {sum, net.constant({}, 0, 2)}),
                        net.add("Sub", {net.constant({3}), sum}), net.add("Max", {sum, net.input})});
}

// Queries, keys and values of one product, which PyTorch takes apart along an axis in front of the records.
TEST(Channels, AttentionOfOneProductIsOneSegment) {
  GraphBuilder build("net");
  Rng rng(3);
  const auto constant = [&](const Shape& shape) {
    std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
    for (float& v : numbers) v = static_cast<float>(rng.normal() * 0.3);
    return build.constant("", Array::of<float>(shape, numbers));
  };
  const auto integers = [&](const Ints& numbers) {
    return build.constant("", Array::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
  };
  const auto heads_last = [](const Ints& order) { return std::map<std::string, Attribute>{{"perm", order}}; };
  const ValueId x = build.input("x", DType::float32, {-1, 9, 24});
  const ValueId product = build.add("MatMul", "product", {x, constant({24, 72})});
  const ValueId parts = build.add("Reshape", "parts", {product, integers({0, 9, 3, 4, 6})});
  const ValueId turned = build.add("Transpose", "turned", {parts}, heads_last({2, 0, 3, 1, 4}));
  std::vector<ValueId> of;
  for (std::int64_t i = 0; i < 3; ++i) {
    const ValueId which = build.constant("", Array::of<std::int64_t>({}, std::vector{i}));
    of.push_back(build.add("Gather", "part" + std::to_string(i), {turned, which}, along(0)));
  }
  const ValueId keys = build.add("Transpose", "keys", {of[1]}, heads_last({0, 1, 3, 2}));
  const ValueId weights =
      build.add("Softmax", "weights", {build.add("MatMul", "scores", {of[0], keys})}, along(-1));
  const ValueId mixed = build.add("Transpose", "mixed", {build.add("MatMul", "mix", {weights, of[2]})},
                                  heads_last({0, 2, 1, 3}));
  build.output(build.add("Reshape", "joined", {mixed, integers({0, 9, 24})}));
  const Graph graph = build.build();
  const Session fast(graph, {.engine = "channels"}), reference(graph, {.engine = "reference"});
  EXPECT_EQ(fast.plan().size(), 1U);
  const Array records = array::rand({5, 9, 24});
  const auto found = [&](const Session& session) {
    const ValueId output = session.graph().outputs()[0];
    return session.run({{session.graph().inputs()[0], records}}, std::span(&output, 1)).at(output);
  };
  EXPECT_TRUE(array::allclose(found(fast), found(reference), 1e-5, 1e-5));
}

// A picture through convolutions of the given width, then a dense layer of as many units.
Graph mixed_network(std::int64_t side, std::int64_t channels) {
  GraphBuilder build("net");
  Rng rng(7);
  const auto constant = [&](const Shape& shape) {
    std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
    for (float& v : numbers) v = static_cast<float>(rng.normal() * 0.1);
    return build.constant("", Array::of<float>(shape, numbers));
  };
  const std::map<std::string, Attribute> same{{"pads", Ints{1, 1, 1, 1}}};
  ValueId at = build.input("x", DType::float32, {-1, 3, side, side});
  at = build.add("Conv", "first", {at, constant({channels, 3, 3, 3})}, same);
  at = build.add("Sigmoid", "gate", {at});
  at = build.add("Conv", "second", {at, constant({channels, channels, 3, 3})}, same);
  at = build.add("Mod", "rest", {at, build.constant("", Array::of<float>({}, std::vector{2.0F}))},
                 {{"fmod", std::int64_t{1}}});
  at = build.add("Flatten", "flat", {build.add("GlobalAveragePool", "mean", {at})});
  build.output(build.add("Gemm", "dense", {at, constant({channels, channels})}));
  return build.build();
}

// What is planned costs no more than any engine alone, changes of engine included.
TEST(Planner, NoEngineAloneIsPlannedToBeQuicker) {
  for (const auto& [side, channels] : {std::pair{6, 2}, {12, 20}, {40, 96}, {120, 64}}) {
    const auto planned = [&, side = side, channels = channels](const std::string& engine) {
      double nanoseconds = 0;
      for (const PlannedSegment& segment :
           Session(mixed_network(side, channels), {.threads = 2, .engine = engine}).plan())
        nanoseconds += segment.nanoseconds;
      return nanoseconds;
    };
    const double chosen = planned("auto");
    EXPECT_GT(chosen, 0);
    for (const std::string engine : {"lanes", "channels"})
      EXPECT_LE(chosen, planned(engine) * 1.0001) << engine;
  }
}

// A constant, repeated by arithmetic of shapes, in front of the tokens: as many rows of it as given.
Graph with_tokens_before(std::int64_t rows) {
  GraphBuilder build("net");
  const auto numbers = [&](const Ints& all) {
    return build.constant("", Array::of<std::int64_t>({static_cast<std::int64_t>(all.size())}, all));
  };
  const ValueId x = build.input("x", DType::float32, {-1, 5, 8});
  const ValueId records =
      build.add("Gather", "records", {build.add("Shape", "sizes", {x}), numbers({0})}, along(0));
  const ValueId sizes = build.add("Concat", "target", {records, numbers({rows, 8})}, along(0));
  const ValueId token = build.constant("", Array::of<float>({1, 1, 8}, std::vector<float>(8, 0.25F)));
  const ValueId tokens =
      build.add("Concat", "tokens", {build.add("Expand", "token", {token, sizes}), x}, along(1));
  build.output(build.add("Softmax", "shares", {tokens}, along(-1)));
  return build.build();
}

// The class token of a vision transformer is one row; the keys of earlier tokens may be none.
TEST(Planner, ARepeatedConstantIsPartOfTheSegment) {
  for (const std::int64_t rows : {1, 0}) {
    const Graph graph = with_tokens_before(rows);
    const Session fast(graph, {.engine = "channels"}), reference(graph, {.engine = "reference"});
    EXPECT_EQ(fast.plan().size(), 1U) << rows;
    for (const std::int64_t count : {1, 7}) {
      const Array given = array::rand({count, 5, 8});
      const auto found = [&](const Session& session) {
        const ValueId output = session.graph().outputs()[0];
        return session.run({{session.graph().inputs()[0], given}}, std::span(&output, 1)).at(output);
      };
      EXPECT_EQ(found(fast).shape(), (Shape{count, 5 + rows, 8}));
      EXPECT_TRUE(array::allclose(found(fast), found(reference), 1e-6, 1e-6));
    }
  }
}

// Rows from the ninth on: two or three sample records have none.
TEST(Planner, PartsThatOnlyManyRecordsHaveAreJoined) {
  GraphBuilder build("net");
  const auto numbers = [&](const Ints& all) {
    return build.constant("", Array::of<std::int64_t>({static_cast<std::int64_t>(all.size())}, all));
  };
  const ValueId x = build.input("x", DType::float32, {-1, 4});
  const ValueId first = build.add("Slice", "first", {x, numbers({0}), numbers({8}), numbers({0})}),
                rest = build.add("Slice", "rest", {x, numbers({8}), numbers({1000}), numbers({0})});
  build.output(build.add("Softmax", "shares", {build.add("Concat", "turned", {rest, first}, along(0))}));
  const Graph graph = build.build();
  const Array given = array::rand({20, 4});
  const auto found = [&](const std::string& engine) {
    const Session session(graph, {.engine = engine});
    const ValueId output = graph.outputs()[0];
    return session.run({{graph.inputs()[0], given}}, std::span(&output, 1)).at(output);
  };
  for (const char* const engine : {"auto", "channels"})
    EXPECT_TRUE(array::allclose(found(engine), found("reference"), 1e-6, 1e-6)) << engine;
}

TEST(Channels, NanTravels) {
  GraphBuilder build("net");
  const ValueId x = build.input("x", DType::float32, {-1, 3, 4, 4});
  const ValueId pool = build.add("MaxPool", "pool", {build.add("Sqrt", "root", {x})},
                                 {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  build.output(build.add("GlobalMaxPool", "most", {pool}));
  const Graph graph = build.build();
  std::vector<float> numbers(96);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  numbers[5] = numbers[50] = -1;
  const auto found = [&](const std::string& engine) {
    const Session session(graph, {.engine = engine});
    const ValueId output = session.graph().outputs()[0];
    return session
        .run({{session.graph().inputs()[0], Array::of<float>({2, 3, 4, 4}, numbers)}}, std::span(&output, 1))
        .at(output)
        .isnan();
  };
  EXPECT_TRUE(array::equal(found("channels"), found("reference")));
  EXPECT_EQ(found("channels").sum().item<std::int64_t>(), 2);
}

}  // namespace
}  // namespace assay
