#include "assay/support/files/format_version.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace assay {
namespace {

TEST(FormatVersion, TheOneThatIsReadHasNoFault) { EXPECT_EQ(other_format(3, 3), ""); }

TEST(FormatVersion, OfANewerFileTheProgramIsTooOld) {
  EXPECT_EQ(other_format(4, 3),
            "its format has version 4, this program reads 3; use a newer Assay, or make it anew");
}

TEST(FormatVersion, OfAnOlderFileTheFileIsTooOld) {
  EXPECT_EQ(other_format(-1, 3),
            "its format has version -1, this program reads 3; make it anew, or use the Assay that wrote it");
}

TEST(FormatVersion, WhatIsNotAnIntegerIsNotRepeated) {
  for (const nlohmann::json& found :
       {nlohmann::json(), nlohmann::json(3.5), nlohmann::json(std::string(1 << 20, 'x'))})
    EXPECT_EQ(other_format(found, 3), "it does not name the version of its format; make it anew");
}

}  // namespace
}  // namespace assay
