#include <assay/tensor_records.h>

#include <gmock/gmock.h>

#include <cmath>

#include <assay/array_math.h>
#include <assay/error.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::size_t> some{4, 0, 4};

void expect_refused(Fault fault, const std::string& part, const std::function<void()>& act) {
  try {
    act();
    ADD_FAILURE() << "no error with " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(TensorRecords, AreThoseOfTheSameArrays) {
  const Array values = array::arange(5 * 6, DType::float32).reshape({5, 1, 2, 3}),
              labels = array::tensor({0, 1, 2, 1, 0});
  const DatasetPtr arrays = from_arrays(values, {0, 1, 2, 1, 0});
  // Other element types, layouts and views of the same numbers.
  const Array wider = array::cat({values, values}, 3), turned = values.permute({3, 2, 1, 0}).contiguous();
  for (const Array& tensor :
       {values, values.to(DType::float64), values.to(DType::float16), values.to(DType::bfloat16),
        wider.narrow(3, 3, 3), turned.permute({3, 2, 1, 0})}) {
    const DatasetPtr data = from_tensors(tensor, labels);
    EXPECT_EQ(data->hash(), arrays->hash());
    EXPECT_EQ(data->record_shape(), arrays->record_shape());
    const Batch here = data->read(some), there = arrays->read(some);
    EXPECT_TRUE(array::equal(here.inputs, there.inputs));
    EXPECT_EQ(here.labels, there.labels);
  }
  for (const DType type : {DType::int32, DType::int16, DType::uint16, DType::uint32, DType::uint64})
    EXPECT_EQ(from_tensors(array::ones({2, 3}, type))->dtype(), DType::int64);
  EXPECT_THAT(
      from_tensors({{"a", values}, {"b", array::ones({5, 2}, DType::int64)}})->read(some).others.at(0).name,
      "b");
}

TEST(TensorRecords, AreHeldAndNotCopied) {
  Array values = array::zeros({3, 2});
  const DatasetPtr data = from_tensors(values);
  values.fill_(7);
  EXPECT_THAT(data->read(std::vector<std::size_t>{1}).inputs.as<float>(), ElementsAre(7, 7));
}

TEST(TensorRecords, ThatDoNotFitAreRefused) {
  const Array two = array::zeros({2, 3});
  expect_refused(Fault::usage, "not a tensor", [] { from_tensors(Array()); });
  expect_refused(Fault::usage, "no records", [] { from_tensors(array::zeros({0, 3})); });
  expect_refused(Fault::usage, "convert them", [] { from_tensors(array::zeros({2, 3}, DType::uint8)); });
  expect_refused(Fault::data, "more than an int64 holds", [] {
    from_tensors(array::full({2, 3}, ~std::uint64_t{0}, DType::uint64));
  });
  expect_refused(Fault::data, "the labels: 18446744073709551615",
                 [&] { from_tensors(two, array::full({2}, ~std::uint64_t{0}, DType::uint64)); });
  expect_refused(Fault::mismatch, "3 labels", [&] { from_tensors(two, array::tensor({0, 1, 2})); });
  expect_refused(Fault::usage, "one whole number per record", [&] { from_tensors(two, array::zeros({2})); });
  expect_refused(Fault::usage, "one whole number per record", [&] {
    from_tensors(two, array::zeros({2, 1}, DType::int64));
  });
  const Array broken = array::full({2, 2}, std::nanf(""));
  expect_refused(Fault::data, "record '0'", [&] { from_tensors(broken)->read(std::vector<std::size_t>{0}); });
}

}  // namespace
}  // namespace assay
