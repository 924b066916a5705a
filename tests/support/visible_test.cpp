#include "assay/support/text/visible.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Visible, WhatActsIsShown) {
  EXPECT_EQ(visible("plain, größe \xF0\x9F\x98\x80"), "plain, größe \xF0\x9F\x98\x80");
  EXPECT_EQ(visible("\x1b[2Jx\x07\x7f"), "\\x1b[2Jx\\x07\\x7f");
  EXPECT_EQ(visible("a\nb\tc"), "a\\x0ab\\x09c");
  EXPECT_EQ(visible("a\nb\tc", "\n\t"), "a\nb\tc");
  EXPECT_EQ(visible("\xE2\x80\xAEgnp.exe"), "\\u202egnp.exe");                  // right to left
  EXPECT_EQ(visible("\xE2\x81\xA6\xC2\x9B\xD8\x9C"), "\\u2066\\u009b\\u061c");  // isolate, C1, Arabic mark
  EXPECT_EQ(visible("\xff"), "\xEF\xBF\xBD");
}

TEST(Visible, CsvFieldsAreNoFormulas) {
  EXPECT_EQ(csv_field("conv1"), "conv1");
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("+a,b"), "\"'+a,b\"");
  EXPECT_EQ(csv_field("@SUM"), "'@SUM");
  EXPECT_EQ(csv_field("say \"x\"\nno"), "\"say \"\"x\"\"\nno\"");
  EXPECT_EQ(csv_field("\t=1"), "\\x09=1");
}

}  // namespace
}  // namespace assay
