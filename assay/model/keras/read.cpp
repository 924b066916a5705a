#include "assay/model/keras/read.h"

#include <optional>
#include <vector>

#include <assay/error.h>
#include "assay/model/keras/assemble.h"
#include "assay/model/keras/config.h"
#include "assay/model/keras/hdf5.h"
#include "assay/model/keras/weights.h"
#include "assay/support/files/file.h"
#include "assay/support/files/zip_file.h"

namespace assay::inline model {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t config_limit = std::uint64_t{64} << 20;
constexpr std::uint64_t weights_limit = std::uint64_t{4} << 30;
constexpr std::uint64_t deflate_ratio = 1100;  // deflate cannot shrink data further than 1032 times

// The architecture next to a file of weights: the same stem, with ".weights" taken off if need be.
std::optional<fs::path> architecture_beside(const fs::path& weights) {
  fs::path candidate = weights;
  for (int i = 0; i < 2 && candidate.has_extension(); ++i) {
    candidate.replace_extension();
    fs::path json = candidate;
    json += ".json";
    if (fs::is_regular_file(json)) return json;
  }
  return std::nullopt;
}

std::optional<fs::path> weights_beside(const fs::path& json) {
  for (const char* extension : {".h5", ".hdf5", ".weights.h5"}) {
    fs::path candidate = json;
    candidate.replace_extension();
    candidate += extension;
    if (fs::is_regular_file(candidate)) return candidate;
  }
  return std::nullopt;
}

// "keras_version" or "backend", which Keras writes at the root or next to the weights.
std::string root_text(const Hdf5File& file, const char* attribute) {
  if (const auto text = file.text("", attribute)) return *text;
  if (file.is_group("model_weights")) return file.text("model_weights", attribute).value_or("");
  return "";
}

// Keras 3 lists the files of weights that are split here.
constexpr const char* shard_list = "model.weights.json";

[[noreturn]] void refuse_shards(const std::string& name) {
  fail(Fault::unsupported,
       "{}: its weights are split over several files (max_shard_size), which are not read; load the model in "
       "Keras and save it in one: model.save('model.keras')",
       name);
}

// One file of the archive, whole. `limit` is in bytes.
std::string zip_entry(const ZipFile& archive, const std::string& archive_name, const char* name,
                      std::uint64_t limit) {
  const ZipEntry* const entry = archive.find(name);
  if (entry == nullptr) fail(Fault::model, "{}: no '{}' in the archive", archive_name, name);
  if (entry->size > limit || entry->size / deflate_ratio > entry->packed_size) {
    fail(Fault::resources, "{}: '{}' unpacks from {} to {} bytes, which no model needs", archive_name, name,
         entry->packed_size, entry->size);
  }
  // Piece by piece, so that memory follows what is there and not what is claimed.
  std::string bytes;
  const bool whole = archive.read(*entry, [&](std::string_view piece) {
    bytes.append(piece);
    return true;
  });
  if (!whole) fail(Fault::model, "{}: '{}' {}", archive_name, name, fault_of(*entry));
  return bytes;
}

}  // namespace

Graph read_keras_h5(const fs::path& path) {
  const bool is_json = path.extension() == ".json";
  if (path.filename().string().ends_with(shard_list)) refuse_shards(path.string());
  const auto weights = is_json ? weights_beside(path) : path;
  if (!weights) {
    fail(Fault::io, "{}: its weights are missing; put them in '{}'", path.string(),
         fs::path(path).replace_extension(".h5").string());
  }
  Hdf5File file(*weights);
  std::string version = root_text(file, "keras_version"), backend = root_text(file, "backend");
  if (!is_json) {
    if (const auto config = file.text("", "model_config")) {
      return assemble_keras(parse_keras_config(*config, path.string(), version, backend), file,
                            path.string());
    }
  }
  const auto architecture = is_json ? path : architecture_beside(*weights);
  if (!architecture && !holds_keras_weights(file)) {
    fail(Fault::model,
         "{}: an HDF5 file without a Keras model (no 'model_config', no 'layer_names', no 'layers'); give "
         "the file that model.save() wrote",
         weights->string());
  }
  if (!architecture) {
    fail(Fault::model,
         "{}: holds weights but no architecture; save the whole model, or put model.to_json() in '{}'",
         weights->string(), fs::path(*weights).replace_extension(".json").string());
  }
  return assemble_keras(
      parse_keras_config(read_file(*architecture, config_limit), architecture->string(), version, backend),
      file, path.string());
}

Graph read_keras_zip(const fs::path& path) {
  if (!fs::exists(path)) fail(Fault::io, "{}: no such file", path.string());
  const auto archive = ZipFile::open(path);
  if (!archive) fail(Fault::model, "{}: not a complete zip archive (truncated or damaged?)", path.string());
  const std::string config = zip_entry(*archive, path.string(), "config.json", config_limit);
  std::string version;
  if (archive->find("metadata.json") != nullptr) {
    version = keras_version_of(zip_entry(*archive, path.string(), "metadata.json", config_limit));
  }
  if (archive->find("model.weights.h5") == nullptr && archive->find(shard_list) != nullptr)
    refuse_shards(path.string());
  return read_keras_memory(config, zip_entry(*archive, path.string(), "model.weights.h5", weights_limit),
                           path.string(), version);
}

Graph read_keras_memory(std::string_view config, std::string weights, const std::string& source,
                        const std::string& version) {
  const KerasModel model = parse_keras_config(config, source, version);
  Hdf5File file(std::move(weights), source);
  return assemble_keras(model, file, source);
}

}  // namespace assay::inline model
