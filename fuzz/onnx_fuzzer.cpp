// The ONNX reader on arbitrary bytes: anything but a graph or an Error is a defect. What is read can be
// written, and comes back with an equal hash.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include <assay/error.h>
#include <assay/model.h>
#include "onnx_seeds.h"
#include "seeds.h"

namespace {

namespace fs = std::filesystem;

void check_round_trip(const assay::Graph& graph) {
  static const fs::path file =
      fs::temp_directory_path() / ("assay_fuzz_" + std::to_string(::getpid()) + ".onnx");
  try {
    assay::write_onnx(graph, file);
  } catch (const assay::Error& error) {
    // Operators of no set up to 21, and attributes of a wrong type that only writing looks at.
    if (error.fault() == assay::Fault::unsupported || error.fault() == assay::Fault::model) return;
    throw;
  }
  const assay::Graph back = assay::read_model(file);
  fs::remove(file);
  if (back.hash() == graph.hash()) return;
  std::cerr << "the graph came back different\n";
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(assay::fuzz::onnx_seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::optional<assay::Graph> graph;
  try {
    graph = assay::read_onnx(bytes, fs::temp_directory_path() / "assay_fuzz_no_such_folder", "fuzz");
  } catch (const assay::Error&) {
    return 0;
  }
  check_round_trip(*graph);
  return 0;
}
