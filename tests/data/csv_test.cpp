#include "assay/data/files/csv.h"

#include <assay/dataset.h>

#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

TEST(Csv, ColumnsBecomeInputsLabelsAndTargets) {
  const std::string path = put("t.csv", "a,b,name,steer\n1,2,cat,0.5\n3,4,ant,-1\n5,+6,cat,2\n");
  const auto data = open_dataset(path + ",label=name,target=steer");
  EXPECT_EQ(data->record_shape(), (Shape{2}));
  EXPECT_THAT(all_values(*data), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(data->class_names(), ElementsAre("ant", "cat"));
  EXPECT_THAT(labels(*data), ElementsAre(1, 0, 1));
  const std::size_t all[] = {0, 1, 2};
  EXPECT_THAT(data->read(all).targets.as<float>(), ElementsAre(.5, -1, 2));
  EXPECT_THAT(all_values(*open_dataset(path + ",ignore=name+b,target=steer")), ElementsAre(1, 3, 5));
}

TEST(Csv, SeparatorsQuotesCompressionAndNoHeader) {
  EXPECT_THAT(all_values(*open_dataset(put("a.csv", "1;2\r\n3;4\r\n"))), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(all_values(*open_dataset(put("a.tsv", "1\t2\n3\t4"))), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(all_values(*open_dataset(put("a.csv.gz", gzipped("\xEF\xBB\xBFx,y\n1,2\n")))),
              ElementsAre(1, 2));
  const CsvTable table = read_csv(put("q.csv", "x,y\n\"1\",\"a \"\"b\"\", c\nd\"\n"));
  EXPECT_EQ(table.rows[0][1], "a \"b\", c\nd");
  EXPECT_THAT(labels(*open_dataset(put("n.csv", "0.5,3\n0.25,1\n") + ",label=1")), ElementsAre(3, 1));
}

TEST(CsvErrors, RaggedOpenQuotedNonNumericAndEmpty) {
  expect_data_error(Fault::data, {"r.csv:3", "3 fields where the rows before have 2"},
                    put("r.csv", "1,2\n3,4\n5,6,7\n"));
  expect_data_error(Fault::data, {"o.csv", "quote is never closed"}, put("o.csv", "1,\"2\n3,4\n"));
  expect_data_error(Fault::data, {"w.csv", "row 2", "'six' is not a number", "label=b", "ignore=b"},
                    put("w.csv", "a,b\n1,2\n5,six\n"));
  expect_data_error(Fault::data, {"g.csv", "row 1", "column 'b' is empty"}, put("g.csv", "a,b\n1,\n5,6\n"));
  expect_data_error(Fault::data, {"g.csv", "row 1", "column '1' is empty"}, put("g.csv", "1,\n5,6\n"));
  expect_data_error(Fault::data, {"e.csv", "the table is empty"}, put("e.csv", ""));
  expect_data_error(Fault::data, {"n.csv", "record '1'", "NaN"}, put("n.csv", "1,2\n3,nan\n"));
  expect_data_error(Fault::usage, {"m.csv", "'wieght'", "did you mean 'weight'"},
                    put("m.csv", "weight,b\n1,2\n") + ",label=wieght");
  expect_data_error(Fault::data, {"l.csv", "no column is left"}, put("l.csv", "1\n2\n") + ",label=0");
  expect_data_error(Fault::io, {"absent.csv", "no such file"}, temporary("absent.csv").string());
  const std::string packed = gzipped("1,2\n3,4\n");
  expect_data_error(Fault::data, {"cut.csv.gz", "cut short"},
                    put("cut.csv.gz", packed.substr(0, packed.size() - 6)));
}

// The label column was marked in a row that was not there.
TEST(CsvErrors, HeaderWithoutRows) {
  expect_data_error(Fault::data, {"h.csv", "no rows"}, put("h.csv", "a,b\n") + ",label=b");
}

// They were names, so that all classes were numbered anew.
TEST(CsvErrors, NumbersBeyondAllClassesAreNotNames) {
  for (const char* label : {"99999999999999999999", "1e300", "1e999", "1000000", "inf", "nan"})
    expect_data_error(Fault::data, {"g.csv", "of record 1 is not a class number"},
                      put("g.csv", fmt::format("1,0\n2,{}\n", label)) + ",label=1");
  const auto data = open_dataset(put("g.csv", "1,0\n2,unknown\n") + ",label=1");
  EXPECT_THAT(data->class_names(), ElementsAre("0", "unknown"));
}

TEST(Csv, DecimalCommas) {
  const std::string file = put("comma.csv", "a;b;y\n-0,268;1,5e1;0\n+2;,25;1\n");
  for (const char* option :
       {",decimal=,,label=y", ",label=y,decimal=,", ",label=y,decimal=comma", ",label=y,decimal=\",\""})
    EXPECT_THAT(all_values(*open_dataset(file + option)), ElementsAre(-0.268F, 15, 2, 0.25F)) << option;
  EXPECT_THAT(all_values(*open_dataset(put("bare.csv", "1,5;2,5\n3,5;4,5\n") + ",decimal=,[1:]")),
              ElementsAre(3.5, 4.5));
  EXPECT_THAT(all_values(*open_dataset(put("comma.tsv", "1,5\t2\n") + ",decimal=,")), ElementsAre(1.5, 2));
  const std::string marks = put("marks.csv", "name;steer\n0;0,5\n1;-1,25\n");
  const auto targets = open_dataset(file + ",ignore=y,decimal=,,targets=" + marks);
  const std::size_t all[] = {0, 1};
  EXPECT_THAT(targets->read(all).targets.as<float>(), ElementsAre(0.5, -1.25));
}

TEST(CsvErrors, DecimalCommasAreNamed) {
  expect_data_error(Fault::data, {"comma.csv", "'-0,268' in column 'a'", "say decimal=,"},
                    put("comma.csv", "a;b;y\n-0,268;1;0\n") + ",label=y");
  expect_data_error(Fault::data, {"say decimal=,"}, put("bare.csv", "1,5;2,5\n3,5;4,5\n"));
  expect_data_error(Fault::data, {"label '1,0' of record 0", "say decimal=,"},
                    put("labels.csv", "a;y\n1;1,0\n2;2,0\n") + ",label=y");
  expect_data_error(Fault::usage, {"decimal=x"}, put("comma.csv", "a;y\n1;0\n") + ",decimal=x");
  expect_data_error(Fault::data, {"is not a number"}, put("point.csv", "a;b\n1.5;2\n") + ",decimal=,");
}

TEST(CsvErrors, TwoColumnsOfOneName) {
  const std::string file = put("two.csv", "a,y,y\n0.5,0,1\n0.25,1,0\n");
  expect_data_error(Fault::data, {"two.csv", "2 columns are named 'y'"}, file + ",label=y");
  EXPECT_THAT(labels(*open_dataset(file + ",label=2")), ElementsAre(1, 0));
}

TEST(CsvErrors, LinesInsideQuotesCount) {
  expect_data_error(Fault::data, {"q.csv:4"}, put("q.csv", "a,\"x\ny\"\n1,2\n3\n"));
}

TEST(Csv, ColumnNumbersAreWhole) {
  const CsvTable table = read_csv(put("c.csv", "1,2\n"));
  EXPECT_EQ(table.column("1"), 1U);
  expect_error(Fault::usage, {"c.csv", "columns 0 to 1"}, [&] { table.column("0.5"); });
  expect_error(Fault::usage, {"c.csv"}, [&] { table.column("2"); });
}

// They were names, so that all classes were numbered anew.
TEST(CsvErrors, NumbersThatAreNoClassNumbers) {
  expect_data_error(Fault::data, {"n.csv", "'-1' of record 2"},
                    put("n.csv", "1,0\n2,1\n3,-1\n") + ",label=1");
  expect_data_error(Fault::data, {"'0.5' of record 0"}, put("n.csv", "1,0.5\n2,1\n") + ",label=1");
  expect_data_error(Fault::data, {"record 1 has no label"}, put("n.csv", "1,a\n2,\n") + ",label=1");
  EXPECT_EQ(open_dataset(put("n.csv", "1,0.0\n2,3.0\n") + ",label=1")->class_count(), 4U);
}

}  // namespace
}  // namespace assay::testing
