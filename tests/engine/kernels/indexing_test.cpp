#include <limits>

#include "fixture.h"

namespace assay::testing {
namespace {

Ints joined(Ints a, const Ints& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::int64_t wrapped(double index, std::int64_t size) {
  return static_cast<std::int64_t>(index) + (index < 0 ? size : 0);
}
Ints tail(const Ints& list, std::size_t from) {
  return Ints(list.begin() + static_cast<std::ptrdiff_t>(from), list.end());
}
Ints head(const Ints& list, std::size_t to) {
  return Ints(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(to));
}

TEST(Gather, TakesSlicesAtTheIndices) {
  const Tensor x = random_tensor({2, 3, 4}, 1), indices = ints({2, -1, 0, 1}).reshape({2, 2});
  const Tensor expected = tabulate({2, 2, 2, 4}, [&](const Ints& i) {
    return at_index(x, {i[0], wrapped(at_index(indices, {i[1], i[2]}), 3), i[3]});
  });
  EXPECT_TRUE(same(run("Gather", {x, indices}, {{"axis", std::int64_t{1}}}), expected));
  EXPECT_EQ(run("Gather", {x, ints({1})[0]}).sizes(), (Ints{3, 4}));
  EXPECT_TRUE(gradients_agree("Gather", {x, indices}, {{"axis", std::int64_t{1}}}));
  EXPECT_EQ(fault_of("Gather", {x, ints({2})}), Fault::model);
  EXPECT_EQ(fault_of("Gather", {x, ints({-3})}), Fault::model);
  EXPECT_EQ(fault_of("Gather", {x, ints({std::numeric_limits<std::int64_t>::lowest()})}), Fault::model);
  EXPECT_EQ(fault_of("Gather", {x, at::ones({1})}), Fault::model);
}

TEST(GatherElements, TakesSingleElements) {
  const Tensor x = random_tensor({3, 3}, 1), indices = ints({1, 2, -3, 0}).reshape({2, 2});
  const Tensor expected = tabulate({2, 2}, [&](const Ints& i) {
    return at_index(x, {wrapped(at_index(indices, i), 3), i[1]});
  });
  EXPECT_TRUE(same(run("GatherElements", {x, indices}), expected));
  EXPECT_TRUE(gradients_agree("GatherElements", {x, indices}));
  EXPECT_EQ(fault_of("GatherElements", {x, indices + 3}), Fault::model);
}

TEST(GatherNd, TakesSlicesAtTuplesOfIndices) {
  const Tensor x = random_tensor({2, 3, 4, 2}, 1);
  for (const std::int64_t batch : {0, 1}) {
    for (const std::int64_t depth : {1, 2, 3}) {
      Rng random(5);
      const Ints lead = batch == 0 ? Ints{3} : Ints{2, 3};
      const Tensor indices = tabulate(
          joined(lead, {depth}),
          [&](const Ints& i) {
            const auto size = static_cast<std::uint64_t>(x.size(batch + i.back()));
            return static_cast<double>(random.below(2 * size)) - static_cast<double>(size);
          },
          at::kLong);
      const Ints rest = tail(x.sizes().vec(), static_cast<std::size_t>(batch + depth));
      const Tensor expected = tabulate(joined(lead, rest), [&](const Ints& i) {
        Ints from = head(i, static_cast<std::size_t>(batch));
        for (std::int64_t d = 0; d < depth; ++d) {
          from.push_back(wrapped(at_index(indices, joined(head(i, lead.size()), {d})), x.size(batch + d)));
        }
        return at_index(x, joined(from, tail(i, lead.size())));
      });
      const Attributes attributes{{"batch_dims", batch}};
      EXPECT_TRUE(same(run("GatherND", {x, indices}, attributes), expected)) << batch << ' ' << depth;
      EXPECT_TRUE(gradients_agree("GatherND", {x, indices}, attributes));
    }
  }
  EXPECT_EQ(fault_of("GatherND", {x, ints({2})}), Fault::model);
  EXPECT_EQ(fault_of("GatherND", {x, ints({0, 0, 0, 0, 0})}), Fault::model);
  EXPECT_EQ(fault_of("GatherND", {x, ints({0})}, {{"batch_dims", std::int64_t{1}}}), Fault::model);
}

double combine(const std::string& reduction, double old, double update) {
  if (reduction == "add") return old + update;
  if (reduction == "mul") return old * update;
  if (reduction == "max") return std::max(old, update);
  if (reduction == "min") return std::min(old, update);
  return update;
}

TEST(ScatterElements, WritesOrCombinesSingleElements) {
  const Tensor x = random_tensor({3, 3}, 1), updates = random_tensor({2, 2}, 2);
  for (const std::string reduction : {"none", "add", "mul", "max", "min"}) {
    // Only a reduction makes duplicates meaningful.
    const Tensor indices = ints(reduction == "none" ? Ints{1, 2, -3, 0} : Ints{1, 2, 1, 0}).reshape({2, 2});
    Tensor expected = x.clone();
    for_each_index({2, 2}, [&](const Ints& i) {
      Tensor cell = expected[wrapped(at_index(indices, i), 3)][i[1]];
      cell.fill_(combine(reduction, cell.item<double>(), at_index(updates, i)));
    });
    const Attributes attributes{{"reduction", reduction}};
    EXPECT_TRUE(same(run("ScatterElements", {x, indices, updates}, attributes), expected)) << reduction;
    EXPECT_TRUE(gradients_agree("ScatterElements", {x, indices, updates}, attributes)) << reduction;
  }
  EXPECT_EQ(fault_of("ScatterElements", {x, ints({3}).reshape({1, 1}), at::ones({1, 1})}), Fault::model);
  EXPECT_EQ(fault_of("ScatterElements", {x, ints({0}).reshape({1, 1}), updates}), Fault::model);
  EXPECT_EQ(fault_of("ScatterElements", {x, ints({0, 0, 0, 0}).reshape({2, 2}), updates},
                     {{"reduction", std::string("median")}}),
            Fault::model);
}

TEST(ScatterNd, WritesOrCombinesSlices) {
  const Tensor x = random_tensor({3, 2, 2}, 1), updates = random_tensor({2, 2}, 2);
  for (const std::string reduction : {"none", "add", "mul", "max", "min"}) {
    const Tensor indices = ints(reduction == "none" ? Ints{2, 0, -3, 1} : Ints{2, 0, 2, 0}).reshape({2, 2});
    Tensor expected = x.clone();
    for_each_index({2, 2}, [&](const Ints& i) {
      Tensor cell =
          expected[wrapped(at_index(indices, {i[0], 0}), 3)][wrapped(at_index(indices, {i[0], 1}), 2)][i[1]];
      cell.fill_(combine(reduction, cell.item<double>(), at_index(updates, i)));
    });
    const Attributes attributes{{"reduction", reduction}};
    EXPECT_TRUE(same(run("ScatterND", {x, indices, updates}, attributes), expected)) << reduction;
    EXPECT_TRUE(gradients_agree("ScatterND", {x, indices, updates}, attributes)) << reduction;
  }
  EXPECT_EQ(fault_of("ScatterND", {x, ints({3, 0}).reshape({1, 2}), at::ones({1, 2})}), Fault::model);
  EXPECT_EQ(fault_of("ScatterND", {x, ints({0, 0}).reshape({1, 2}), updates}), Fault::model);
}

TEST(OneHot, PutsTheOnValueAtTheIndex) {
  const Tensor indices = ints({0, 2, -1, 7, -9}), values = floats({2}, {-1, 5});
  for (const std::int64_t axis : {0, -1}) {
    const Tensor expected = tabulate(axis == 0 ? Ints{3, 5} : Ints{5, 3}, [&](const Ints& i) {
      return wrapped(at_index(indices, {i[axis == 0 ? 1 : 0]}), 3) == i[axis == 0 ? 0 : 1] ? 5 : -1;
    });
    EXPECT_TRUE(same(run("OneHot", {indices, ints({3}), values}, {{"axis", axis}}), expected));
  }
  EXPECT_EQ(fault_of("OneHot", {indices, ints({0}), values}), Fault::model);
  EXPECT_EQ(fault_of("OneHot", {indices, ints({3}), floats({1}, {1})}), Fault::model);
}

TEST(NonZero, ListsCoordinates) {
  EXPECT_TRUE(same(run("NonZero", {floats({2, 2}, {1, 0, 3, 4})}), ints({0, 1, 1, 0, 0, 1}).reshape({2, 3})));
  EXPECT_EQ(run("NonZero", {at::zeros({2, 2})}).sizes(), (Ints{2, 0}));
}

TEST(Trilu, KeepsATriangle) {
  const Tensor x = random_tensor({2, 3, 4}, 1);
  for (const std::int64_t upper : {0, 1}) {
    for (const std::int64_t k : {-9, -1, 0, 2, 9}) {
      const Tensor expected = tabulate({2, 3, 4}, [&](const Ints& i) {
        return (upper ? i[2] - i[1] >= k : i[2] - i[1] <= k) ? at_index(x, i) : 0;
      });
      EXPECT_TRUE(same(run("Trilu", {x, ints({k})[0]}, {{"upper", upper}}), expected));
    }
    EXPECT_TRUE(gradients_agree("Trilu", {x}, {{"upper", upper}}));
  }
  const Tensor far = ints({std::numeric_limits<std::int64_t>::lowest()})[0];
  EXPECT_TRUE(same(run("Trilu", {x, far}), x));
  EXPECT_EQ(fault_of("Trilu", {at::ones({3})}), Fault::model);
}

}  // namespace
}  // namespace assay::testing
