#include <assay/tensor_records.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>

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
  const Tensor values = at::arange(5 * 6, at::kFloat).reshape({5, 1, 2, 3}),
               labels = at::tensor({0, 1, 2, 1, 0});
  const DatasetPtr arrays = from_arrays(to_array(values), {0, 1, 2, 1, 0});
  // Other element types, layouts and views of the same numbers.
  const Tensor wider = at::cat({values, values}, 3), turned = values.permute({3, 2, 1, 0}).contiguous();
  for (const Tensor& tensor : {values, values.to(at::kDouble), values.to(at::kHalf), wider.narrow(3, 3, 3),
                               turned.permute({3, 2, 1, 0})}) {
    const DatasetPtr data = from_tensors(tensor, labels);
    EXPECT_EQ(data->hash(), arrays->hash());
    EXPECT_EQ(data->record_shape(), arrays->record_shape());
    const Batch here = data->read(some), there = arrays->read(some);
    EXPECT_TRUE(at::equal(to_tensor(here.inputs), to_tensor(there.inputs)));
    EXPECT_EQ(here.labels, there.labels);
  }
  EXPECT_EQ(from_tensors(at::ones({2, 3}, at::kInt))->dtype(), DType::int64);
  EXPECT_THAT(from_tensors({{"a", values}, {"b", at::ones({5, 2}, at::kLong)}})->read(some).others.at(0).name,
              "b");
}

TEST(TensorRecords, AreHeldAndNotCopied) {
  const Tensor values = at::zeros({3, 2});
  const DatasetPtr data = from_tensors(values);
  values.fill_(7);
  EXPECT_THAT(data->read(std::vector<std::size_t>{1}).inputs.as<float>(), ElementsAre(7, 7));
}

TEST(TensorRecords, ThatDoNotFitAreRefused) {
  const Tensor two = at::zeros({2, 3});
  expect_refused(Fault::usage, "no tensor", [] { from_tensors(Tensor()); });
  expect_refused(Fault::usage, "no records", [] { from_tensors(at::zeros({0, 3})); });
  expect_refused(Fault::usage, "convert them", [] { from_tensors(at::zeros({2, 3}, at::kByte)); });
  expect_refused(Fault::mismatch, "3 labels", [&] { from_tensors(two, at::tensor({0, 1, 2})); });
  expect_refused(Fault::usage, "one whole number per record", [&] { from_tensors(two, at::zeros({2})); });
  expect_refused(Fault::usage, "one whole number per record", [&] {
    from_tensors(two, at::zeros({2, 1}, at::kLong));
  });
  const Tensor broken = at::full({2, 2}, std::nanf(""));
  expect_refused(Fault::data, "record '0'", [&] { from_tensors(broken)->read(std::vector<std::size_t>{0}); });
}

}  // namespace
}  // namespace assay
