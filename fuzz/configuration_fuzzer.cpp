// assay.toml of arbitrary bytes, applied to a command with flags of every kind.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>

#include <assay/error.h>
#include "apps/frame/config.h"
#include "seeds.h"

namespace {

namespace fs = std::filesystem;

std::vector<std::string> seeds() {
  return {"model = \"net.onnx\"\nquiet = true\n[cover]\nm = [6, 8]\nseed = 7\nshare = 0.5\n",
          "[cover]\ncriterion = [\"nc\", \"kmnc[sections=10]\"]\nunknown = 1\n", "a = \n", ""};
}

fs::path scratch_file() {
  const fs::path memory = "/dev/shm", folder = fs::exists(memory) ? memory : fs::temp_directory_path();
  return folder / ("assay_fuzz_" + std::to_string(::getpid()) + ".toml");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path file = scratch_file();
  assay::write_file(file, std::string_view(reinterpret_cast<const char*>(data), size));
  CLI::App root("assay");
  CLI::App* const cover = root.add_subcommand("cover");
  CLI::App* const other = root.add_subcommand("mutate");
  std::string model, m;
  std::vector<std::string> criteria;
  bool quiet = false;
  std::uint64_t seed = 0;
  double share = 0;
  for (CLI::App* app : {cover, other}) {
    app->add_option("--model", model);
    app->add_option("--criterion", criteria);
    app->add_option("-m,--neurons", m);
    app->add_flag("--quiet", quiet);
    app->add_option("--seed", seed);
    app->add_option("--share", share)->check(CLI::Range(0.0, 1.0));
  }
  try {
    assay::frame::apply_config(file, {}, {}, root, *cover);
  } catch (const assay::Error&) {
  }
  return 0;
}
