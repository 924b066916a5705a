#pragma once

// Small networks for one task, records and profiles for the tests of exploration.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/explore.h>
#include <assay/extend/constraint.h>
#include <assay/model.h>
#include "assay/data/files/numpy.h"
#include "tests/attack/build.h"

namespace assay::test {
using namespace explore;

// 6 inputs, 9 hidden units, 4 classes; another network for every seed.
inline Graph classifier(std::uint64_t seed) {
  Net net("classifier" + std::to_string(seed), seed);
  ValueId x = net.input({-1, 6});
  x = net.builder.add("Tanh", "tanh", {net.dense("hidden", x, 6, 9)});
  return net.build(net.dense("logits", x, 9, 4));
}

// Two inputs, a layer that copies them, scores A x.
inline Graph copying(const std::vector<float>& a, std::int64_t outputs = 2) {
  GraphBuilder build("copying");
  const ValueId in = build.input("input", DType::float32, {-1, 2});
  const ValueId copy = build.add(
      "Gemm", "copy", {in, build.constant("eye", Array::of<float>({2, 2}, std::vector<float>{1, 0, 0, 1}))},
      {{"transB", std::int64_t{1}}});
  build.output(build.add("Gemm", "logits", {copy, build.constant("a", Array::of<float>({outputs, 2}, a))},
                         {{"transB", std::int64_t{1}}}));
  return build.build();
}

// Networks, a data set of records in [0, 1] in a folder of its own, and what the networks learned from it.
class Networks : public testing::Test {
 protected:
  Networks() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(testing::TempDir()) / (std::string("assay_explore_") + info->name());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~Networks() override { std::filesystem::remove_all(folder); }

  DatasetPtr write(const std::string& name, const Array& records,
                   const std::vector<std::int64_t>& labels = {}) const {
    std::map<std::string, Array> arrays{{"x", records}};
    if (!labels.empty()) arrays.emplace("y", Array::of<std::int64_t>({records.size(0)}, labels));
    write_npz(folder / name, arrays);
    return open_dataset((folder / name).string() + ",range=0:1");
  }

  void use(std::vector<Graph> graphs, const DatasetPtr& records, const std::string& with = "nc[scale=none]") {
    data = records;
    criterion = parse_spec("criterion", with);
    for (Graph& graph : graphs) {
      const std::string name = "net" + std::to_string(networks.size());
      sessions.push_back(std::make_unique<Session>(std::move(graph), one_thread));
      coverage::LearnOptions options;
      options.criteria = {criterion};
      networks.push_back({name, sessions.back().get(),
                          std::make_shared<const coverage::Profile>(
                              coverage::learn_profile(*sessions.back(), data, options, silence()).profile)});
    }
  }

  ExploreOptions options() const {
    ExploreOptions result;
    result.criterion = criterion;
    result.search.levels = false;
    result.search.step = 0.1;
    result.search.iterations = 20;
    result.round = 8;
    return result;
  }

  std::filesystem::path folder;
  DatasetPtr data;
  Spec criterion;
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<ExploredNetwork> networks;
};

}  // namespace assay::test
