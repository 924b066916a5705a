#include "assay/engine/preparation/directions.h"

#include <filesystem>
#include <map>
#include <vector>

#include <fmt/ranges.h>

#include <assay/error.h>
#include "assay/data/files/numpy.h"
#include "assay/engine/elements.h"
#include "assay/model/safetensors.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct NamedDirections {
  fs::path file;
  std::string array;  // empty: the only one
};

NamedDirections parse_directions(const std::string& text) {
  std::error_code code;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || fs::exists(text, code)) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::map<std::string, Array> arrays_in(const NamedDirections& named) {
  if (named.file.extension() != ".safetensors") return read_npz(named.file);
  const Safetensors tensors{named.file};
  std::map<std::string, Array> arrays;
  for (const auto& [name, tensor] : tensors.tensors())
    if (tensor.is_floating() && (named.array.empty() || name == named.array))
      arrays.emplace(name, tensors.read(name));
  return arrays;
}

bool holds_directions(const Array& array) {
  return array.count() > 0 && (array.rank() == 1 || array.rank() == 2);
}

}  // namespace

Array read_directions(const std::string& text) {
  const NamedDirections named = parse_directions(text);
  std::map<std::string, Array> arrays = arrays_in(named);
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays)
    if (holds_directions(array)) names.push_back(name);
  std::erase_if(arrays, [&](const auto& entry) {
    return !holds_directions(entry.second) || (!named.array.empty() && entry.first != named.array);
  });
  if (arrays.size() > 1)
    fail(Fault::data, "directions '{}': the file holds several arrays ({}); name one, as {}:{}", text,
         fmt::join(names, ", "), named.file.string(), names[0]);
  if (arrays.empty())
    fail(Fault::data,
         "directions '{}': there is no such matrix, of a direction in each row (nor vector); the file has {}",
         text, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  const Array found = arrays.begin()->second.to(DType::float32).contiguous();
  if (!has_finite_elements(found))
    fail(Fault::data, "directions '{}' hold numbers that are not finite", text);
  return found.rank() == 2 ? found : found.reshape({1, found.count()});
}

}  // namespace assay
