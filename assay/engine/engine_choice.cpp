#include "assay/engine/engine_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include <assay/error.h>
#include "assay/engine/torch/backend.h"

namespace assay::inline engine {
namespace {

bool is_device(const std::string& name) {
  if (name == "cpu" || name == "cuda" || name == "torch:cpu") return true;
  constexpr std::string_view numbered = "cuda:", digits = "0123456789";
  return name.starts_with(numbered) && name.size() > numbered.size() && name.size() <= numbered.size() + 3 &&
         name.find_first_not_of(digits, numbered.size()) == std::string::npos;
}

}  // namespace

EngineChoice engine_choice(const std::string& engine, const std::string& device) {
  if (!is_device(device)) fail(Fault::usage, "unknown device '{}'; it is 'cpu', 'cuda' or 'cuda:N'", device);
  const std::span<const Backend* const> ours = backends();
  std::string known = "auto";
  for (const Backend* backend : ours) known += fmt::format(", {}", backend->name());
  const auto named = std::ranges::find(ours, engine, &Backend::name);
  const bool on_processor = named != ours.end() || engine == "reference";
  if (!on_processor && engine != "auto" && engine != "torch")
    fail(Fault::usage, "no engine '{}' in this build; there are {}, torch, reference", engine, known);
  if (device != "cpu" && on_processor)
    fail(Fault::usage, "engine '{}' runs on the processor; leave it out to run on device '{}'", engine,
         device);
  if (device != "cpu" || engine == "torch") return {{&torch_backend(device)}, true};
  if (named != ours.end()) return {{*named}, true};
  if (engine == "reference") return {};
  return {{ours.begin(), ours.end()}, false};
}

}  // namespace assay::inline engine
