#include <gmock/gmock.h>

#include <assay/error.h>
#include "assay/answers/networks/network.h"
#include "assay/answers/setting.h"
#include "assay/support/files/file.h"

namespace assay::answers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RecordShapes, AreOfOneInputOrOfEachByItsName) {
  SessionOptions one, several;
  take_record_shapes(one, "3x32x32", "shape");
  EXPECT_THAT(one.record_shape, ElementsAre(3, 32, 32));
  take_record_shapes(several, "picture=3x8x8,table=7", "shape");
  EXPECT_THAT(several.record_shapes.at("picture"), ElementsAre(3, 8, 8));
  EXPECT_THAT(several.record_shapes.at("table"), ElementsAre(7));
  EXPECT_THAT(refusal([&] { take_record_shapes(several, "picture=3x8x8,7", "shape"); }),
              HasSubstr("shape 'picture=3x8x8,7': each of several inputs needs its name"));
}

TEST(Setting, WhatTookLongIsReplacedOnlyWhereItMayBe) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "assay_answers_kept";
  write_file(file, "something");
  const auto foreign = [] { return false; };
  EXPECT_THAT(refusal([&] { check_replaced(file, "a state", {}, foreign); }), HasSubstr("than a state"));
  EXPECT_EQ(refusal([&] { check_replaced(file, "a state", {.replace = true}, foreign); }), "");
  EXPECT_EQ(refusal([&] { check_replaced(file, "a state", {}, [] { return true; }); }), "");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace assay::answers
