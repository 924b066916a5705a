#include <assay/groups.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include <assay/error.h>
#include <assay/records.h>

namespace assay::groups {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

class OperationalDomain : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Domain domain(const std::string& text) {
    const fs::path file = folder_ / "odd.toml";
    std::ofstream(file) << text;
    return read_domain(file);
  }
  std::string refusal(const std::string& text) {
    try {
      domain(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static DatasetPtr records(const std::vector<std::string>& weather, const std::vector<std::string>& ages) {
    const std::size_t n = weather.size();
    return characterised(
        from_arrays(Array::of<float>({static_cast<std::int64_t>(n), 1}, std::vector<float>(n, 0))),
        {{"weather", weather}, {"age:0|18|65", ages}});
  }

  fs::path folder_;
};

constexpr const char* declared = R"(strength = 2

[weather]
values = ["sun", "fog", "snow"]
shares = {sun = 0.5, fog = 0.25, snow = 0.25}
tolerance = 0.1
least = 1

[age]
ends = [0, 18, 65]

[[excluded]]
weather = "snow"
age = "0 to 18"
)";

TEST_F(OperationalDomain, CountsCombinationsThatAreThere) {
  const auto data = records({"sun", "sun", "fog", "fog"}, {"5", "30", "30", "70"});
  const DomainCoverage found = covered(domain(declared), *data);
  // Of single values: sun, fog, 0 to 18, 18 to 65 of five. Of the six pairs one is excluded, and three are
  // there.
  EXPECT_EQ(found.covered[0], std::pair(std::uint64_t{4}, std::uint64_t{5}));
  EXPECT_EQ(found.covered[1], std::pair(std::uint64_t{3}, std::uint64_t{5}));
  ASSERT_EQ(found.missing.size(), 2U);
  EXPECT_EQ((Group{found.missing[0].is, {}}.name()), "weather=fog,age=0 to 18");
  EXPECT_EQ((Group{found.missing[1].is, {}}.name()), "weather=snow,age=18 to 65");
  EXPECT_EQ(found.outside, 1U);
  EXPECT_THAT(found.outside_values, ElementsAre("age=65 and above"));
  EXPECT_THAT(found.outside_ids, ElementsAre("3"));
}

TEST_F(OperationalDomain, RemarksFewRecordsAndOtherShares) {
  const auto data = records({"sun", "sun", "fog", "fog"}, {"5", "30", "30", "30"});
  const DomainCoverage found = covered(domain(declared), *data);
  EXPECT_FALSE(found.values[0].off);  // sun: 0.5 of 0.5
  EXPECT_TRUE(found.values[1].off);   // fog: 0.5 of 0.25
  EXPECT_TRUE(found.values[2].few);   // snow
}

TEST_F(OperationalDomain, FaultsNameFileAndLine) {
  EXPECT_THAT(refusal("strength = 1\n[weather]\nvalue = [\"a\"]\n"), HasSubstr("odd.toml:3"));
  EXPECT_THAT(refusal("[weather]\nvalues = [\"a\", \"a\"]\n"), HasSubstr("two are the same"));
  EXPECT_THAT(refusal("strength = 2\n[weather]\nvalues = [\"a\"]\n"), HasSubstr("strength = 2"));
  EXPECT_THAT(refusal("strength = 1\n[w]\nvalues = [\"a\", \"b\"]\nshares = {a = 0.7, b = 0.7}\n"),
              HasSubstr("add up to 1.4"));
  EXPECT_THAT(refusal("strength = 1\n[w]\nvalues = [\"a\"]\n[[excluded]]\nw = \"a\"\nx = \"b\"\n"),
              HasSubstr("no characteristic 'x'"));
  EXPECT_THAT(refusal("strength = 1\n"), HasSubstr("no characteristic is declared"));
}

}  // namespace
}  // namespace assay::groups
