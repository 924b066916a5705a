#include "assay/support/text/unit_numbers.h"

#include <gtest/gtest.h>

#include <assay/error.h>

namespace assay {
namespace {

using Numbers = std::vector<std::size_t>;

TEST(UnitNumbers, AreReadAndWritten) {
  EXPECT_EQ(parse_unit_numbers("3"), Numbers{3});
  EXPECT_EQ(parse_unit_numbers("20+0-2+1"), (Numbers{0, 1, 2, 20}));
  EXPECT_EQ(unit_numbers_text({0, 1, 2, 5, 6, 20}), "0-2+5+6+20");
  for (const char* text : {"0", "0+2", "4-9", "1+2+7-9+30"})
    EXPECT_EQ(unit_numbers_text(parse_unit_numbers(text)), text);
}

TEST(UnitNumbers, ThatAreNoneAreRefused) {
  for (const char* text : {"", "a", "1+", "+1", "2-1", "1-", "-1", "1,2", "99999999999999999999"})
    EXPECT_THROW(parse_unit_numbers(text), Error) << text;
}

}  // namespace
}  // namespace assay
