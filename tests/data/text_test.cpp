#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::int64_t> tokens(const std::string& spec) {
  const auto data = open_dataset(spec);
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < data->size(); ++i) {
    const std::size_t one[] = {i};
    const Batch batch = data->read(one);
    result.insert(result.end(), batch.inputs.as<std::int64_t>().begin(),
                  batch.inputs.as<std::int64_t>().end());
  }
  return result;
}

TEST(Text, CharactersPaddedToTheLongestLine) {
  EXPECT_THAT(tokens(put("a.txt", "ab\r\nc\n")), ElementsAre('a', 'b', 'c', 0));
  EXPECT_THAT(tokens(put("a.txt", "abc\nd") + ",length=2,padding=9"), ElementsAre('a', 'b', 'd', 9));
}

TEST(Text, WordsByVocabulary) {
  const std::string vocabulary = put("vocab.txt", "the\ncat\nsat\n");
  EXPECT_THAT(tokens(put("a.txt", "the  cat\nsat dog\n") + ",unknown=77,vocab=" + vocabulary),
              ElementsAre(0, 1, 2, 77));
}

TEST(Text, LabelsAfterTheLastTab) {
  const auto data = open_dataset(put("a.txt", "x\ty\tpos\nz\tneg\n"));
  EXPECT_THAT(data->class_names(), ElementsAre("neg", "pos"));
  EXPECT_THAT(labels(*data), ElementsAre(1, 0));
  EXPECT_EQ(data->record_shape(), (Shape{3}));
  EXPECT_THAT(data->describe(), HasSubstr("labels numbered in alphabetical order"));
}

TEST(Text, LabelsThatAreNumbersStayThem) {
  const auto data = open_dataset(put("a.txt", "a\t2\nb\t10\r\nc\t 1\nd\t10.0\n"));
  EXPECT_THAT(labels(*data), ElementsAre(2, 10, 1, 10));
  EXPECT_EQ(data->class_count(), 11U);
  EXPECT_THAT(data->describe(), Not(HasSubstr("alphabetical")));
}

TEST(TextErrors, LabelsLengthsAndEmptyFiles) {
  expect_data_error(Fault::data, {"half.txt", "1 of 2 lines"}, put("half.txt", "x\tpos\nz\n"));
  expect_data_error(Fault::data, {"line 2 has no label after its tab"}, put("half.txt", "x\tpos\nz\t \n"));
  for (const char* const wrong : {"-1", "1.5", "1000000"}) {
    expect_data_error(Fault::data, {std::string("label '") + wrong + "' is not a class number"},
                      put("half.txt", std::string("x\t0\nz\t") + wrong + "\n"));
  }
  for (const char* const wrong : {"nan", "1e400", "+inf"}) {
    expect_data_error(Fault::data, {std::string("label '") + wrong + "' is not a class number"},
                      put("half.txt", std::string("x\t0\nz\t") + wrong + "\nw\t10\n"));
  }
  expect_data_error(Fault::data, {"empty.txt", "no records"}, put("empty.txt", ""));
  expect_data_error(Fault::usage, {"length=-5"}, put("a.txt", "abc\n") + ",length=-5");
  expect_data_error(Fault::io, {"absent.txt", "no such file"}, put("a.txt", "abc\n") + ",vocab=absent.txt");
}

TEST(TextErrors, GiantLengthIsNotAllocated) {
  expect_data_error(Fault::resources, {"a.txt", "too large"},
                    put("a.txt", "abc\n") + ",length=1000000000000000");
}

}  // namespace
}  // namespace assay::testing
