#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

Array counted_array(const Shape& shape, double first = 0, DType type = DType::float64) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<double>(i);
  return Array::of(shape, values).to(type);
}

Array positions_array(Shape shape, const std::vector<std::int64_t>& values) {
  return Array::of(std::move(shape), values);
}

std::vector<double> elements_of(const Array& array) {
  const Array list = array.detach().contiguous().to(DType::float64);
  return {list.as<double>().begin(), list.as<double>().end()};
}

void expect_elements(const Array& array, const Shape& shape, const std::vector<double>& values) {
  EXPECT_EQ(array.shape(), shape);
  EXPECT_EQ(elements_of(array), values);
}

void expect_model_error(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::model) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// Gradients of the sum of the squared result against central differences.
void expect_slopes(const std::function<Array(const Arrays&)>& call, const Arrays& inputs) {
  const auto loss = [&](const Arrays& at) {
    const Array result = call(at);
    return sum(result * result);
  };
  Arrays points;
  for (const Array& input : inputs) points.push_back(input.requires_grad_());
  const Array total = loss(points);
  const Arrays found = gradients(std::span(&total, 1), points);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    ASSERT_TRUE(found[k].defined()) << k;
    ASSERT_EQ(found[k].shape(), inputs[k].shape());
    const std::vector<double> slopes = elements_of(found[k]);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      const auto moved = [&](double by) {
        Arrays at = inputs;
        at[k] = inputs[k].contiguous().clone();
        at[k].elements<double>()[i] += by;
        return loss(at).item<double>();
      };
      EXPECT_NEAR(slopes[i], (moved(1e-4) - moved(-1e-4)) / 2e-4, 1e-5) << k << ", " << i;
    }
  }
}

// Squares of 16 and what is left of them, alone and as parts of more axes, for elements of every size.
TEST(Indexing, CopiesOfTransposedArraysHaveEveryElement) {
  for (const DType type : {DType::float64, DType::float32, DType::float16, DType::int8}) {
    for (const Shape& shape : {Shape{1, 40}, Shape{17, 33}, Shape{16, 16}, Shape{3, 100}, Shape{70, 2},
                               Shape{3, 20, 37}, Shape{2, 37, 1, 18}}) {
      Array counted = counted_array(shape);
      counted = (counted - 100 * (counted / 100).floor()).to(type);
      const auto last = std::ssize(shape) - 1;
      const Array copy = counted.transpose(last - 1, last).contiguous().to(DType::float64);
      const std::vector<double> before = elements_of(counted), after = elements_of(copy);
      const std::int64_t rows = shape[last - 1], columns = shape[last];
      for (std::int64_t i = 0; i < counted.count(); ++i) {
        const std::int64_t matrix = i / (rows * columns), place = i % (rows * columns);
        ASSERT_EQ(after[matrix * rows * columns + place % columns * rows + place / columns], before[i])
            << to_string(shape) << " " << to_string(type) << " " << i;
      }
    }
  }
}

TEST(IndexSelect, TakesSlicesOfAnyAxis) {
  const Array a = counted_array({2, 3, 2});
  expect_elements(index_select(a, 1, positions_array({2}, {2, 0})), {2, 2, 2}, {4, 5, 0, 1, 10, 11, 6, 7});
  expect_elements(index_select(a, 0, positions_array({3}, {1, 1, 0})), {3, 3, 2},
                  {6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5});
  expect_elements(index_select(a, -1, positions_array({3}, {1, 0, 1})), {2, 3, 3},
                  {1, 0, 1, 3, 2, 3, 5, 4, 5, 7, 6, 7, 9, 8, 9, 11, 10, 11});
  expect_elements(index_select(a, 1, positions_array({}, {1})), {2, 1, 2}, {2, 3, 8, 9});
  expect_elements(index_select(a, 1, positions_array({0}, {})), {2, 0, 2}, {});
}

TEST(IndexSelect, TakesViewsEveryTypeAndInt32) {
  const Array positions = positions_array({4}, {1, 9, 0, 9}).slice(0, 0, 4, 2).to(DType::int32);
  for (const DType type :
       {DType::float32, DType::float64, DType::int64, DType::int32, DType::int8, DType::uint8}) {
    const Array picked = index_select(counted_array({2, 3}, 0, type).t(), 0, positions);
    EXPECT_EQ(picked.dtype(), type);
    expect_elements(picked, {2, 2}, {1, 4, 0, 3});
  }
  const Array truth = counted_array({2}).to(DType::boolean);
  expect_elements(index_select(truth, 0, positions), {2}, {1, 0});
  expect_elements(index_select(counted_array({1, 2}).expand({3, 2}), 0, positions), {2, 2}, {0, 1, 0, 1});
}

TEST(IndexSelect, TakesAScalarByItsOnlyPosition) {
  expect_elements(index_select(scalar(3, DType::float64), 0, positions_array({1}, {0})), {}, {3});
  expect_elements(index_select(scalar(3, DType::float64), 0, positions_array({}, {0})), {}, {3});
}

TEST(IndexSelect, NamesPositionsOutsideOfTheAxis) {
  const Array a = counted_array({2, 3});
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  expect_model_error(
      [&] {
        index_select(a, 1, positions_array({2}, {0, 3}));
      },
      "position 3 is outside of axis 1 of size 3");
  expect_model_error([&] { index_select(a, 0, positions_array({2}, {-1, 3})); }, "position -1");
  expect_model_error([&] { index_select(a, 0, positions_array({1}, {lowest})); }, std::to_string(lowest));
  expect_model_error([&] { index_select(a, 0, positions_array({1}, {lowest + 1})); },
                     std::to_string(lowest + 1));
  expect_model_error([&] { index_select(a, 0, positions_array({1}, {-(lowest + 1)})); }, "position 9223372");
  expect_model_error([&] { index_select(counted_array({0, 3}), 0, positions_array({1}, {0})); }, "of size 0");
  expect_model_error([&] { index_select(a, 2, positions_array({1}, {0})); }, "axis 2");
  expect_model_error([&] { index_select(a, 0, positions_array({1, 1}, {0})); }, "[1, 1]");
  expect_model_error([&] { index_select(a, 0, counted_array({1})); }, "float64");
}

TEST(IndexSelect, GivesTheSameOnSeveralThreads) {
  const Array table = counted_array({500, 300}, 0, DType::float32);
  std::vector<std::int64_t> values(700);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * 7919 % 300);
  const Array positions = positions_array({700}, values), rows = index_select(table, 0, positions),
              columns = index_select(table, 1, positions);
  set_loop_threads(3);
  EXPECT_TRUE(equal(index_select(table, 0, positions), rows));
  EXPECT_TRUE(equal(index_select(table, 1, positions), columns));
  set_loop_threads(0);
  for (std::int64_t i = 0; i < 700; i += 13) {
    const std::int64_t position = values[static_cast<std::size_t>(i)];
    EXPECT_EQ(rows.as<float>()[static_cast<std::size_t>(i * 300 + 299)],
              static_cast<float>(position * 300 + 299));
    EXPECT_EQ(columns.as<float>()[static_cast<std::size_t>(499 * 700 + i)],
              static_cast<float>(499 * 300 + position));
  }
}

TEST(Gather, TakesOneElementForEachPosition) {
  const Array x = Array::of({2, 4}, std::vector<double>{1, 5, 2, 0, 3, 0, 4, 2});
  expect_elements(gather(x, 1, positions_array({2, 3}, {3, 0, 0, 1, 2, 3})), {2, 3}, {0, 1, 1, 0, 4, 2});
  expect_elements(gather(x, 0, positions_array({3, 2}, {0, 1, 1, 1, 0, 0})), {3, 2}, {1, 0, 3, 0, 1, 5});
  expect_elements(gather(x.t(), 0, positions_array({1, 2}, {3, 2})), {1, 2}, {0, 4});
  expect_elements(gather(x, -1, positions_array({1, 1}, {2}).to(DType::int32)), {1, 1}, {2});
  expect_elements(gather(x, 1, positions_array({5, 0}, {})), {5, 0}, {});
  expect_elements(gather(scalar(3, DType::float64), 0, positions_array({2}, {0, 0})), {2}, {3, 3});
  expect_elements(gather(counted_array({2}), 0, positions_array({}, {1})), {}, {1});
}

TEST(Gather, TakesPositionsThatRepeatAlongAnAxis) {
  const Array a = counted_array({2, 3, 4});
  const Array positions = positions_array({2, 2, 1}, {2, 0, 1, 1});
  expect_elements(gather(a, 1, positions.expand({2, 2, 4})), {2, 2, 4},
                  {8, 9, 10, 11, 0, 1, 2, 3, 16, 17, 18, 19, 16, 17, 18, 19});
  expect_elements(gather(a, 1, positions.expand({2, 2, 4}).to(DType::int32)), {2, 2, 4},
                  {8, 9, 10, 11, 0, 1, 2, 3, 16, 17, 18, 19, 16, 17, 18, 19});
}

TEST(Gather, RefusesShapesAndPositionsThatDoNotFit) {
  const Array a = counted_array({2, 3});
  expect_model_error([&] { gather(a, 1, positions_array({3, 1}, {0, 0, 0})); }, "[3, 1]");
  expect_model_error([&] { gather(a, 1, positions_array({1}, {0})); }, "[1]");
  expect_model_error([&] { gather(a, 1, positions_array({}, {0})); }, "[]");
  expect_model_error(
      [&] {
        gather(a, 0, positions_array({1, 1}, {2}));
      },
      "position 2 is outside of axis 0 of size 2");
}

TEST(IndexGradients, GoToTheElementsThatWereTaken) {
  const Array a = counted_array({2, 3, 2}, -3);
  const Array some = positions_array({4}, {1, 0, 1, 1});
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    expect_slopes([&](const Arrays& at) { return index_select(at[0], axis, some); }, {a});
    expect_slopes([&](const Arrays& at) { return index_select(at[0].permute({2, 1, 0}), axis, some); }, {a});
    Shape shape{1, 1, 1};
    shape[static_cast<std::size_t>(axis)] = 4;
    expect_slopes([&](const Arrays& at) { return gather(at[0], axis, some.reshape(shape)); }, {a});
    shape[static_cast<std::size_t>((axis + 1) % 3)] = 2;
    expect_slopes(
        [&](const Arrays& at) {
          return gather(at[0], axis, some.reshape({4, 1, 1}).movedim(0, axis).expand(shape));
        },
        {a});
  }
  expect_slopes(
      [&](const Arrays& at) {
        return gather(at[0], 0, positions_array({2}, {0, 0}));
      },
      {scalar(3, DType::float64)});
  const Array narrow = counted_array({3}, 0, DType::float32).requires_grad_();
  const Array total = sum(index_select(narrow, 0, some));
  expect_elements(gradients(std::span(&total, 1), std::span(&narrow, 1))[0], {3}, {1, 3, 0});
}

TEST(IndexAdd, AddsSlicesInOrder) {
  const Array a = counted_array({2, 3}), values = counted_array({2, 2}, 10);
  expect_elements(index_add(a, 1, positions_array({2}, {2, 2}), values), {2, 3},
                  {0, 1, 2 + 10 + 11, 3, 4, 5 + 12 + 13});
  expect_elements(index_add(a, 0, positions_array({}, {1}), values.reshape({4}).slice(0, 0, 3).unsqueeze(0)),
                  {2, 3}, {0, 1, 2, 13, 15, 17});
  expect_elements(a, {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_elements(
      index_add(scalar(1, DType::float64), 0, positions_array({2}, {0, 0}), counted_array({2}, 2)), {}, {6});
  expect_elements(index_add(counted_array({2}, 127, DType::int8).fill_(127), 0, positions_array({1}, {0}),
                            counted_array({1}, 1, DType::int8)),
                  {2}, {-128, 127});
}

TEST(IndexCopy, LeavesTheLastSliceOfEachPosition) {
  const Array a = counted_array({3, 2}), values = counted_array({3, 2}, 10);
  expect_elements(index_copy(a, 0, positions_array({3}, {2, 0, 2}), values), {3, 2}, {12, 13, 2, 3, 14, 15});
  expect_elements(index_copy(a.t(), 1, positions_array({3}, {2, 0, 2}), values.t()), {2, 3},
                  {12, 2, 14, 13, 3, 15});
  expect_elements(index_copy(scalar(1, DType::int64), 0, positions_array({1}, {0}), scalar(4, DType::int64)),
                  {}, {4});
  expect_elements(a, {3, 2}, {0, 1, 2, 3, 4, 5});
}

TEST(IndexAdd, RefusesWhatDoesNotFit) {
  const Array a = counted_array({2, 3});
  expect_model_error([&] { index_add(a, 0, positions_array({1}, {0}), counted_array({3})); }, "[3]");
  expect_model_error([&] { index_add(a, 0, positions_array({2}, {0, 1}), counted_array({1, 3})); }, "[1, 3]");
  expect_model_error(
      [&] {
        index_copy(a, 0, positions_array({1}, {2}), counted_array({1, 3}));
      },
      "position 2");
  expect_model_error(
      [&] {
        index_copy(a, 0, positions_array({1}, {0}), counted_array({1, 3}, 0, DType::float32));
      },
      "float32");
}

TEST(IndexGradients, GoToWhatWasAddedAndCopied) {
  const Array a = counted_array({3, 2}, -2), values = counted_array({4, 2}, 1);
  const Array positions = positions_array({4}, {2, 0, 2, 0});
  expect_slopes([&](const Arrays& at) { return index_add(at[0], 0, positions, at[1]); }, {a, values});
  expect_slopes([&](const Arrays& at) { return index_copy(at[0], 0, positions, at[1]); }, {a, values});
  expect_slopes([&](const Arrays& at) { return index_copy(at[0].t(), 1, positions, at[1].t()); },
                {a, values});
  expect_slopes([&](const Arrays& at) { return index_copy(at[0], 0, positions_array({}, {0}), at[1]); },
                {scalar(2, DType::float64), scalar(3, DType::float64)});
}

TEST(MaskedSelect, TakesWhatIsTrueInOrder) {
  const Array a = counted_array({2, 3});
  const Array mask = Array::of({2, 3}, std::vector<float>{1, 0, 1, 0, 0, 1}).to(DType::boolean);
  expect_elements(masked_select(a, mask), {3}, {0, 2, 5});
  expect_elements(masked_select(a.t(), mask.t()), {3}, {0, 2, 5});
  expect_elements(masked_select(a, mask.slice(0, 0, 1)), {4}, {0, 2, 3, 5});
  expect_elements(masked_select(scalar(1), ones({2}, DType::boolean)), {2}, {1, 1});
  expect_elements(masked_select(scalar(1), ones({}, DType::boolean)), {1}, {1});
  expect_elements(masked_select(a, zeros({2, 3}, DType::boolean)), {0}, {});
  expect_slopes([&](const Arrays& at) { return masked_select(at[0], mask); }, {a});
  expect_slopes([&](const Arrays& at) { return masked_select(at[0], mask); }, {counted_array({3}, 1)});
  expect_model_error([&] { masked_select(a, ones({2}, DType::boolean)); }, "[2]");
}

TEST(Nonzero, GivesCoordinatesInOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_elements(nonzero(Array::of({2, 3}, std::vector<double>{1, 0, nan, -0.0, 0, -2})), {3, 2},
                  {0, 0, 0, 2, 1, 2});
  expect_elements(nonzero(Array::of({4}, std::vector<double>{nan, 0, -0.0, 3})), {2, 1}, {0, 3});
  expect_elements(nonzero(counted_array({2, 2, 2}).permute({2, 1, 0})), {7, 3},
                  {0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1});
  expect_elements(nonzero(scalar(1)), {1, 0}, {});
  expect_elements(nonzero(scalar(0)), {0, 0}, {});
  expect_elements(nonzero(zeros({2, 0, 3})), {0, 3}, {});
  expect_elements(nonzero(ones({1, 2}, DType::boolean)), {2, 2}, {0, 0, 0, 1});
}

TEST(Nonzero, FindsThoseOfManyPieces) {
  std::vector<float> values(200003, 0);
  std::vector<double> places;
  for (std::size_t i = 2; i < values.size(); i += i % 1000 + 1) {
    values[i] = 0.5F;
    places.push_back(static_cast<double>(i));
  }
  set_loop_threads(3);
  const Array found = nonzero(Array::of({static_cast<std::int64_t>(values.size())}, values));
  set_loop_threads(0);
  expect_elements(found, {static_cast<std::int64_t>(places.size()), 1}, places);
}

TEST(OneHot, MarksTheClass) {
  const Array marked = one_hot(positions_array({2, 2}, {0, 2, 1, 1}), 3);
  EXPECT_EQ(marked.dtype(), DType::int64);
  expect_elements(marked, {2, 2, 3}, {1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0});
  expect_elements(one_hot(positions_array({}, {1}), 3), {3}, {0, 1, 0});
  expect_elements(one_hot(positions_array({2}, {0, 2}).to(DType::int32), -1), {2, 3}, {1, 0, 0, 0, 0, 1});
  expect_elements(one_hot(positions_array({0}, {}), 3), {0, 3}, {});
  expect_model_error([&] { one_hot(positions_array({1}, {3}), 3); },
                     "position 3 is outside of axis 1 of size 3");
  expect_model_error([&] { one_hot(positions_array({1}, {-1}), -1); }, "position -1");
  expect_model_error([&] { one_hot(positions_array({0}, {}), -1); }, "-1 classes");
  expect_model_error([&] { one_hot(counted_array({1}), 3); }, "float64");
}

}  // namespace
}  // namespace assay::array
