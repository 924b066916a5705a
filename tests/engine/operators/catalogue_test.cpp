#include <algorithm>
#include <limits>

#include <assay/extend/random.h>
#include "assay/engine/operators/memory.h"
#include "fixture.h"

namespace assay::testing {
namespace {

TEST(Catalogue, IsNotEmptyAndSorted) {
  ASSERT_FALSE(kernels().empty());
  for (std::size_t i = 1; i < kernels().size(); ++i) EXPECT_LT(kernels()[i - 1].op, kernels()[i].op);
}

TEST(Catalogue, DoesNotFindWhatIsNotThere) {
  EXPECT_EQ(find_kernel("Absolute"), nullptr);
  EXPECT_EQ(find_kernel(""), nullptr);
  EXPECT_EQ(find_kernel("zzz"), nullptr);
  EXPECT_EQ(fault_of("Absolute", {array::ones({1})}), Fault::unsupported);
}

TEST(RunNode, NamesNodeInputsAndCause) {
  try {
    run("Add", {array::ones({2, 3}), array::ones({4})});
    FAIL();
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with("node 'n' (Add): ")) << what;
    EXPECT_NE(what.find("float32 [2, 3], float32 [4]"), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  }
}

class EveryOperator : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryOperator, IsFound) {
  const auto entry = std::ranges::find(kernels(), GetParam(), &KernelInfo::op);
  EXPECT_EQ(find_kernel(GetParam()), entry->run);
}

Array nonsense_tensor(Rng& random) {
  static const std::vector<DType> types{DType::float32, DType::float32, DType::float32, DType::float64,
                                        DType::int64,   DType::int64,   DType::int32,   DType::int8,
                                        DType::uint8,   DType::boolean};
  Ints shape;
  for (std::uint64_t rank = random.below(6); rank > 0; --rank) {
    shape.push_back(static_cast<std::int64_t>(random.below(8) == 0 ? 0 : 1 + random.below(4)));
  }
  const auto type = types[random.below(types.size())];
  const double scale = random.below(4) == 0 ? 1e4 : 3;
  Array tensor = tabulate(
      shape, [&](const Ints&) { return std::floor(scale * random.normal()); }, DType::int64);
  if (random.below(8) == 0) tensor = array::full_like(tensor, std::numeric_limits<std::int64_t>::lowest());
  return tensor.to(type);
}

Attribute nonsense_attribute(Rng& random) {
  static const Ints numbers{0,
                            1,
                            2,
                            3,
                            -1,
                            -2,
                            7,
                            1 << 20,
                            std::numeric_limits<std::int64_t>::max(),
                            std::numeric_limits<std::int64_t>::lowest()};
  const auto number = [&] { return numbers[random.below(random.below(2) ? 4 : numbers.size())]; };
  switch (random.below(6)) {
    case 0:
      return static_cast<float>(number());
    case 1:
      return std::vector<std::string>{"SAME_UPPER", "max", "linear", "reverse", ""}[random.below(5)];
    case 2:
    case 3: {
      Ints list;
      for (std::uint64_t n = random.below(7); n > 0; --n) list.push_back(number());
      return list;
    }
    default:
      return number();
  }
}

// Nothing a file can say may end the process: a kernel either computes or throws an Error.
TEST_P(EveryOperator, SurvivesNonsense) {
  static const std::vector<std::string> names{"axis",
                                              "axes",
                                              "group",
                                              "strides",
                                              "pads",
                                              "dilations",
                                              "kernel_shape",
                                              "auto_pad",
                                              "ceil_mode",
                                              "p",
                                              "to",
                                              "output_shape",
                                              "output_padding",
                                              "num_outputs",
                                              "perm",
                                              "blocksize",
                                              "mode",
                                              "k",
                                              "size",
                                              "alpha",
                                              "beta",
                                              "epsilon",
                                              "num_groups",
                                              "keepdims",
                                              "batch_dims",
                                              "reduction",
                                              "equation",
                                              "fmod",
                                              "hidden_size",
                                              "direction",
                                              "layout",
                                              "clip",
                                              "value",
                                              "dtype",
                                              "largest",
                                              "storage_order",
                                              "start",
                                              "end",
                                              "allowzero",
                                              "activations",
                                              "coordinate_transformation_mode",
                                              "nearest_mode",
                                              "count_include_pad",
                                              "training_mode",
                                              "momentum"};
  set_memory_limit(1 << 22);
  Rng random(7);
  int computed = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Array> inputs;
    for (std::uint64_t n = random.below(6); n > 0; --n) {
      inputs.push_back(random.below(6) == 0 ? Array() : nonsense_tensor(random));
    }
    Attributes attributes;
    for (const auto& name : names) {
      if (random.below(3) == 0) attributes[name] = nonsense_attribute(random);
    }
    try {
      run_all(GetParam(), inputs, attributes, 1 + random.below(3));
      ++computed;
    } catch (const Error& error) {
      EXPECT_NE(error.fault(), Fault::internal) << error.what();
    }
  }
  set_memory_limit(0);
  EXPECT_LT(computed, 300);
}

INSTANTIATE_TEST_SUITE_P(All, EveryOperator, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& kernel : kernels()) names.emplace_back(kernel.op);
                           return names;
                         }()),
                         [](const auto& test) { return test.param; });

TEST(MemoryLimit, RefusesLargeResultsBeforeAllocating) {
  const std::int64_t giant = std::int64_t{1} << 40;
  const Array x = array::ones({1, 1});
  EXPECT_EQ(fault_of("Expand", {x, ints({giant, giant})}), Fault::resources);
  EXPECT_EQ(fault_of("Tile", {x, ints({giant, 1})}), Fault::resources);
  EXPECT_EQ(fault_of("ConstantOfShape", {ints({giant, 4})}), Fault::resources);
  EXPECT_EQ(fault_of("Range", {ints({0})[0], ints({giant})[0], ints({1})[0]}), Fault::resources);
  EXPECT_EQ(fault_of("OneHot", {array::zeros({1 << 20}, DType::int64), ints({1 << 30}), array::ones({2})}),
            Fault::resources);
  set_memory_limit(1000);
  EXPECT_EQ(fault_of("Add", {array::ones({20, 1}), array::ones({20})}), Fault::resources);
  set_memory_limit(0);
  EXPECT_EQ(run("Add", {array::ones({20, 1}), array::ones({20})}).count(), 400);
}

TEST(MemoryLimit, LargeArraysBeginWithALargePage) {
  const Array x = array::arange(std::int64_t{3} << 20, DType::float32);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % (std::uintptr_t{2} << 20), 0U);
}

}  // namespace
}  // namespace assay::testing
