#include <assay/extend/spec.h>

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::ElementsAre;

TEST(SplitSpecs, DividesAtCommasOutsideOfBracketsAndQuotes) {
  EXPECT_THAT(split_specs("nc,pgd[eps=0.1,steps=3],kmnc"), ElementsAre("nc", "pgd[eps=0.1,steps=3]", "kmnc"));
  EXPECT_THAT(split_specs("\"a,b\",c"), ElementsAre("a,b", "c"));
  EXPECT_THAT(split_specs("nc[layer=\"a],b\"]=0.5,idc"), ElementsAre("nc[layer=\"a],b\"]=0.5", "idc"));
  EXPECT_THAT(split_specs("say \"a,b\""), ElementsAre("say \"a", "b\""))
      << "quotes within a part are its own";
  EXPECT_THAT(split_specs("\"open,b"), ElementsAre("\"open", "b"));
  EXPECT_THAT(split_specs(""), ElementsAre(""));
}

TEST(SplitSpecs, TakesWhatIsQuotedAsItWas) {
  for (const char* name : {"fc1", "a,b", "\"a\",b", "\"", "a\"\",", "kmnc[a=1,b=2]", "]a,[b", ",", "\"\""})
    EXPECT_THAT(split_specs(quoted_spec(name) + ",next"), ElementsAre(name, "next")) << name;
  EXPECT_EQ(quoted_spec("fc1"), "fc1");
  EXPECT_EQ(quoted_spec("a,b"), "\"a,b\"");
}

}  // namespace
}  // namespace assay
