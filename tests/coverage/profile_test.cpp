#include "assay/coverage/profile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "assay/support/error.h"
#include "assay/support/file.h"
#include "tests/coverage/build.h"
#include "tests/engine/graphs.h"

namespace assay {
namespace {

class ProfileFile : public testing::Test {
 protected:
  void SetUp() override {
    path = std::filesystem::temp_directory_path() / ("assay-profile-" + std::to_string(getpid()) + ".json");
    write_profile(profile(), path);
  }
  void TearDown() override { std::filesystem::remove(path); }

  static Profile profile() { return {"model", "data", "some records", "epsilon", "kmeans", Reduction::max, {test::small_layer()}}; }

  // The file with one text replaced; it must be refused with a message that holds `reason`.
  void expect_refused(const std::string& from, const std::string& to, const std::string& reason) const {
    std::string text = read_file(path);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    const auto damaged = path.string() + ".damaged";
    write_file(damaged, text.replace(at, from.size(), to));
    try {
      read_profile(damaged);
      ADD_FAILURE() << from << " -> " << to << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
    std::filesystem::remove(damaged);
  }

  std::filesystem::path path;
};

TEST_F(ProfileFile, KeepsEverything) {
  const Profile read = read_profile(path), written = profile();
  EXPECT_EQ(read.model_hash, written.model_hash);
  EXPECT_EQ(read.data_hash, written.data_hash);
  EXPECT_EQ(read.data, written.data);
  EXPECT_EQ(read.method, written.method);
  EXPECT_EQ(read.clusterer, written.clusterer);
  EXPECT_EQ(read.reduction, written.reduction);
  ASSERT_EQ(read.layers.size(), 1U);
  EXPECT_EQ(read.layers[0].layer, "hidden");
  EXPECT_EQ(read.layers[0].neurons, 5U);
  EXPECT_EQ(read.layers[0].ms, written.layers[0].ms);
  ASSERT_EQ(read.layers[0].important.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.layers[0].important[i].neuron, written.layers[0].important[i].neuron);
    EXPECT_EQ(read.layers[0].important[i].clusters.centroids, written.layers[0].important[i].clusters.centroids);
    EXPECT_EQ(read.layers[0].important[i].clusters.sizes, written.layers[0].important[i].clusters.sizes);
  }
}

TEST_F(ProfileFile, CentroidsSurviveToTheLastBit) {
  Profile exact = profile();
  exact.layers[0].important[0].clusters.centroids = {1.0 / 3, 0.1 + 0.2 + 1};
  write_profile(exact, path);
  EXPECT_EQ(read_profile(path).layers[0].important[0].clusters.centroids, exact.layers[0].important[0].clusters.centroids);
}

TEST_F(ProfileFile, DamagedFilesAreRefused) {
  expect_refused("assay/profile", "assay/other", "not a profile");
  expect_refused("\"version\": 1", "\"version\": 99", "version");
  expect_refused("\"neuron\": 4", "\"neuron\": 5", "not sound");
  expect_refused("\"neuron\": 4", "\"neuron\": 0", "twice");
  expect_refused("\"reduction\": \"max\"", "\"reduction\": \"sum\"", "reduction");
  expect_refused("7.0", "7.0, 7.0", "not sound");
  expect_refused("\"important\"", "\"unimportant\"", "important");
  expect_refused("{", "[", "parse error");
}

TEST_F(ProfileFile, TruncatedAnywhereIsRefused) {
  const std::string text = read_file(path);
  const auto cut = path.string() + ".cut";
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    write_file(cut, text.substr(0, size));
    EXPECT_THROW(read_profile(cut), Error) << size;
  }
  std::filesystem::remove(cut);
}

TEST(RequireProfileFits, RefusesAnotherNetworkAndOtherLayers) {
  const Session session(test::lenet_like());
  const Layer& layer = session.penultimate_layer();
  Profile profile{session.graph().hash(), "data", "", "", "", Reduction::mean,
                  {{layer.name, static_cast<std::size_t>(layer.neurons), {test::important(0, {0, 1})}, {1}}}};
  EXPECT_NO_THROW(require_profile_fits(profile, session));
  const auto fault = [&](const Profile& wrong) {
    try {
      require_profile_fits(wrong, session);
    } catch (const Error& error) {
      return error.fault();
    }
    return Fault::internal;
  };
  Profile other = profile;
  other.model_hash = "another";
  EXPECT_EQ(fault(other), Fault::mismatch);
  other = profile;
  other.layers[0].neurons += 1;
  EXPECT_EQ(fault(other), Fault::mismatch);
  other = profile;
  other.layers[0].layer = "no such layer";
  EXPECT_EQ(fault(other), Fault::usage);
}

}  // namespace
}  // namespace assay
