#include "assay/support/text/text.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(NearestName, FindsTypingErrorsAndNothingElse) {
  const std::vector<std::string> names{"neuron", "kmnc", "idc"};
  EXPECT_EQ(nearest_name("nueron", names), "neuron");
  EXPECT_EQ(nearest_name("kmc", names), "kmnc");
  EXPECT_EQ(nearest_name("elephant", names), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(did_you_mean("nueron", names), "; did you mean 'neuron'?");
  EXPECT_EQ(did_you_mean("elephant", names), "");
}

TEST(Joined, PutsSeparatorsBetween) {
  EXPECT_EQ(joined({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(joined({}), "");
}

}  // namespace
}  // namespace assay
