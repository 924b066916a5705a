#include <assay/profile.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <assay/coverage.h>
#include <assay/error.h>
#include "assay/coverage/learning/profile_json.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/file.h"
#include "tests/coverage/build.h"

namespace assay::coverage {
namespace {

class ProfileFile : public testing::Test {
 protected:
  void SetUp() override {
    path = std::filesystem::temp_directory_path() / ("assay-profile-" + std::to_string(getpid()));
  }
  void TearDown() override { std::filesystem::remove(path); }

  // The profile with one change; reading it must be refused with a message that holds `reason`.
  void expect_refused(const std::function<void(nlohmann::json&)>& change, const std::string& reason) const {
    nlohmann::json json = to_json(test::profile(), true);
    change(json);
    write_binary(json, path);
    try {
      read_profile(path);
      ADD_FAILURE() << "accepted, but expected: " << reason;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    }
  }

  std::filesystem::path path;
};

TEST_F(ProfileFile, KeepsEverything) {
  write_profile(test::profile(), path);
  const Profile read = read_profile(path);
  EXPECT_EQ(read.hash(), test::profile().hash());  // which is of everything in it
  EXPECT_EQ(read.statistics[1].high, test::profile().statistics[1].high);
  EXPECT_EQ(read.clusters[0].important[1].clusters.centroids,
            test::profile().clusters[0].important[1].clusters.centroids);
  EXPECT_EQ(read.traces[0]->values, test::profile().traces[0]->values);
}

TEST_F(ProfileFile, EveryPartCountsForTheHash) {
  Profile other = test::profile();
  other.statistics[0].high[2] += 1;
  EXPECT_NE(other.hash(), test::profile().hash());
  other = test::profile();
  other.clusters[0].important[0].clusters.centroids[0] -= 1e-15;
  EXPECT_NE(other.hash(), test::profile().hash());
}

TEST_F(ProfileFile, KeepsWhichNeuronsCount) {
  Profile chosen = test::profile();
  chosen.statistics[1].chosen = {1, 3};
  EXPECT_NE(chosen.hash(), test::profile().hash());
  write_profile(chosen, path);
  const Profile read = read_profile(path);
  EXPECT_EQ(read.statistics[1].chosen, chosen.statistics[1].chosen);
  EXPECT_EQ(read.statistics[1].counted(), 2U);
  EXPECT_EQ(read.statistics[0].counted(), 6U);
  expect_refused([](nlohmann::json& json) { json["statistics"][0]["chosen"] = {3, 3}; }, "that count");
  expect_refused([](nlohmann::json& json) { json["statistics"][0]["chosen"] = {6}; }, "that count");
}

TEST_F(ProfileFile, UnsoundContentIsRefused) {
  using Json = nlohmann::json;
  expect_refused([](Json& j) { j["schema"] = "assay/other"; }, "not a profile");
  expect_refused([](Json& j) { j["version"] = 99; }, "version");
  expect_refused([](Json& j) { j["reduction"] = "sum"; }, "reduction");
  expect_refused([](Json& j) { j.erase("statistics"); }, "statistics");
  expect_refused([](Json& j) { j["statistics"][0]["high"] = to_binary(std::vector<float>{1}); }, "elements");
  expect_refused([](Json& j) { j["statistics"][0]["low"] = to_binary(std::vector<float>(6, std::nanf(""))); },
                 "range");
  expect_refused([](Json& j) { j["clusters"][0]["important"][0]["neuron"] = 5; }, "not sound");
  expect_refused([](Json& j) { j["clusters"][0]["important"][0]["neuron"] = 0; }, "twice");
  expect_refused([](Json& j) { j["clusters"][0]["important"][0]["centroids"] = {1, 1}; }, "not sound");
  expect_refused([](Json& j) { j["clusters"][0]["layer"] = "third"; }, "statistics");
  expect_refused([](Json& j) { j["traces"][0]["dimensions"] = 7; }, "traces");
  expect_refused([](Json& j) { j = Json::array({1}); }, "not a profile");
}

TEST_F(ProfileFile, TruncatedOrFlippedAnywhereIsRefused) {
  write_profile(test::profile(), path);
  const std::string bytes = read_file(path);
  for (std::size_t size = 0; size < bytes.size(); size += 131) {
    write_file(path, bytes.substr(0, size));
    EXPECT_THROW(read_profile(path), Error) << size;
    std::string flipped = bytes;
    flipped[size] = static_cast<char>(flipped[size] ^ 0x20);
    write_file(path, flipped);
    EXPECT_THROW(read_profile(path), Error) << size;
  }
}

TEST(Profile, RefusesAnotherNetwork) {
  EXPECT_NO_THROW(require_profile_fits(test::profile(), "model", "net"));
  try {
    require_profile_fits(test::profile(), "another", "net");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
  }
}

TEST(Profile, HistogramBins) {
  // Below, four quarters of [0, 2], above.
  const std::vector<std::pair<float, std::size_t>> cases{{-0.1f, 0}, {0, 1}, {0.49f, 1}, {0.5f, 2},
                                                         {1.9f, 4},  {2, 4}, {2.1f, 5}};
  for (const auto& [value, bin] : cases) EXPECT_EQ(histogram_bin(value, 0, 2, 6), bin) << value;
  EXPECT_EQ(histogram_bin(3, 3, 3, 6), 1u);  // a constant neuron
}

}  // namespace
}  // namespace assay::coverage
