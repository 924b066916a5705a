// Trained networks by what they were trained from: KEY.onnx is the network, KEY.json says what it is and is
// written last.

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include <assay/error.h>
#include <assay/model.h>
#include <assay/source_mutation.h>
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/text.h"

namespace assay::mutation {
namespace {

namespace fs = std::filesystem;
using StoreJson = nlohmann::json;

constexpr const char* store_format = "assay trained network 1";
constexpr std::size_t key_digits = 32;
constexpr std::size_t largest_score = 1 << 28;
constexpr std::uint64_t largest_network = std::uint64_t{1} << 31;

bool is_key(const std::string& text) {
  return text.size() == key_digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The content of KEY.json; nothing if it is missing, foreign or damaged.
std::optional<StoreJson> facts_of(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return {};
  StoreJson facts = StoreJson::parse(read_file(file, 1 << 24), nullptr, false);
  const auto text = [&](const char* name) { return facts.contains(name) && facts[name].is_string(); };
  if (!facts.is_object() || !text("format") || facts["format"] != store_format || !text("what") ||
      (!text("network") && !text("failure")))
    return {};
  return facts;
}

void write_facts(const fs::path& file, const StoreJson& facts) {
  write_file(file, facts.dump(1, ' ', false, StoreJson::error_handler_t::replace) + "\n");
}

// Under the name of the network that was trained rather than that of the file.
Graph read_kept(const fs::path& folder, const std::string& key, const std::string& name) {
  return read_onnx(read_file(folder / (key + ".onnx"), largest_network), folder, name);
}

}  // namespace

std::optional<Graph> TrainedStore::find(const std::string& key) const {
  const auto facts = facts_of(folder_ / (key + ".json"));
  if (!facts || !facts->contains("network")) return {};
  try {
    const auto name = facts->find("name");
    const bool named = name != facts->end() && name->is_string();
    Graph network = read_kept(folder_, key, named ? name->get<std::string>() : key);
    if (facts->at("network") == network.hash()) return network;
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted || error.fault() == Fault::resources) throw;
  }
  return {};
}

bool TrainedStore::holds(const std::string& key) const {
  std::error_code ignored;
  return fs::is_regular_file(folder_ / (key + ".onnx"), ignored);
}

std::string TrainedStore::failure(const std::string& key) const {
  const auto facts = facts_of(folder_ / (key + ".json"));
  return facts ? facts->value("failure", std::string()) : std::string();
}

void TrainedStore::keep(const std::string& key, const std::string& what, const Graph& network) const {
  write_onnx(network, folder_ / (key + ".onnx"));
  // The hash of what a reader gets.
  const std::string hash = read_kept(folder_, key, network.name()).hash();
  write_facts(folder_ / (key + ".json"),
              {{"format", store_format}, {"what", what}, {"name", network.name()}, {"network", hash}});
}

void TrainedStore::keep_failure(const std::string& key, const std::string& what,
                                const std::string& reason) const {
  write_facts(folder_ / (key + ".json"), {{"format", store_format}, {"what", what}, {"failure", reason}});
}

// One line with the number, one with 1 for each record that is right and 0 for the others.
std::optional<TrainedScore> TrainedStore::score(const std::string& key, const std::string& data) const {
  const fs::path file = folder_ / fmt::format("{}.{}.score", key, data);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return {};
  const std::string text = read_file(file, largest_score);
  TrainedScore score;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, score.value);
  // The last end of line says that it is whole.
  if (error != std::errc() || end == last || *end != '\n' || text.back() != '\n' || end + 1 == last)
    return {};
  for (const char* record = end + 1; record + 1 < last; ++record) {
    if (*record != '0' && *record != '1') return {};
    score.right.push_back(*record == '1');
  }
  return score;
}

void TrainedStore::keep_score(const std::string& key, const std::string& data,
                              const TrainedScore& score) const {
  std::string records;
  for (const bool right : score.right) records += right ? '1' : '0';
  write_file(folder_ / fmt::format("{}.{}.score", key, data), fmt::format("{}\n{}\n", score.value, records));
}

fs::path TrainedStore::checkpoint(const std::string& key) const {
  return folder_ / (key + ".checkpoint.npz");
}

fs::path TrainedStore::log(const std::string& key) const { return folder_ / (key + ".log"); }

std::vector<TrainedStore::Entry> TrainedStore::list(bool verify) const {
  std::error_code error;
  std::map<std::string, Entry> entries;
  for (fs::directory_iterator file(folder_, error), end; !error && file != end; file.increment(error)) {
    const std::string name = file->path().filename().string(), key = name.substr(0, name.find('.'));
    std::error_code ignored;
    if (!is_key(key) || !file->is_regular_file(ignored)) continue;
    Entry& entry = entries[key];
    entry.key = key;
    const std::uintmax_t bytes = file->file_size(ignored);
    if (!ignored) entry.bytes += bytes;
  }
  if (error) fail(Fault::io, "{}: the store cannot be read: {}", folder_.string(), error.message());
  std::vector<Entry> all;
  for (auto& [key, entry] : entries) {
    const auto facts = facts_of(folder_ / (key + ".json"));
    std::error_code ignored;
    if (!facts) {
      entry.status = Status::unfinished;
    } else if (facts->contains("failure")) {
      entry.status = Status::failed;
      entry.status_text = facts->at("failure");
    } else {
      entry.network = facts->at("network");
      const bool there = verify ? find(key).has_value() : fs::exists(folder_ / (key + ".onnx"), ignored);
      if (!there) entry.status = Status::damaged;
    }
    if (facts) entry.what = facts->at("what");
    all.push_back(std::move(entry));
  }
  return all;
}

void TrainedStore::remove(const std::string& key) const {
  // The description first: without it, the rest counts as not there.
  std::vector<fs::path> files{folder_ / (key + ".json")};
  std::error_code error;
  for (fs::directory_iterator file(folder_, error), end; !error && file != end; file.increment(error)) {
    if (file->path().filename().string().starts_with(key + ".")) files.push_back(file->path());
  }
  for (const fs::path& file : files) {
    fs::remove(file, error);
    if (error) fail(Fault::io, "{}: cannot be removed: {}", file.string(), error.message());
  }
}

}  // namespace assay::mutation
