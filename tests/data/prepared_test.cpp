#include <numeric>

#include "assay/data/files/numpy.h"
#include "assay/data/files/records_file.h"
#include "assay/data/spec.h"
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Twelve grey 2x2 pictures with labels 0, 2, 4, 0, 2, 4, ...: classes 1 and 3 are empty.
std::string put_twelve() {
  std::string pixels, marks;
  for (int i = 0; i < 48; ++i) pixels += static_cast<char>(i * 5);
  for (int i = 0; i < 12; ++i) marks += static_cast<char>(i % 3 * 2);
  put("t-labels-idx1-ubyte", idx_bytes(8, {12}, marks));
  return put("t-images-idx3-ubyte", idx_bytes(8, {12, 2, 2}, pixels));
}

std::vector<std::string> range_of(int begin, int end, int step = 1) {
  std::vector<std::string> result;
  for (int i = begin; i < end; i += step) result.push_back(std::to_string(i));
  return result;
}

TEST(Prepared, SlicesKeepIdsValuesAndLabels) {
  const std::string path = put_twelve();
  EXPECT_THAT(ids(*open_dataset(path + "[:5]")), ElementsAreArray(range_of(0, 5)));
  EXPECT_THAT(ids(*open_dataset(path + "[-3:]")), ElementsAreArray(range_of(9, 12)));
  EXPECT_THAT(ids(*open_dataset(path + "[::5]")), ElementsAreArray(range_of(0, 12, 5)));
  EXPECT_THAT(ids(*open_dataset(path + "[2:][::3][:2]")), ElementsAre("2", "5"));
  const auto whole = open_dataset(path), part = open_dataset(path + "[7:]");
  EXPECT_EQ(values(*part, 1), values(*whole, 8));
  EXPECT_EQ(part->label(1), whole->label(8));
  EXPECT_EQ(part->class_count(), whole->class_count());
}

TEST(Prepared, ValuesThatMeanNothingAreRefused) {
  const std::string path = put_twelve();
  const auto refuse = [&](const std::string& option, const std::string& part) {
    expect_data_error(Fault::usage, {part}, path + "," + option);
  };
  refuse("seed=-1", "seed=-1 is less than 0");
  refuse("seed=18446744073709551616", "whole number");
  refuse("flatten=2", "flatten=2 is neither 0 nor 1");
  refuse("flatten=yes", "whole number");
  refuse("scale=0", "leave nothing of the values");
  refuse("scale=1e-300", "leave nothing of the values");
  refuse("scale=1e308", "leave nothing of the values");
  refuse("mean=1e308", "leave nothing of the values");
  refuse("range=0:1e308", "32-bit numbers");
  refuse("per_class=1+2", "two numbers, 1 and 2");
  refuse("per_class=0:1+0:2", "names class '0' twice");
  refuse("label=class", "no table is given");
  refuse("target=angle", "no table is given");
  refuse("id=name", "no table is given");
  refuse("labels=", "labels= has no value");
  EXPECT_EQ(open_dataset(path + ",flatten=0")->record_shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(open_dataset(path + ",flatten=1")->record_shape(), (Shape{4}));
  expect_error(Fault::usage, {"NUL"}, [&] { open_dataset(path + std::string("\0x", 2)); });
}

TEST(Prepared, ARangeForEachChannel) {
  const std::string file = put("colours.csv", "1,2,3\n4,5,6\n");
  const auto range = open_dataset(file + ",range=-1:2.5+-2e1:2+0:1/4")->valid_range();
  ASSERT_TRUE(range);
  EXPECT_THAT(range->low, ElementsAre(-1, -20, 0));
  EXPECT_THAT(range->high, ElementsAre(2.5, 2, 0.25));
  const auto normalised = open_dataset(file + ",mean=0.5/1/0,std=2,range=0:1+0:2+-1:1")->valid_range();
  EXPECT_THAT(normalised->low, ElementsAre(-0.25, -0.5, -0.5));
  EXPECT_THAT(normalised->high, ElementsAre(0.25, 0.5, 0.5));
  EXPECT_EQ(range_option(*range), "range=-1:2.5+-20:2+0:0.25");
  const ValidRange wide{{-1e20F}, {1e20F}};
  EXPECT_EQ(open_dataset(file + "," + range_option(wide))->valid_range()->high, wide.high);
  expect_data_error(Fault::usage, {"2 numbers in range for 3 channels"}, file + ",range=0:1+0:1");
  for (const char* wrong : {"0:1+", "0:1+1:0:2", "1:1+0:1+0:1", "+0:1", "0:1/0:1", "0:nan"})
    expect_data_error(Fault::usage, {"range"}, file + ",range=" + wrong);
}

TEST(Prepared, RecordsThatAFileNamesInItsOrder) {
  const std::string path = put_twelve();
  const auto named = open_dataset(path + ",ids=" + put("chosen.txt", "7\n2\n\n11\n"));
  EXPECT_THAT(ids(*named), ElementsAre("7", "2", "11"));
  EXPECT_THAT(labels(*named), ElementsAre(2, 4, 4));
  EXPECT_THAT(ids(*open_dataset(path + ",classes=4,ids=" + put("chosen.txt", "7\n2\n11\n") + "[1:]")),
              ElementsAre("11"));
  expect_data_error(Fault::data, {"chosen.txt", "no record", "'12'"},
                    path + ",ids=" + put("chosen.txt", "12\n"));
  expect_data_error(Fault::data, {"chosen.txt", "'3' occurs twice"},
                    path + ",ids=" + put("chosen.txt", "3\n3\n"));
}

TEST(Prepared, SetsFollowEachOtherInOneSpec) {
  const std::string path = put_twelve();
  const auto both = open_dataset(path + "[:2] + " + path + ",classes=4[-1:]");
  EXPECT_THAT(ids(*both), ElementsAre("0", "1", "11"));
  EXPECT_THAT(labels(*both), ElementsAre(0, 2, 4));
  const std::string odd = put("a + b.csv", "1,2,3,4\n");
  EXPECT_THAT(all_values(*open_dataset("\"" + odd + "\" + \"" + odd + "\"")),
              ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
  expect_data_error(Fault::mismatch, {"cannot be joined"}, path + " + \"" + odd + "\"");
  expect_data_error(Fault::usage, {"a path is needed"}, path + " + ");
}

TEST(Prepared, PathsWithCommasStandInQuotes) {
  const std::string table = put("a,b.csv", "0.5,1\n0.25,0\n");
  expect_data_error(Fault::usage, {"double quotes"}, table);
  const auto data = open_dataset("\"" + table + "\",label=1[1:]");
  EXPECT_THAT(labels(*data), ElementsAre(0));
  const std::string marks = put("c,d.csv", "0,3\n1,4\n");
  EXPECT_THAT(labels(*open_dataset("\"" + table + "\",ignore=1,labels=\"" + marks + "\"")),
              ElementsAre(3, 4));
}

// Written records have the range and the names of classes of those they are.
TEST(Prepared, WhatIsWrittenKeepsRangeAndClassNames) {
  const std::string table = put("named.csv", "a,b,c,y\n1,2,3,dog\n4,5,6,a cat\n");
  const auto data = open_dataset(table + ",label=y,mean=1/2/3,std=1/2/4,range=0:1+0:2+-5:6");
  const std::filesystem::path file = temporary("kept.npz");
  const std::size_t all[] = {0, 1};
  write_records(file, *data, all);
  const auto again = open_dataset(file.string());
  EXPECT_EQ(again->class_names(), data->class_names());
  EXPECT_EQ(again->valid_range()->low, data->valid_range()->low);
  EXPECT_EQ(again->valid_range()->high, data->valid_range()->high);
  EXPECT_EQ(all_values(*again), all_values(*data));
  EXPECT_EQ(labels(*again), labels(*data));
  EXPECT_EQ(open_dataset(file.string() + ",range=0:9")->valid_range()->high, (std::vector<float>{9}));
  std::map<std::string, Array> wrong = read_npz(file);
  wrong.insert_or_assign("valid_range", Array::of<float>({2, 1}, std::vector<float>{1, 1}));
  write_npz(file, wrong);
  expect_data_error(Fault::data, {"kept.npz", "not a range"}, file.string());
}

TEST(Prepared, SlicesPutTogetherAreTheWhole) {
  const std::string path = put_twelve();
  const auto whole = all_values(*open_dataset(path));
  for (int cut = 1; cut < 12; ++cut) {
    auto joined = all_values(*open_dataset(fmt::format("{}[:{}]", path, cut)));
    const auto rest = all_values(*open_dataset(fmt::format("{}[{}:]", path, cut)));
    joined.insert(joined.end(), rest.begin(), rest.end());
    EXPECT_EQ(joined, whole);
  }
}

TEST(Prepared, ClassSubsetsAndEmptyClasses) {
  const std::string path = put_twelve();
  EXPECT_THAT(ids(*open_dataset(path + ",classes=2")), ElementsAreArray(range_of(1, 12, 3)));
  const auto two = open_dataset(path + ",classes=4+0[:3]");
  EXPECT_THAT(labels(*two), ElementsAre(0, 4, 0));
  EXPECT_EQ(two->class_count(), 5U) << "numbers of classes stay as they are";
  expect_data_error(Fault::data, {"no records are left"}, path + ",classes=3");
  expect_data_error(Fault::usage, {"no class is named '7'"}, path + ",classes=7");
  expect_data_error(Fault::data, {"no records are left"}, path + "[5:5]");
}

TEST(Prepared, RandomSamplesFollowTheSeed) {
  const std::string path = put_twelve();
  const auto sample = [&](const std::string& options) { return ids(*open_dataset(path + options)); };
  const auto first = sample(",sample=6,seed=3");
  EXPECT_EQ(first.size(), 6U);
  EXPECT_EQ(first, sample(",sample=6,seed=3"));
  EXPECT_NE(first, sample(",sample=6,seed=4"));
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end(),
                             [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); }));
  EXPECT_THAT(sample(",sample=12"), ElementsAreArray(range_of(0, 12)));
  std::vector<std::int64_t> per_class = labels(*open_dataset(path + ",per_class=2,seed=9"));
  std::sort(per_class.begin(), per_class.end());
  EXPECT_THAT(per_class, ElementsAre(0, 0, 2, 2, 4, 4));
  per_class = labels(*open_dataset(path + ",per_class=1+2:3"));
  std::sort(per_class.begin(), per_class.end());
  EXPECT_THAT(per_class, ElementsAre(0, 2, 2, 2, 4));
  EXPECT_THAT(labels(*open_dataset(path + ",per_class=4:2")), ElementsAre(4, 4));
  expect_data_error(Fault::usage, {"no class is named '7'"}, path + ",per_class=1+7:2");
  expect_data_error(Fault::usage, {"per_class=x is not a number"}, path + ",per_class=x");
  expect_data_error(Fault::usage, {"sample=13, but there are 12 records"}, path + ",sample=13");
  expect_data_error(Fault::usage, {"per_class=5, but there are 4 records"}, path + ",per_class=5");
  expect_data_error(Fault::usage, {"sample=0"}, path + ",sample=0");
}

TEST(Prepared, ScaleMeanAndDeviation) {
  const std::string path = put_twelve();
  const auto raw = all_values(*open_dataset(path + ",scale=1"));
  const auto defaults = all_values(*open_dataset(path)),
             chosen = all_values(*open_dataset(path + ",scale=0.5,mean=10,std=4"));
  for (std::size_t i = 0; i < raw.size(); ++i) {
    EXPECT_FLOAT_EQ(raw[i], static_cast<float>(i * 5 % 256));
    EXPECT_FLOAT_EQ(defaults[i], raw[i] / 255);
    EXPECT_NEAR(chosen[i], (raw[i] * 0.5 - 10) / 4, 1e-5);
  }
}

TEST(Prepared, ChannelsLastAndPerChannelNumbers) {
  // One record of 1x2 pixels and three channels: (1, 2, 3), (4, 5, 6).
  const std::string path =
      put("x.npy", npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 3), }",
                             raw_bytes<float>({1, 2, 3, 4, 5, 6})));
  const auto data = open_dataset(path + ",layout=nhwc");
  EXPECT_EQ(data->record_shape(), (Shape{3, 1, 2}));
  EXPECT_THAT(values(*data, 0), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(values(*open_dataset(path + ",layout=nhwc,mean=1/2/3,std=1/2/3"), 0),
              ElementsAre(0, 3, 0, 1.5, 0, 1));
  EXPECT_THAT(values(*open_dataset(path + ",layout=nhwc,flatten=1,mean=1/2/3"), 0),
              ElementsAre(0, 3, 0, 3, 0, 3));
  EXPECT_EQ(open_dataset(path + ",flatten=1")->record_shape(), (Shape{6}));
  expect_data_error(Fault::usage, {"2 numbers in mean for 3 channels"}, path + ",layout=nhwc,mean=1/2");
  expect_data_error(Fault::usage, {"layout=abc"}, path + ",layout=abc");
}

TEST(Prepared, ValidRangeFollowsThePreprocessing) {
  const std::string path = put_twelve();
  EXPECT_THAT(open_dataset(path)->valid_range()->high, ElementsAre(::testing::FloatEq(1)));
  const auto range = open_dataset(path + ",mean=0.5,std=0.25")->valid_range();
  EXPECT_THAT(range->low, ElementsAre(-2));
  EXPECT_THAT(range->high, ElementsAre(2));
  EXPECT_THAT(open_dataset(path + ",range=-1:3,mean=1,std=2")->valid_range()->low, ElementsAre(-1));
  expect_data_error(Fault::usage, {"range=3:1"}, path + ",range=3:1");
  EXPECT_THROW(open_dataset(path + ",range=3"), Error);
  EXPECT_THROW(open_dataset(path + ",range="), Error);
  expect_data_error(Fault::usage, {"std must be above 0"}, path + ",std=0");
}

TEST(Prepared, LabelsAndTargetsFromTables) {
  const std::string set = put_archive("set.tar", {{"a/1.png", png_bytes(picture(2, 2, 1, 1))},
                                                  {"a/2.png", png_bytes(picture(2, 2, 1, 2))},
                                                  {"b/3.png", png_bytes(picture(2, 2, 1, 3))}});
  const auto by_stem = open_dataset(
      set + ",targets=" + put("t.csv", "name,steer,speed\n3,0.5,7\n1,-1,8\n2,2,9\n") + ",target=steer+speed");
  const std::size_t all[] = {0, 1, 2};
  EXPECT_THAT(by_stem->read(all).targets.as<float>(), ElementsAre(-1, 8, 2, 9, .5, 7));
  EXPECT_FALSE(by_stem->has_labels());
  EXPECT_THAT(labels(*open_dataset(set + ",labels=" + put("l.csv", "b/3.png,0\na/1.png,2\na/2.png,1\n"))),
              ElementsAre(2, 1, 0));
  EXPECT_THAT(labels(*open_dataset(
                  set + ",id=file,label=k,labels=" + put("k.csv", "k,file\n4,1.png\n5,2.png\n6,3.png\n"))),
              ElementsAre(4, 5, 6));
  expect_data_error(Fault::data, {"m.csv", "no row for record 'b/3.png'", "set.tar"},
                    set + ",targets=" + put("m.csv", "1,0.5\n2,0.5\n"));
  expect_data_error(Fault::data, {"w.csv", "'left' is not a number"},
                    set + ",targets=" + put("w.csv", "1,0.5\n2,0.5\n3,left\n"));
  expect_data_error(Fault::data, {"target of record 'a/1.png'", "not finite"},
                    set + ",targets=" + put("n.csv", "1,nan\n2,0.5\n3,1\n"));
  expect_data_error(Fault::data, {"h.csv", "0.5", "a/1.png", "not a class number"},
                    set + ",labels=" + put("h.csv", "1,0.5\n2,1\n3,1\n"));
  expect_data_error(Fault::data, {"twice.csv", "two rows for '1'"},
                    set + ",labels=" + put("twice.csv", "1,0\n2,1\n1,1\n"));
  expect_data_error(Fault::data, {"neg.csv", "a/1.png", "label -1"},
                    set + ",labels=" + put("neg.csv", "1,-1\n2,1\n3,1\n"));
}

// A label of 1e300 was converted to an integer, a table of names alone left as std::out_of_range.
TEST(Prepared, GiantLabelsAndEmptyTables) {
  const std::string set = put_twelve();
  expect_data_error(Fault::data, {"g.csv", "1e+300", "not a class number"},
                    set + ",labels=" + put("g.csv", "0,1e300\n"));
  expect_data_error(Fault::data, {"e.csv", "no rows"}, set + ",labels=" + put("e.csv", "name,label\n"));
}

// The stem of a row in another folder was taken for the record's.
TEST(Prepared, AmbiguousStemsMatchNothing) {
  const std::string set = put_archive("set.tar", {{"c/1.png", png_bytes(picture(2, 2, 1, 1))}});
  expect_data_error(Fault::data, {"no row for record 'c/1.png'"},
                    set + ",targets=" + put("t.csv", "a/1.png,5\nb/1.png,6\n"));
}

// They were ignored.
TEST(Prepared, LabelsOfAnUnknownKindAreRefused) {
  const std::string set = put_archive("set.tar", {{"c/1.png", png_bytes(picture(2, 2, 1, 1))}});
  expect_data_error(Fault::usage, {"labels=marks.json", "not a table"}, set + ",labels=marks.json");
}

TEST(Prepared, UnknownOptionsAndFormatsAreNamed) {
  const std::string path = put_twelve();
  expect_data_error(Fault::usage, {"no option 'scal'", "did you mean 'scale'"}, path + ",scal=2");
  expect_data_error(Fault::usage, {"no data format is named 'idxx'", "did you mean 'idx'"},
                    path + ",format=idxx");
  expect_data_error(Fault::usage, {"digits:0", "between 1"}, "digits:0");
}

TEST(Prepared, HashesTellContentAndPreprocessing) {
  const std::string path = put_twelve();
  const std::string hash = open_dataset(path)->hash();
  EXPECT_EQ(hash.size(), 32U);
  EXPECT_EQ(hash, open_dataset(path + "[:]")->hash());
  for (const char* other : {"[:11]", ",scale=1", ",mean=0.5", ",flatten=1", ",classes=0"})
    EXPECT_NE(hash, open_dataset(path + other)->hash()) << other;
}

TEST(Prepared, RecordsDoNotDependOnTheBatch) {
  const auto data = open_dataset("digits:64,seed=5");
  std::vector<std::size_t> order(64);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  const Batch batch = data->read(order);
  for (const std::size_t i : {0U, 31U, 63U}) {
    const auto record = batch.inputs.as<float>().subspan(i * 784, 784);
    EXPECT_THAT(values(*data, order[i]), ElementsAreArray(record.begin(), record.end()));
    EXPECT_EQ(batch.labels[i], data->label(order[i]));
  }
}

}  // namespace
}  // namespace assay::testing
