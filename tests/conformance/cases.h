#pragma once

// Cases of the ONNX project's conformance data: a folder with model.onnx and folders test_data_set_N, which
// hold the inputs and the outputs they must give.

#include <filesystem>
#include <string>
#include <vector>

namespace assay::conformance {

struct Case {
  std::string name;  // "node/test_abs"
  std::filesystem::path folder;
};

// All cases below the folder, sorted by name.
std::vector<Case> find_cases(const std::filesystem::path& data);

enum class Outcome { passed, wrong, refused, broken };

struct Result {
  Outcome outcome = Outcome::broken;
  std::string text;  // what differs, or the message
};

// Reads the network, gives it each set of inputs with each of these engines, and compares. An Error is a
// refusal; any other exception passes through.
Result run_case(const Case& test, const std::vector<std::string>& engines);

}  // namespace assay::conformance
