// Bounds through functions that rise and fall, products and normalisations over layers, as exporters write
// them: nothing that double precision gives anywhere in the box lies outside.

#include <assay/bounds.h>

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <numbers>

#include <assay/error.h>
#include "tests/attack/build.h"

namespace assay::test {
using namespace bounds;
namespace {

using testing::HasSubstr;

// Nodes of a function of one value, and the same in double precision.
struct Smooth {
  std::string name;
  ValueId (*add)(GraphBuilder&, ValueId);
  double (*at)(double);

  // Also for intervals: x times a gate.
  bool is_one_curve() const {
    return name.starts_with("x sigmoid") || name == "Swish" || name.starts_with("Gelu") ||
           name.starts_with("x (1 + erf") || name.starts_with("0.5 x (1 + tanh") || name == "HardSwish" ||
           name.starts_with("x min(max") || name == "Mish";
  }
};

ValueId number(GraphBuilder& b, float value) {
  return b.constant("", Array::of<float>({}, std::vector<float>{value}));
}
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * logistic(x); }
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double gelu_of_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double hard_swish(double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double softplus(double x) { return std::log1p(std::exp(x)); }

const std::vector<Smooth>& functions() {
  static const std::vector<Smooth> all{
      {"x sigmoid(x)",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Mul", "", {x, b.add("Sigmoid", "", {x})});
       },
       silu},
      {"x sigmoid(1.702 x)",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Mul", "", {x, b.add("Sigmoid", "", {b.add("Mul", "", {number(b, 1.702F), x})})});
       },
       [](double x) { return x * logistic(static_cast<double>(1.702F) * x); }},
      {"Swish", [](GraphBuilder& b, ValueId x) { return b.add("Swish", "", {x}); }, silu},
      {"Gelu", [](GraphBuilder& b, ValueId x) { return b.add("Gelu", "", {x}); }, gelu},
      {"Gelu of tanh",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Gelu", "", {x}, {{"approximate", std::string("tanh")}});
       },
       gelu_of_tanh},
      {"x (1 + erf(x / 1.41)) 0.5",
       [](GraphBuilder& b, ValueId x) {
         const ValueId erf = b.add("Erf", "", {b.add("Div", "", {x, number(b, 1.41421356F)})});
         return b.add("Mul", "",
                      {b.add("Mul", "", {x, b.add("Add", "", {erf, number(b, 1)})}), number(b, 0.5F)});
       },
       gelu},
      {"0.5 x (1 + tanh(0.798 (x + 0.0447 x x x)))",
       [](GraphBuilder& b, ValueId x) {
         const ValueId cube = b.add("Mul", "", {b.add("Mul", "", {x, x}), x});
         const ValueId sum = b.add("Add", "", {x, b.add("Mul", "", {cube, number(b, 0.044715F)})});
         const ValueId tanh = b.add("Tanh", "", {b.add("Mul", "", {sum, number(b, 0.79788456F)})});
         return b.add("Mul", "",
                      {b.add("Mul", "", {number(b, 0.5F), x}), b.add("Add", "", {tanh, number(b, 1)})});
       },
       gelu_of_tanh},
      {"HardSwish", [](GraphBuilder& b, ValueId x) { return b.add("HardSwish", "", {x}); }, hard_swish},
      {"x min(max(x + 3, 0), 6) / 6",
       [](GraphBuilder& b, ValueId x) {
         const ValueId gate =
             b.add("Clip", "", {b.add("Add", "", {x, number(b, 3)}), number(b, 0), number(b, 6)});
         return b.add("Div", "", {b.add("Mul", "", {x, gate}), number(b, 6)});
       },
       hard_swish},
      {"Mish", [](GraphBuilder& b, ValueId x) { return b.add("Mish", "", {x}); },
       [](double x) { return x * std::tanh(softplus(x)); }},
      {"Softplus", [](GraphBuilder& b, ValueId x) { return b.add("Softplus", "", {x}); }, softplus},
      {"softplus, of numbers above 5 themselves",
       [](GraphBuilder& b, ValueId x) {
         const ValueId great = b.add("Greater", "", {x, number(b, 5)});
         return b.add("Where", "", {great, x, b.add("Softplus", "", {x})});
       },
       [](double x) { return x > 5 ? x : softplus(x); }},
      {"softplus(2 x) / 2, of numbers above 10 themselves",
       [](GraphBuilder& b, ValueId x) {
         const ValueId twice = b.add("Mul", "", {x, number(b, 2)});
         const ValueId half = b.add("Div", "", {b.add("Softplus", "", {twice}), number(b, 2)});
         return b.add("Where", "", {b.add("Greater", "", {twice, number(b, 20)}), x, half});
       },
       [](double x) { return 2 * x > 20 ? x : softplus(2 * x) / 2; }},
      {"x / 8 where x < 0",
       [](GraphBuilder& b, ValueId x) {
         const ValueId eighth = b.add("Mul", "", {x, number(b, 0.125F)});
         return b.add("Where", "", {b.add("Less", "", {x, number(b, 0)}), eighth, x});
       },
       [](double x) { return x < 0 ? x / 8 : x; }},
      {"Elu", [](GraphBuilder& b, ValueId x) { return b.add("Elu", "", {x}); },
       [](double x) { return x > 0 ? x : std::expm1(x); }},
      {"HardSigmoid", [](GraphBuilder& b, ValueId x) { return b.add("HardSigmoid", "", {x}); },
       [](double x) { return std::clamp(static_cast<double>(0.2F) * x + 0.5, 0.0, 1.0); }},
      {"Erf", [](GraphBuilder& b, ValueId x) { return b.add("Erf", "", {x}); },
       [](double x) { return std::erf(x); }},
      {"x^2",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Pow", "", {x, number(b, 2)});
       },
       [](double x) { return x * x; }},
      {"x^3",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Pow", "", {x, number(b, 3)});
       },
       [](double x) { return x * x * x; }},
      {"1 / sqrt(x^2 + 1)",
       [](GraphBuilder& b, ValueId x) {
         const ValueId sum = b.add("Add", "", {b.add("Mul", "", {x, x}), number(b, 1)});
         return b.add("Div", "", {number(b, 1), b.add("Sqrt", "", {sum})});
       },
       [](double x) { return 1 / std::sqrt(x * x + 1); }},
  };
  return all;
}

class BoundsThrough : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Functions, BoundsThrough, testing::Range(std::size_t{0}, functions().size()));

TEST_P(BoundsThrough, HoldTheFunctionAndLittleElse) {
  const Smooth& smooth = functions()[GetParam()];
  GraphBuilder b("smooth");
  b.output(smooth.add(b, b.input("input", DType::float32, {-1, 1})));
  const Session session(b.build(), reference);
  const BoundedNetwork network(session);
  for (const double centre : {-20.0, -4.0, -3.0, -1.28, -0.4, 0.0, 0.7, 2.9, 15.0}) {
    for (const double radius : {0.0, 0.01, 0.3, 1.5, 6.0}) {
      const Box box{{centre - radius}, {centre + radius}};
      double least = 1e30, most = -1e30;
      for (int i = 0; i <= 2000; ++i) {
        const double y = smooth.at(centre + radius * (i / 1000.0 - 1));
        least = std::min(least, y), most = std::max(most, y);
      }
      const std::string where =
          smooth.name + " at " + std::to_string(centre) + " +- " + std::to_string(radius);
      for (const Method method : {Method::interval, Method::crown}) {
        const Box found = network.outputs_over({&box, 1}, method)[0];
        EXPECT_LE(found.low[0], least) << where;
        EXPECT_GE(found.high[0], most) << where;
        if (method == Method::interval && !smooth.is_one_curve()) continue;
        const double size = std::max({1.0, std::abs(least), std::abs(most)});
        // Lines of a function that is scaled afterwards do not know its least value.
        const double gap = (radius < 1 ? 0.03 : 0.35) * radius;
        EXPECT_LE(found.high[0] - found.low[0], 1.25 * (most - least) + 3e-4 * size + gap) << where;
      }
    }
  }
}

// Inputs to two dense layers, joined in a way that the caller says.
struct Joined {
  Graph graph;
  std::vector<double> one, other;  // weights of 3 results by 4 inputs
};
Joined joined(const std::function<ValueId(GraphBuilder&, ValueId, ValueId)>& join) {
  Net net("joined", 31);
  const ValueId x = net.input({-1, 4});
  const ValueId one = net.dense("one", x, 4, 3), other = net.dense("other", x, 4, 3);
  Joined made{.graph = net.build(join(net.builder, one, other)), .one = {}, .other = {}};
  made.one = list(made.graph.constant(*made.graph.find_value("one/w")));
  made.other = list(made.graph.constant(*made.graph.find_value("other/w")));
  for (auto [name, to] : {std::pair("one/b", &made.one), std::pair("other/b", &made.other)})
    for (const double bias : list(made.graph.constant(*made.graph.find_value(name)))) to->push_back(bias);
  return made;
}
std::vector<double> dense(const std::vector<double>& weights, const std::vector<double>& x) {
  std::vector<double> y(weights.end() - 3, weights.end());
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < 4; ++i) y[k] += weights[k * 4 + i] * x[i];
  return y;
}

// Over boxes around random points, of each radius.
void expect_to_hold(const Graph& graph, std::size_t inputs,
                    const std::function<std::vector<double>(const std::vector<double>&)>& outputs,
                    const std::string& name) {
  const Session session(graph, reference);
  const BoundedNetwork network(session);
  Rng rng(17);
  for (const double radius : {0.0, 0.001, 0.05, 0.4}) {
    Box box;
    for (std::size_t i = 0; i < inputs; ++i) {
      const double centre = rng.uniform(-1, 1);
      box.low.push_back(centre - radius), box.high.push_back(centre + radius);
    }
    const Box intervals = network.outputs_over({&box, 1}, Method::interval)[0],
              lines = network.outputs_over({&box, 1}, Method::crown)[0];
    for (int draw = 0; draw < 400; ++draw) {
      std::vector<double> x;
      for (std::size_t i = 0; i < inputs; ++i)
        x.push_back(draw % 2 == 0       ? rng.uniform(box.low[i], box.high[i])
                    : rng.below(2) == 0 ? box.low[i]
                                        : box.high[i]);
      const std::vector<double> y = outputs(x);
      for (std::size_t o = 0; o < y.size(); ++o) {
        ASSERT_LE(intervals.low[o], lines.low[o] + 1e-9) << name << radius;
        ASSERT_GE(intervals.high[o], lines.high[o] - 1e-9) << name << radius;
        ASSERT_LE(lines.low[o], y[o]) << name << " within " << radius << " output " << o;
        ASSERT_GE(lines.high[o], y[o]) << name << " within " << radius << " output " << o;
        if (radius <= 0.001) {
          ASSERT_LT(lines.high[o] - lines.low[o], 0.1) << name << radius;
        }
      }
    }
  }
}

TEST(Bounds, HoldProductsOfTwoValues) {
  const Joined net = joined([](GraphBuilder& b, ValueId one, ValueId other) {
    return b.add("Mul", "out", {one, other});
  });
  expect_to_hold(
      net.graph, 4,
      [&](const std::vector<double>& x) {
        std::vector<double> y = dense(net.one, x);
        const std::vector<double> by = dense(net.other, x);
        for (std::size_t k = 0; k < 3; ++k) y[k] *= by[k];
        return y;
      },
      "product");
}

TEST(Bounds, HoldQuotientsWhereTheDivisorIsNotZero) {
  const Joined net = joined([](GraphBuilder& b, ValueId one, ValueId other) {
    return b.add("Div", "out", {one, b.add("Add", "", {b.add("Sigmoid", "", {other}), number(b, 0.1F)})});
  });
  expect_to_hold(
      net.graph, 4,
      [&](const std::vector<double>& x) {
        std::vector<double> y = dense(net.one, x);
        const std::vector<double> by = dense(net.other, x);
        for (std::size_t k = 0; k < 3; ++k) y[k] /= logistic(by[k]) + static_cast<double>(0.1F);
        return y;
      },
      "quotient");
}

TEST(Bounds, AreInfiniteWhereADivisorMayBeZero) {
  const Joined net = joined([](GraphBuilder& b, ValueId one, ValueId other) {
    return b.add("Div", "out", {one, other});
  });
  const Session session(net.graph, reference);
  const BoundedNetwork network(session);
  const Box box{{-9, -9, -9, -9}, {9, 9, 9, 9}};
  for (const Method method : {Method::interval, Method::crown}) {
    const Box found = network.outputs_over({&box, 1}, method)[0];
    for (std::size_t o = 0; o < 3; ++o) {
      EXPECT_EQ(found.low[o], -std::numeric_limits<double>::infinity());
      EXPECT_EQ(found.high[o], std::numeric_limits<double>::infinity());
    }
  }
}

Graph of_one_number(const std::function<ValueId(GraphBuilder&, ValueId)>& function) {
  GraphBuilder b("root");
  b.output(function(b, b.input("input", DType::float32, {-1, 1})));
  return b.build();
}

// Where a root begins its derivative has no bound.
TEST(Bounds, HoldRootsDownToZero) {
  const Graph rectified =
      of_one_number([](GraphBuilder& b, ValueId x) { return b.add("Sqrt", "", {b.add("Relu", "", {x})}); });
  const Graph squared = of_one_number([](GraphBuilder& b, ValueId x) {
    return b.add("Sqrt", "", {b.add("Mul", "", {x, x})});
  });
  for (const bool is_rectified : {true, false}) {
    const Graph& graph = is_rectified ? rectified : squared;
    const Session session(graph, reference);
    const BoundedNetwork network(session);
    const auto at = [&](double x) { return is_rectified ? std::sqrt(std::max(x, 0.0)) : std::abs(x); };
    for (const auto& [low, high] :
         {std::pair(-1.0, 1.0), std::pair(0.0, 1.0), std::pair(0.0, 0.0), std::pair(-5.0, 5.0)}) {
      const Box box{{low}, {high}};
      for (const Method method : {Method::interval, Method::crown}) {
        const Box found = network.outputs_over({&box, 1}, method)[0];
        for (int i = 0; i <= 100; ++i) {
          const double y = at(low + (high - low) * i / 100);
          EXPECT_LE(found.low[0], y) << low << " to " << high;
          EXPECT_GE(found.high[0], y) << low << " to " << high;
        }
      }
    }
  }
}

TEST(Bounds, AreInfiniteWhereARootMayBeOfANegativeNumber) {
  const Session session(of_one_number([](GraphBuilder& b, ValueId x) { return b.add("Sqrt", "", {x}); }),
                        reference);
  const BoundedNetwork network(session);
  for (const Method method : {Method::interval, Method::crown}) {
    const Box negative{{-0.3}, {0.9}}, positive{{0.1}, {0.9}};
    EXPECT_EQ(network.outputs_over({&negative, 1}, method)[0].high[0],
              std::numeric_limits<double>::infinity());
    EXPECT_LT(network.outputs_over({&positive, 1}, method)[0].high[0], 1);
  }
}

std::vector<double> normalised(const std::vector<double>& x, double epsilon) {
  double mean = 0, square = 0;
  for (const double one : x) mean += one / static_cast<double>(x.size());
  for (const double one : x) square += (one - mean) * (one - mean) / static_cast<double>(x.size());
  std::vector<double> y;
  for (const double one : x) y.push_back((one - mean) / std::sqrt(square + epsilon));
  return y;
}

// As newer exporters write it, and as older ones do.
TEST(Bounds, HoldNormalisationsOverLayers) {
  constexpr float epsilon = 1e-5F;
  for (const bool together : {true, false}) {
    const Joined net = joined([&](GraphBuilder& b, ValueId one, ValueId) {
      const ValueId scale = b.constant("scale", Array::of<float>({3}, std::vector<float>{1.5F, -0.5F, 1})),
                    shift = b.constant("shift", Array::of<float>({3}, std::vector<float>{0.1F, 0, -2}));
      if (together) return b.add("LayerNormalization", "out", {one, scale, shift}, {{"epsilon", epsilon}});
      const auto mean = [&](ValueId id) {
        return b.add("ReduceMean", "", {id, b.constant("", integers({-1}))}, {{"keepdims", std::int64_t{1}}});
      };
      const ValueId deviation = b.add("Sub", "", {one, mean(one)});
      const ValueId square = mean(b.add("Pow", "", {deviation, number(b, 2)}));
      const ValueId root = b.add("Sqrt", "", {b.add("Add", "", {square, number(b, epsilon)})});
      return b.add("Add", "out", {b.add("Mul", "", {b.add("Div", "", {deviation, root}), scale}), shift});
    });
    expect_to_hold(
        net.graph, 4,
        [&](const std::vector<double>& x) {
          const std::vector<double> y = normalised(dense(net.one, x), static_cast<double>(epsilon));
          return std::vector<double>{1.5 * y[0] + static_cast<double>(0.1F), -0.5 * y[1], y[2] - 2};
        },
        together ? "LayerNormalization" : "its parts");
  }
}

// A gate that falls, or one that has two steps, makes no valley: intervals go from node to node.
TEST(Bounds, HoldProductsWithGatesThatAreNone) {
  const std::vector<Smooth> none{
      {"x sigmoid(-x)",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Mul", "", {x, b.add("Sigmoid", "", {b.add("Mul", "", {x, number(b, -1)})})});
       },
       [](double x) { return x * logistic(-x); }},
      {"-x sigmoid(x)",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Mul", "", {number(b, -1), b.add("Mul", "", {x, b.add("Sigmoid", "", {x})})});
       },
       [](double x) { return -silu(x); }},
      {"x sigmoid(x + 9)",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Mul", "", {x, b.add("Sigmoid", "", {b.add("Add", "", {x, number(b, 9)})})});
       },
       [](double x) { return x * logistic(x + 9); }},
      {"x (0.3 + erf(x))",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Mul", "", {x, b.add("Add", "", {b.add("Erf", "", {x}), number(b, 0.3F)})});
       },
       [](double x) { return x * (static_cast<double>(0.3F) + std::erf(x)); }},
      {"x clip(x, 1, 2)",
       [](GraphBuilder& b, ValueId x) {
         return b.add("Mul", "", {x, b.add("Clip", "", {x, number(b, 1), number(b, 2)})});
       },
       [](double x) { return x * std::clamp(x, 1.0, 2.0); }}};
  for (const Smooth& smooth : none) {
    GraphBuilder b("none");
    b.output(smooth.add(b, b.input("input", DType::float32, {-1, 1})));
    const Session session(b.build(), reference);
    const BoundedNetwork network(session);
    for (const double centre : {-12.0, -1.3, -0.1, 0.6, 3.0}) {
      const Box box{{centre - 2}, {centre + 2}};
      for (const Method method : {Method::interval, Method::crown}) {
        const Box found = network.outputs_over({&box, 1}, method)[0];
        for (int i = 0; i <= 400; ++i) {
          const double y = smooth.at(centre + i / 100.0 - 2);
          EXPECT_LE(found.low[0], y) << smooth.name << " around " << centre;
          EXPECT_GE(found.high[0], y) << smooth.name << " around " << centre;
        }
      }
    }
  }
}

// A network of one number, bounded over one box: what both methods say.
std::vector<Box> bounded(const std::function<ValueId(GraphBuilder&, ValueId)>& add, const Box& box) {
  GraphBuilder b("one");
  b.output(add(b, b.input("input", DType::float32, {-1, 1})));
  const Session session(b.build(), reference);
  const BoundedNetwork network(session);
  std::vector<Box> found;
  for (const Method method : {Method::interval, Method::crown})
    found.push_back(network.outputs_over({&box, 1}, method)[0]);
  return found;
}

// Of numbers beyond float32 nothing is known, and so nothing of what they decide.
TEST(Bounds, OfChoicesByWhatOverflowsAreOfBothSides) {
  const auto choice = [](GraphBuilder& b, ValueId x) {
    const ValueId square = b.add("Mul", "", {x, x});
    return b.add("Where", "", {b.add("Greater", "", {square, number(b, 1e30F)}), number(b, 5), number(b, 0)});
  };
  for (const Box& found : bounded(choice, {{0}, {1e20}})) {
    EXPECT_FALSE(found.low[0] > 0);
    EXPECT_FALSE(found.high[0] < 5);
  }
}

TEST(Bounds, OfTwoChoicesByOneComparison) {
  const auto choices = [](GraphBuilder& b, ValueId x) {
    const ValueId great = b.add("Greater", "", {x, number(b, 0)});
    const ValueId one = b.add("Where", "", {great, number(b, 1), number(b, 2)});
    return b.add("Add", "", {one, b.add("Where", "", {great, number(b, 3), number(b, 5)})});
  };
  for (const Box& found : bounded(choices, {{-1}, {1}})) {
    EXPECT_LE(found.low[0], 4);
    EXPECT_GE(found.high[0], 7);
  }
}

// The lowest point is where the gate's scale puts it, near 0 or far from it.
TEST(Bounds, HoldValleysOfAnyScale) {
  for (const double scale : {1e-8, 1e-3, 1.0, 1e4, 1e8}) {
    const auto valley = [&](GraphBuilder& b, ValueId x) {
      const ValueId scaled = b.add("Mul", "", {x, number(b, static_cast<float>(scale))});
      return b.add("Mul", "", {x, b.add("Sigmoid", "", {scaled})});
    };
    const double lowest = -1.2784645427610738 / scale;
    for (const Box& found : bounded(valley, {{2 * lowest}, {0}}))
      EXPECT_LE(found.low[0], 0.999999 * silu(lowest * scale) / scale) << scale;
  }
}

// A sum takes digits from the gate's operand, and the next one leaves nothing that says so: -1.28125 is
// rounded to a sixteenth.
TEST(Bounds, HoldGatesOfWhatCancels) {
  const auto gate = [](GraphBuilder& b, ValueId x) {
    const ValueId far = b.add("Add", "", {x, number(b, 1e6F)});
    return b.add("Mul", "", {x, b.add("Sigmoid", "", {b.add("Sub", "", {far, number(b, 1e6F)})})});
  };
  const double x = -1.28125, rounded = -1.25;
  for (const Box& found : bounded(gate, {{-1.29}, {-1.27}})) EXPECT_LE(found.low[0], x * logistic(rounded));
}

// Of different shapes, and where the comparison is of another value than what is chosen.
TEST(Bounds, HoldChoicesBetweenTwoValues) {
  const Joined net = joined([](GraphBuilder& b, ValueId one, ValueId other) {
    const ValueId great = b.add("GreaterOrEqual", "", {one, other});
    return b.add("Where", "out", {great, b.add("Mul", "", {one, number(b, 2)}), number(b, 0.25F)});
  });
  const Session session(net.graph, reference);
  const BoundedNetwork network(session);
  Rng rng(23);
  for (const double radius : {0.0, 0.01, 0.6}) {
    for (int round = 0; round < 20; ++round) {
      Box box;
      for (int i = 0; i < 4; ++i) {
        const double centre = rng.uniform(-1, 1);
        box.low.push_back(centre - radius), box.high.push_back(centre + radius);
      }
      for (const Method method : {Method::interval, Method::crown}) {
        const Box found = network.outputs_over({&box, 1}, method)[0];
        for (int draw = 0; draw < 100; ++draw) {
          std::vector<double> x;
          for (std::size_t i = 0; i < 4; ++i) x.push_back(rng.uniform(box.low[i], box.high[i]));
          const std::vector<double> one = dense(net.one, x), other = dense(net.other, x);
          for (std::size_t o = 0; o < 3; ++o) {
            const double y = one[o] >= other[o] ? 2 * one[o] : 0.25;
            ASSERT_LE(found.low[o], y) << radius;
            ASSERT_GE(found.high[o], y) << radius;
            if (radius == 0) {
              ASSERT_LT(found.high[o] - found.low[o], 1e-4);
            }
          }
        }
      }
    }
  }
}

TEST(Bounds, RefuseOtherPowersAndFallingFunctionsByName) {
  const auto refusal = [](const std::function<ValueId(GraphBuilder&, ValueId)>& add) -> std::string {
    Net net("odd");
    const ValueId x = net.dense("d", net.input({-1, 4}), 4, 3);
    const Session session(net.build(add(net.builder, x)), one_thread);
    try {
      BoundedNetwork network(session);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(refusal([](GraphBuilder& b, ValueId x) {
                return b.add("Pow", "power", {x, number(b, 4)});
              }),
              testing::AllOf(HasSubstr("node 'power' (Pow)"), HasSubstr("another exponent than 2 or 3")));
  EXPECT_THAT(refusal([](GraphBuilder& b, ValueId x) {
                return b.add("Elu", "elu", {x}, {{"alpha", -1.0F}});
              }),
              HasSubstr("node 'elu' (Elu) has a negative alpha"));
  EXPECT_THAT(refusal([](GraphBuilder& b, ValueId x) {
                const ValueId great = b.add("Greater", "great", {x, number(b, 0)});
                return b.add("Mul", "", {x, b.add("Cast", "", {great}, {{"to", std::int64_t{1}}})});
              }),
              HasSubstr("node 'great' (Greater) compares for something other than a Where"));
  EXPECT_THAT(refusal([](GraphBuilder& b, ValueId x) {
                const ValueId none = b.add("Not", "", {b.add("Greater", "", {x, number(b, 0)})});
                return b.add("Where", "choice", {none, x, number(b, 0)});
              }),
              HasSubstr("compares for something other than a Where"));
}

}  // namespace
}  // namespace assay::test
