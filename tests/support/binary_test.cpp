// Values as bytes.

#include "assay/support/files/binary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace assay {
namespace {

TEST(Binary, ComesBackAsItWas) {
  const nlohmann::json value{{"a", {1, 2.5, "text"}}, {"b", nullptr}};
  EXPECT_EQ(from_bytes(to_bytes(value)), value);
}

TEST(Binary, RefusesWhatIsCutOff) {
  const std::string bytes = to_bytes({{"a", {1, 2.5, "text"}}});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(from_bytes(bytes.substr(0, size)), std::runtime_error) << size;
}

// A map of 8,102,256,590,090,945,935 members.
TEST(Binary, RefusesMoreMembersThanThereCanBe) {
  EXPECT_THROW(from_bytes("\xbb\x70\x70\xff\x70\xeb\x70\x45\x8f"), std::runtime_error);
}

}  // namespace
}  // namespace assay
