#include <assay/records.h>

#include <cmath>
#include <limits>
#include <numeric>

#include <assay/dataset.h>
#include <assay/extend/random.h>
#include "assay/data/files/numpy.h"
#include "assay/data/views.h"
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t count = 1100;  // more than two of the steps in which contents are hashed

std::vector<float> elements() {
  Rng rng(3);
  std::vector<float> values(static_cast<std::size_t>(count) * 6);
  for (float& value : values) value = static_cast<float>(rng.uniform());
  return values;
}

std::vector<std::int64_t> classes() {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(i % 4);
  return labels;
}

Array pictures() { return Array::of<float>({count, 1, 2, 3}, elements()); }

Array masks() {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count * 2; ++i) values.push_back(i % 3);
  return Array::of<std::int64_t>({count, 2}, values);
}

// The same records, written one by one.
DatasetPtr written(bool with_mask = false) {
  DatasetFacts facts{.size = static_cast<std::size_t>(count), .record_shape = {1, 2, 3}};
  facts.class_names = {"a", "b", "c", "d"};
  if (with_mask) {
    facts.input_name = "picture";
    facts.others = {{"mask", {2}, DType::int64}};
  }
  return from_function(std::move(facts), [all = elements()](std::size_t index, Record& record) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(index * 6), 6, record.inputs[0].values.begin());
    for (std::size_t i = 0; record.inputs.size() > 1 && i < 2; ++i)
      record.inputs[1].tokens[i] = static_cast<std::int64_t>(index * 2 + i) % 3;
    record.label = static_cast<std::int64_t>(index % 4);
  });
}

// In batches of another size and order, what a record is does not change.
void expect_same_records(const Dataset& a, const Dataset& b) {
  ASSERT_EQ(a.size(), b.size());
  std::vector<std::size_t> order(a.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(5).shuffle(order);
  for (std::size_t begin = 0; begin < order.size(); begin += 97) {
    const auto indices = std::span(order).subspan(begin, std::min<std::size_t>(97, order.size() - begin));
    const Batch left = a.read(indices), right = b.read(indices);
    const auto x = left.inputs.as<float>(), y = right.inputs.as<float>();
    ASSERT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end()));
    ASSERT_EQ(left.inputs.shape(), right.inputs.shape());
    ASSERT_EQ(left.labels, right.labels);
    ASSERT_TRUE(std::equal(left.indices.begin(), left.indices.end(), indices.begin(), indices.end()));
    ASSERT_EQ(left.others.size(), right.others.size());
    for (std::size_t o = 0; o < left.others.size(); ++o) {
      const auto u = left.others[o].values.as<std::int64_t>(), v = right.others[o].values.as<std::int64_t>();
      ASSERT_TRUE(std::equal(u.begin(), u.end(), v.begin(), v.end()));
    }
  }
}

TEST(Records, AreTheSameWhereverTheyComeFrom) {
  const DatasetPtr arrays = from_arrays(pictures(), classes());
  const std::string path = temporary("same.npz").string();
  write_npz(path, {{"x", pictures()}, {"y", Array::of<std::int64_t>({count}, classes())}});
  const DatasetPtr file = open_dataset(path);
  for (const DatasetPtr& other : {file, written()}) {
    expect_same_records(*arrays, *other);
    EXPECT_EQ(arrays->hash(), other->hash());
    EXPECT_EQ(arrays->class_count(), other->class_count());
    EXPECT_EQ(arrays->label(7), other->label(7));
    EXPECT_EQ(arrays->id(7), other->id(7));
  }
  auto values = elements();
  values.back() += 1;
  EXPECT_NE(arrays->hash(), from_arrays(Array::of<float>({count, 1, 2, 3}, values), classes())->hash());
  auto labels = classes();
  labels.back() = 0;
  EXPECT_NE(arrays->hash(), from_arrays(pictures(), labels)->hash());
  EXPECT_NE(arrays->hash(), from_arrays(pictures().reshape({count, 6}), classes())->hash());
}

TEST(Records, AreReadInAnyOrderAndThroughViews) {
  const DatasetPtr whole = from_arrays(pictures(), classes());
  std::vector<std::size_t> first(300), rest(static_cast<std::size_t>(count) - 300);
  std::iota(first.begin(), first.end(), std::size_t{0});
  std::iota(rest.begin(), rest.end(), std::size_t{300});
  expect_same_records(*whole, *joined({selected(whole, first), selected(whole, rest)}));
  EXPECT_EQ(values(*selected(whole, {42}), 0), values(*whole, 42));
  const Batch twice = whole->read(std::vector<std::size_t>{9, 9});
  EXPECT_EQ(twice.labels, (std::vector<std::int64_t>{1, 1}));
}

TEST(Records, HaveSeveralInputs) {
  const DatasetPtr arrays = from_arrays({{"picture", pictures()}, {"mask", masks()}}, classes());
  const std::string path = temporary("several.npz").string();
  std::vector<std::size_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), std::size_t{0});
  write_npz(path, arrays_of(arrays->read(all)));
  const DatasetPtr file = open_dataset(path + ",inputs=picture+mask");
  for (const DatasetPtr& other : {file, written(true)}) {
    expect_same_records(*arrays, *other);
    EXPECT_EQ(arrays->hash(), other->hash());
    EXPECT_EQ(other->facts().input_name, "picture");
    EXPECT_EQ(other->facts().others.at(0).name, "mask");
    EXPECT_EQ(other->facts().others.at(0).record_shape, (Shape{2}));
  }
  EXPECT_NE(arrays->hash(), from_arrays(pictures(), classes())->hash());
  EXPECT_NE(arrays->hash(), from_arrays({{"picture", pictures()}, {"types", masks()}}, classes())->hash());
  // Views keep all inputs.
  const DatasetPtr front = selected(arrays, {0, 1, 2}), back = selected(arrays, {3, 4, 5, 6});
  expect_same_records(*selected(arrays, {0, 1, 2, 3, 4, 5, 6}), *joined({front, back}));
  const DatasetPtr plain = from_arrays(pictures(), classes());
  expect_error(Fault::mismatch, {"cannot be joined", "give the second the same", "inputs=picture+mask"}, [&] {
    joined({arrays, plain});
  });
  expect_error(Fault::mismatch, {"cannot be joined", "give the first the same", "inputs=picture+mask"}, [&] {
    joined({plain, arrays});
  });
}

// An array whose name stands for labels is none where it is named as an input: the class that a generator
// is asked for, say.
TEST(Records, AnInputIsNoLabelBecauseOfItsName) {
  const std::string path = temporary("named.npz").string();
  write_npz(path, {{"x", masks()},
                   {"y", Array::of<std::int64_t>(
                             {count}, std::vector<std::int64_t>(static_cast<std::size_t>(count), 1))}});
  EXPECT_TRUE(open_dataset(path)->has_labels());
  EXPECT_FALSE(open_dataset(path + ",inputs=x+y")->has_labels());
  EXPECT_TRUE(open_dataset(path + ",inputs=x+y,y=y")->has_labels());
}

// The state of a streaming network has its records along the second axis.
TEST(Records, MayLieAlongAnotherAxis) {
  const std::string path = temporary("axis.npz").string();
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  write_npz(path, {{"x", Array::of<float>({3, 2}, numbers)},
                   {"s", Array::of<float>({1, 3, 2}, numbers)},
                   {"t", Array::of<float>({2, 3}, numbers)},
                   {"square", Array::of<float>({3, 3}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9})}});
  const std::size_t second[] = {1};
  const auto other = [&](const std::string& options) {
    const Batch batch = open_dataset(path + options)->read(second);
    const auto values = batch.others.at(0).values.as<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_EQ(other(",inputs=x+s"), (std::vector<float>{3, 4}));
  EXPECT_EQ(other(",inputs=x+t"), (std::vector<float>{2, 5}));
  EXPECT_EQ(other(",inputs=x+square"), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(other(",inputs=x+square,axis=square:1"), (std::vector<float>{2, 5, 8}));
  EXPECT_EQ(other(",inputs=x+square,axis=square:-1"), (std::vector<float>{2, 5, 8}));
  EXPECT_EQ(open_dataset(path + ",x=t,axis=1")->size(), 3U);
  EXPECT_EQ(open_dataset(path + ",inputs=x+s")->facts().others.at(0).record_shape, (Shape{1, 2}));
  expect_data_error(Fault::usage, {"axis=2", "[3, 2]"}, path + ",inputs=x+s,axis=x:2");
  expect_data_error(Fault::usage, {"axis=u:1 names no input"}, path + ",inputs=x+s,axis=u:1");
  expect_data_error(Fault::usage, {"which input is axis=1 for"}, path + ",inputs=x+s,axis=1");
}

TEST(Records, OfSeveralInputsNeedArraysThatFit) {
  const DatasetPtr arrays = from_arrays({{"picture", pictures()}, {"mask", masks()}}, classes());
  const std::string path = temporary("fit.npz").string();
  write_npz(path, {{"picture", pictures()},
                   {"mask", masks()},
                   {"short", Array::of<float>({2, 1}, std::vector<float>{1, 2})}});
  expect_data_error(Fault::data, {"no array is named 'masks'", "mask"}, path + ",inputs=picture+masks");
  expect_data_error(Fault::data, {"'short'", "1100"}, path + ",inputs=picture+short");
  expect_data_error(Fault::usage, {"'mask' twice"}, path + ",inputs=mask+mask");
  expect_data_error(Fault::usage, {"x= names the only input"}, path + ",x=mask,inputs=picture+mask");
  expect_data_error(Fault::usage, {"inputs= is for the format numpy", "this is digits"},
                    "digits:3,inputs=a+b");
  expect_error(Fault::usage, {"a different, non-empty name"}, [&] {
    from_arrays({{"a", pictures()}, {"a", masks()}}, classes());
  });
  expect_error(Fault::mismatch, {"2 rows of input 'b'", "1100 records"}, [&] {
    from_arrays({{"a", pictures()}, {"b", Array::of<float>({2, 1}, std::vector<float>{1, 2})}}, classes());
  });
}

TEST(Records, TakeTargetsIdsNamesAndARange) {
  const Array inputs = Array::of<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const DatasetPtr data =
      from_arrays(inputs, {},
                  {.name = "wheel",
                   .ids = {"left", "right"},
                   .targets = Array::of<double>({2, 2}, std::vector<double>{0.5, 1, 1.5, 2}),
                   .valid_range = ValidRange{{0}, {9}}});
  EXPECT_THAT(ids(*data), ElementsAre("left", "right"));
  EXPECT_EQ(data->target_width(), 2U);
  EXPECT_FALSE(data->has_labels());
  EXPECT_EQ(data->valid_range()->high[0], 9.0F);
  EXPECT_THAT(data->describe(), ::testing::HasSubstr("wheel (arrays, 2 records [3], 2 targets)"));
  const Batch batch = data->read(std::vector<std::size_t>{1, 0});
  EXPECT_THAT(batch.targets.as<float>(), ElementsAre(1.5F, 2, 0.5F, 1));
  EXPECT_THAT(batch.inputs.as<float>(), ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_EQ(from_arrays(Array::of<std::int32_t>({1, 2}, std::vector<std::int32_t>{7, 8}))->dtype(),
            DType::int64);
}

TEST(Records, ThatDoNotFitAreRefused) {
  const Array two = Array::of<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto refused = [](Fault fault, const std::vector<std::string>& parts, const Array& inputs,
                          std::vector<std::int64_t> labels = {}, RecordOptions options = {}) {
    expect_error(fault, parts, [&] { from_arrays(inputs, labels, options); });
  };
  refused(Fault::mismatch, {"3 labels", "2 records"}, two, {0, 1, 2});
  refused(Fault::usage, {"record '1'", "-1", "not a class number"}, two, {0, -1});
  refused(Fault::usage, {"record 'b'", "label 2", "2 classes"}, two, {0, 2},
          {.ids = {"a", "b"}, .class_names = {"x", "y"}});
  refused(Fault::usage, {"names of classes, but no labels"}, two, {}, {.class_names = {"x", "y"}});
  refused(Fault::mismatch, {"1 ids", "2 records"}, two, {}, {.ids = {"a"}});
  refused(Fault::mismatch, {"3 rows of targets"}, two, {}, {.targets = Array::zeros(DType::float32, {3})});
  refused(Fault::usage, {"targets are floating-point numbers", "int64"}, two, {},
          {.targets = Array::zeros(DType::int64, {2})});
  refused(Fault::usage, {"for 3 channels"}, two, {}, {.valid_range = ValidRange{{0, 0}, {1, 1}}});
  refused(Fault::usage, {"is empty"}, two, {}, {.valid_range = ValidRange{{1}, {1}}});
  refused(Fault::usage, {"no records"}, Array::zeros(DType::float32, {0, 3}));
  refused(Fault::usage, {"no elements"}, Array::zeros(DType::float32, {2, 0}));
  refused(Fault::usage, {"uint8", "convert"}, Array::zeros(DType::uint8, {2, 3}));
  refused(Fault::usage, {"single number"}, Array::zeros(DType::float32, {}));
  expect_error(Fault::usage, {"there are no inputs"}, [] { from_arrays(std::vector<NamedArray>{}); });
  expect_error(Fault::usage, {"no record at position 2"},
               [&] { from_arrays(two)->read(std::vector<std::size_t>{2}); });
}

TEST(Records, WithNaNAreNamedWhenRead) {
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const Array inputs = Array::of<float>({2, 2}, std::vector<float>{1, 2, 3, value});
    const DatasetPtr data = from_arrays(inputs, {}, {.ids = {"good", "bad"}});
    EXPECT_NO_THROW(data->read(std::vector<std::size_t>{0}));
    expect_error(Fault::data, {"record 'bad'", "NaN"}, [&] { data->read(std::vector<std::size_t>{0, 1}); });
    expect_error(Fault::data, {"record 'bad'"}, [&] { data->hash(); });
    expect_error(Fault::data, {"input 'table' of record '1'"}, [&] {
      from_arrays({{"x", Array::zeros(DType::float32, {2, 1})}, {"table", inputs}})
          ->read(std::vector<std::size_t>{1});
    });
    expect_error(Fault::data, {"a target of record '1'"}, [&] {
      from_arrays(Array::zeros(DType::float32, {2, 1}), {},
                  {.targets = Array::of<float>({2}, std::vector<float>{0, value})})
          ->read(std::vector<std::size_t>{0, 1});
    });
  }
}

TEST(Function, IsAskedForWhatIsReadAndNoMore) {
  std::vector<std::size_t> asked;
  const DatasetPtr data = from_function(
      {.size = 1'000'000, .record_shape = {2}},
      [&](std::size_t index, Record& record) {
        asked.push_back(index);
        record.inputs[0].values[1] = static_cast<float>(index);
      },
      [](std::size_t index) { return "n" + std::to_string(index); });
  EXPECT_TRUE(asked.empty());
  EXPECT_THAT(values(*data, 999'999), ElementsAre(0, 999'999));
  EXPECT_THAT(asked, ElementsAre(999'999));
  EXPECT_EQ(data->id(3), "n3");
  EXPECT_THAT(data->describe(), ::testing::HasSubstr("function, 1000000 records [2]"));
}

TEST(Function, ThatWritesWhatIsNoRecordIsRefused) {
  const auto made = [](DatasetFacts facts, std::int64_t label, float value) {
    return from_function(std::move(facts), [=](std::size_t, Record& record) {
      record.label = label;
      record.inputs[0].values[0] = value;
    });
  };
  const DatasetFacts two{.size = 3, .record_shape = {1}, .class_names = {"a", "b"}};
  EXPECT_EQ(made(two, 1, 0)->label(0), 1);
  expect_error(Fault::data, {"record '2'", "label 2", "2 classes"}, [&] { made(two, 2, 0)->label(2); });
  expect_error(Fault::data, {"record '0'", "NaN"}, [&] { values(*made(two, 0, std::nanf("")), 0); });
  expect_error(Fault::usage, {"no records"}, [&] { made({.record_shape = {1}}, 0, 0); });
  expect_error(Fault::usage, {"not uint8"},
               [&] { made({.size = 1, .record_shape = {1}, .dtype = DType::uint8}, 0, 0); });
  expect_error(Fault::usage, {"no function"}, [&] { from_function(two, {}); });
}

// What a format of one's own needs at least.
class Ramp final : public Dataset {
 public:
  Ramp() : Dataset({.size = 4, .record_shape = {1}, .has_labels = true, .class_names = {"even", "odd"}}) {}
  Batch read(std::span<const std::size_t> indices) const override {
    Batch batch;
    std::vector<float> values;
    for (const std::size_t i : indices) {
      batch.indices.push_back(i);
      batch.labels.push_back(static_cast<std::int64_t>(i % 2));
      values.push_back(static_cast<float>(i));
    }
    batch.inputs = Array::of<float>({static_cast<std::int64_t>(indices.size()), 1}, values);
    return batch;
  }
};

TEST(OwnDataset, NeedsFactsAndReadOnly) {
  const Ramp ramp;
  EXPECT_EQ(ramp.id(2), "2");
  EXPECT_EQ(ramp.label(3), 1);
  EXPECT_EQ(ramp.class_count(), 2U);
  EXPECT_EQ(ramp.hash(),
            from_arrays(Array::of<float>({4, 1}, std::vector<float>{0, 1, 2, 3}), {0, 1, 0, 1})->hash());
}

// Facts that read() does not keep.
class Unkept final : public Dataset {
 public:
  Unkept(DatasetFacts facts, Batch batch) : Dataset(std::move(facts)), batch_(std::move(batch)) {}
  Batch read(std::span<const std::size_t>) const override { return batch_; }

 private:
  Batch batch_;
};

TEST(OwnDataset, IsReadAsItsFactsPromise) {
  const DatasetFacts facts{.size = 2, .record_shape = {1}, .description = "mine"};
  const Array one = Array::zeros(DType::float32, {1, 1}), two = Array::zeros(DType::float32, {2, 1});
  const auto expect_refused = [&](const std::string& what, const DatasetFacts& of, Batch batch) {
    const auto set = std::make_shared<Unkept>(of, std::move(batch));
    expect_error(Fault::data, {"mine", what}, [&] { BatchReader(set, 2).next(); });
    expect_error(Fault::data, {"mine", "promise"}, [&] {
      joined({set, set})->read(std::vector<std::size_t>{0, 1});
    });
  };
  DatasetFacts labelled = facts, aimed = facts;
  labelled.has_labels = true, labelled.class_names = {"a", "b"};
  aimed.target_width = 2;
  Batch whole;
  whole.indices = {0, 1};
  whole.inputs = two;
  EXPECT_TRUE(BatchReader(std::make_shared<Unkept>(facts, whole), 2).next());
  expect_refused("labels", labelled, whole);
  expect_refused("targets", aimed, whole);
  whole.inputs = one;
  expect_refused("inputs", facts, whole);
  expect_refused("positions", facts, {});
  expect_error(Fault::data, {"mine", "promise"}, [&] { Unkept(labelled, whole).label(0); });
}

TEST(DataSets, AreGiven) {
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [] { selected(nullptr, {0}); }, [] { relabelled(nullptr, {0}); }, [] { joined({nullptr}); },
           [] { BatchReader(nullptr, 1); }, [] { NamedDataset("none", nullptr); }})
    expect_error(Fault::usage, {"no data set is given"}, call);
}

}  // namespace
}  // namespace assay::testing
