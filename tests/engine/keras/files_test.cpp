// Every layer of Keras, in files that Keras itself writes (keras_networks.py): outputs equal what Keras
// predicts, or the network is refused in words. Needs Keras of PyPI with one of its back ends; skips without.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <assay/error.h>
#include <assay/model.h>
#include <assay/session.h>
#include "assay/data/files/npz.h"
#include "network.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* oldest = "3.15";  // of Keras

std::string python() {
  const char* given = std::getenv("ASSAY_KERAS_PYTHON");
  return given ? given : "python3";
}

bool succeeds(const std::string& command) { return std::system(command.c_str()) == 0; }

bool keras_is_there() {
  return succeeds(python() +
                  " -c 'import keras, sys; v = lambda t: [int(p) for p in t.split(\".\")[:2]]; "
                  "sys.exit(v(keras.__version__) < v(\"" +
                  oldest + "\"))' >/dev/null 2>&1");
}

// The folder of the networks: one that is there already, or made now.
fs::path networks() {
  if (const char* given = std::getenv("ASSAY_KERAS_NETWORKS")) return given;
  static const fs::path made = [] {
    const fs::path folder = temporary("keras_networks");
    const std::string script = std::string(ASSAY_SOURCE_DIR) + "/tests/engine/keras/keras_networks.py";
    EXPECT_TRUE(succeeds(python() + " '" + script + "' '" + folder.string() + "' >/dev/null 2>&1"));
    return folder;
  }();
  return made;
}

// "x" and the numbers after it: the arrays of an archive in their order.
std::vector<Values> arrays(const NpzFile& archive, const std::string& letter) {
  std::vector<Values> result;
  while (const NpzEntry* entry = archive.find(letter + std::to_string(result.size()))) {
    const Array array =
        npy_elements(entry->header.type, entry->header.shape,
                     std::string_view(archive.bytes(*entry)).substr(entry->header.begin), entry->name);
    result.push_back({array.shape(), {}});
    for (std::int64_t i = 0; i < array.count(); ++i)
      result.back().data.push_back(
          static_cast<float>(array.dtype() == DType::int64
                                 ? static_cast<double>(array.as<std::int64_t>()[static_cast<std::size_t>(i)])
                             : array.dtype() == DType::int32
                                 ? static_cast<double>(array.as<std::int32_t>()[static_cast<std::size_t>(i)])
                                 : static_cast<double>(array.as<float>()[static_cast<std::size_t>(i)])));
  }
  return result;
}

// The names of networks that must be refused, and words of the message.
std::map<std::string, std::string> refusals(const fs::path& folder) {
  std::map<std::string, std::string> result;
  std::ifstream lines(folder / "refused.txt");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    result[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return result;
}

// Whether pictures are stored in the order that Keras has: models with channels first.
bool stored_as_is(const Graph& graph, const std::vector<Values>& inputs) {
  bool pictures = false;
  for (std::size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i) {
    const Shape declared = graph.value(graph.inputs()[i]).shape;
    if (Shape(declared.begin() + 1, declared.end()) !=
        Shape(inputs[i].shape.begin() + 1, inputs[i].shape.end()))
      return false;
    pictures = pictures || declared.size() >= 4;
  }
  return pictures;
}

// Tolerance for sums of numbers as large as the largest.
double tolerance_of(const Values& expected) {
  double largest = 1;
  for (const float value : expected.data) largest = std::max(largest, std::abs(double{value}));
  return 1e-5 * largest;
}

void compare(const fs::path& file, const NpzFile& archive) {
  SCOPED_TRACE(file.filename());
  try {
    const Graph graph = read_model(file);
    const std::vector<Values> inputs = arrays(archive, "x"), expected = arrays(archive, "y");
    const bool as_is = stored_as_is(graph, inputs);
    const std::vector<Values> outputs = run_graph(graph, inputs, as_is);
    ASSERT_EQ(outputs.size(), expected.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      EXPECT_TRUE(same(outputs[i], expected[i], tolerance_of(expected[i]))) << "output " << i;
    const std::vector<Values> session = run_session(graph, inputs, as_is);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      EXPECT_TRUE(same(session.at(i), expected[i], tolerance_of(expected[i])))
          << "output " << i << " of a session";
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

void expect_refused(const fs::path& file, const std::string& words) {
  SCOPED_TRACE(file.filename());
  try {
    read_model(file);
    ADD_FAILURE() << "was read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(KerasFiles, EveryLayerGivesWhatKerasPredicts) {
  if (!std::getenv("ASSAY_KERAS_NETWORKS") && !keras_is_there())
    GTEST_SKIP() << python() << " has no Keras " << oldest << " or newer (pip install keras jax; "
                 << "ASSAY_KERAS_PYTHON names another Python)";
  const auto refused = refusals(networks());
  std::set<fs::path> sorted;
  for (const auto& entry : fs::directory_iterator(networks())) {
    if (entry.path().extension() == ".npz") sorted.insert(entry.path());
  }
  EXPECT_GT(sorted.size(), 300U);
  for (const fs::path& values : sorted) {
    const NpzFile archive(values);
    for (const char* extension : {".keras", ".h5"}) {
      const fs::path file = fs::path(values).replace_extension(extension);
      if (!fs::exists(file)) continue;
      const auto found = refused.find(values.stem().string());
      if (found == refused.end())
        compare(file, archive);
      else
        expect_refused(file, found->second);
    }
  }
}

}  // namespace
}  // namespace assay::testing
