#include "assay/support/files/merge_files.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::ElementsAre;

// A state that stands in its file's name: "3" is read, "damaged" cannot be, "other" fits no other.
struct Number {
  static Number read(const std::string& file) {
    if (file == "damaged") fail(Fault::data, "damaged: no state");
    return {file == "other" ? -1 : std::stoi(file)};
  }
  void merge(const Number& more) {
    if (more.value < 0) fail(Fault::mismatch, "of another network");
    value += more.value;
  }
  int value = 0;
};

TEST(MergeFiles, StatesAreMergedInTheirOrder) {
  std::vector<std::string> notices;
  EXPECT_EQ(merged_files<Number>({"1", "2", "4"}, false, notices, silence()).value, 7);
  EXPECT_THAT(notices, ElementsAre());
}

TEST(MergeFiles, WhatCannotBeReadIsLeftOutWhereAsked) {
  std::vector<std::string> notices;
  EXPECT_EQ(merged_files<Number>({"1", "damaged"}, true, notices, silence()).value, 1);
  EXPECT_THAT(notices, ElementsAre("left out: damaged: no state"));
  EXPECT_THROW(merged_files<Number>({"1", "damaged"}, false, notices, silence()), Error);
  EXPECT_THROW(merged_files<Number>({"damaged"}, true, notices, silence()), Error);
}

TEST(MergeFiles, AStateThatDoesNotFitIsNamed) {
  std::vector<std::string> notices;
  for (const bool skip : {false, true}) {
    try {
      merged_files<Number>({"1", "other"}, skip, notices, silence());
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::mismatch);
      EXPECT_STREQ(error.what(), "other: of another network");
    }
  }
}

}  // namespace
}  // namespace assay
