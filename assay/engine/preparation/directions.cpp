#include "assay/engine/preparation/directions.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <fmt/ranges.h>

#include <assay/error.h>
#include "assay/data/files/numpy.h"
#include "assay/engine/elements.h"
#include "assay/model/safetensors.h"

namespace assay::inline engine {
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

bool may_be_directions(const Shape& shape) {
  return (shape.size() == 1 || shape.size() == 2) && element_count(shape) > 0;
}

// Vectors and matrices of a file, which are read when they are asked for: files of autoencoders are large.
std::map<std::string, std::function<Array()>> arrays_in(const fs::path& file) {
  std::map<std::string, std::function<Array()>> arrays;
  if (file.extension() == ".safetensors") {
    const auto tensors = std::make_shared<const Safetensors>(file);
    for (const auto& [name, tensor] : tensors->tensors())
      if (tensor.is_floating() && may_be_directions(tensor.shape))
        arrays[name] = [tensors, name = name] { return tensors->read(name); };
    return arrays;
  }
  const auto archive = std::make_shared<const NpzFile>(file);
  for (const NpzEntry& entry : archive->entries())
    if (!entry.header.is_text() && may_be_directions(entry.header.shape))
      arrays[entry.name] = [archive, &entry] { return *npz_array(*archive, entry); };
  return arrays;
}

}  // namespace

Array read_directions(const std::string& text) {
  const NamedDirections named = parse_directions(text);
  std::map<std::string, std::function<Array()>> arrays = arrays_in(named.file);
  std::vector<std::string> names;
  for (const auto& [name, read] : arrays) names.push_back(name);
  if (!named.array.empty())
    std::erase_if(arrays, [&](const auto& entry) { return entry.first != named.array; });
  if (arrays.size() > 1)
    fail(Fault::data, "directions '{}': the file holds several arrays ({}); name one, as {}:NAME", text,
         fmt::join(names, ", "), named.file.string());
  if (arrays.empty())
    fail(Fault::data,
         "directions '{}': there is no such matrix, of a direction in each row (nor vector); the file has {}",
         text, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  const Array found = arrays.begin()->second().to(DType::float32).contiguous();
  if (!has_finite_elements(found))
    fail(Fault::data, "directions '{}' hold numbers that are not finite", text);
  return found.rank() == 2 ? found : found.reshape({1, found.count()});
}

}  // namespace assay::inline engine
