#include "assay/training/checkpoint.h"

#include <assay/array_math.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <assay/error.h>
#include "assay/data/files/numpy.h"

namespace assay::training {
namespace {

using Arrays = std::map<std::string, Array>;

void add_tensors(Arrays& arrays, const std::string& prefix, const Tensors& tensors) {
  for (const auto& [id, tensor] : tensors)
    arrays.emplace(fmt::format("{}.{}", prefix, index_of(id)), tensor.detach().contiguous());
}

// Those named "prefix.NUMBER".
Tensors tensors_of(const Arrays& arrays, const std::string& prefix) {
  Tensors tensors;
  for (const auto& [name, array] : arrays) {
    if (!name.starts_with(prefix + ".")) continue;
    const char *const begin = name.data() + prefix.size() + 1, *const end = name.data() + name.size();
    std::int32_t number = -1;
    if (std::from_chars(begin, end, number).ptr == end) tensors[ValueId{number}] = array.clone();
  }
  return tensors;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  Arrays arrays;
  add_tensors(arrays, "weight", checkpoint.constants);
  add_tensors(arrays, "best", checkpoint.best);
  for (std::size_t s = 0; s < checkpoint.state.size(); ++s)
    arrays.emplace(fmt::format("slot.{}", s), checkpoint.state[s].contiguous());
  std::vector<double> history;
  for (const EpochResult& e : checkpoint.history) {
    history.insert(history.end(), {e.loss, e.accuracy, e.validation_loss.value_or(std::nan("")),
                                   e.validation_accuracy.value_or(std::nan(""))});
  }
  const auto epochs = std::ssize(checkpoint.history);
  arrays.emplace("history", Array::of<double>({epochs, 4}, history));
  arrays.emplace(
      "counters",
      Array::of<std::int64_t>({2}, std::vector<std::int64_t>{
                                       checkpoint.steps, static_cast<std::int64_t>(checkpoint.best_epoch)}));
  const std::vector<std::uint8_t> mark(checkpoint.fingerprint.begin(), checkpoint.fingerprint.end());
  arrays.emplace("fingerprint", Array::of<std::uint8_t>({std::ssize(mark)}, mark));
  write_npz(path, arrays);
}

Checkpoint read_checkpoint(const std::filesystem::path& path, const std::string& fingerprint) {
  const Arrays arrays = read_npz(path);
  const auto get = [&](const std::string& name) -> const Array& {
    const auto it = arrays.find(name);
    if (it == arrays.end())
      fail(Fault::data, "{}: not a checkpoint, or a damaged one ('{}' is missing)", path.string(), name);
    return it->second;
  };
  const auto mark = get("fingerprint").as<std::uint8_t>();
  if (std::string(mark.begin(), mark.end()) != fingerprint) {
    fail(Fault::mismatch,
         "{}: the checkpoint belongs to another network, data set or recipe; delete it or name another one",
         path.string());
  }
  Checkpoint checkpoint{.fingerprint = fingerprint,
                        .constants = tensors_of(arrays, "weight"),
                        .best = tensors_of(arrays, "best"),
                        .state = {},
                        .history = {}};
  for (auto& [number, tensor] : tensors_of(arrays, "slot")) checkpoint.state.push_back(std::move(tensor));
  const auto history = get("history").as<double>();
  for (std::size_t e = 0; e + 3 < history.size(); e += 4) {
    const auto optional = [](double v) { return std::isnan(v) ? std::nullopt : std::optional(v); };
    checkpoint.history.push_back(
        {history[e], history[e + 1], optional(history[e + 2]), optional(history[e + 3])});
  }
  const auto counters = get("counters").as<std::int64_t>();
  if (counters.size() != 2 || counters[1] < 0 ||
      static_cast<std::size_t>(counters[1]) >= std::max<std::size_t>(checkpoint.history.size(), 1))
    fail(Fault::data, "{}: a damaged checkpoint", path.string());
  checkpoint.steps = counters[0];
  checkpoint.best_epoch = counters[1];
  return checkpoint;
}

}  // namespace assay::training
