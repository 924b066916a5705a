#include "keras_build.h"

#include <fmt/format.h>
#include <hdf5.h>
#include <zip.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <assay/extend/random.h>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

hid_t check(hid_t id) {
  if (id < 0) throw std::runtime_error("the test cannot write HDF5");
  return id;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? ", " : "") + parts[i];
  return text;
}

hid_t file_type(Precision precision) {
  if (precision == Precision::byte) return H5Tcopy(H5T_STD_I8LE);
  if (precision == Precision::twice) return H5Tcopy(H5T_IEEE_F64LE);
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  if (precision == Precision::half) {
    H5Tset_fields(type, 15, 10, 5, 0, 10);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, 15);
  }
  return type;
}

// Creates the groups above `path`.
hid_t creating() {
  const hid_t list = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(list, 1);
  return list;
}

}  // namespace

Values random_values(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  Values result{shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)))};
  for (float& value : result.data) value = static_cast<float>(rng.uniform() * 2 - 1);
  return result;
}

Values numbers(const Shape& shape, std::vector<float> data) { return {shape, std::move(data)}; }

Hdf5Writer::Hdf5Writer(const fs::path& path)
    : file_(check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT))) {}
Hdf5Writer::~Hdf5Writer() { H5Fclose(file_); }

void Hdf5Writer::group(const std::string& path) {
  if (path.empty()) return;
  std::size_t end = 0;
  while (end != std::string::npos) {
    end = path.find('/', end + 1);
    const std::string prefix = path.substr(0, end);
    if (H5Lexists(file_, prefix.c_str(), H5P_DEFAULT) <= 0) {
      H5Gclose(check(H5Gcreate2(file_, prefix.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    }
  }
}

void Hdf5Writer::text(const std::string& path, const std::string& name, const std::string& value,
                      bool variable) {
  group(path);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, variable ? H5T_VARIABLE : std::max<std::size_t>(value.size(), 1));
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t object = check(H5Oopen(file_, path.empty() ? "/" : path.c_str(), H5P_DEFAULT));
  const hid_t attribute = check(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  const char* pointer = value.c_str();
  check(H5Awrite(attribute, type, variable ? static_cast<const void*>(&pointer) : pointer));
  H5Aclose(attribute);
  H5Oclose(object);
  H5Sclose(space);
  H5Tclose(type);
}

void Hdf5Writer::texts(const std::string& path, const std::string& name,
                       const std::vector<std::string>& values) {
  group(path);
  std::size_t width = 1;
  for (const auto& value : values) width = std::max(width, value.size());
  std::string bytes;
  for (const auto& value : values) bytes += value + std::string(width - value.size(), '\0');
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, width);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  const hsize_t count = values.size();
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t object = check(H5Oopen(file_, path.empty() ? "/" : path.c_str(), H5P_DEFAULT));
  const hid_t attribute = check(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  if (count > 0) check(H5Awrite(attribute, type, bytes.data()));
  H5Aclose(attribute);
  H5Oclose(object);
  H5Sclose(space);
  H5Tclose(type);
}

void Hdf5Writer::number(const std::string& path, const std::string& name, int value) {
  group(path);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t object = check(H5Oopen(file_, path.empty() ? "/" : path.c_str(), H5P_DEFAULT));
  const hid_t attribute =
      check(H5Acreate2(object, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT));
  check(H5Awrite(attribute, H5T_NATIVE_INT, &value));
  H5Aclose(attribute);
  H5Oclose(object);
  H5Sclose(space);
}

void Hdf5Writer::dataset(const std::string& path, const Values& values, Precision precision,
                         Storage storage) {
  const std::vector<hsize_t> dims(values.shape.begin(), values.shape.end());
  const hid_t space = dims.empty() ? H5Screate(H5S_SCALAR)
                                   : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
  const hid_t type = file_type(precision), links = creating(), list = H5Pcreate(H5P_DATASET_CREATE);
  if (storage == Storage::compressed) {
    H5Pset_chunk(list, static_cast<int>(dims.size()), dims.data());
    H5Pset_shuffle(list);
    H5Pset_deflate(list, 6);
  }
  const hid_t dataset = check(H5Dcreate2(file_, path.c_str(), type, space, links, list, H5P_DEFAULT));
  check(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data.data()));
  H5Dclose(dataset);
  H5Pclose(list);
  H5Pclose(links);
  H5Tclose(type);
  H5Sclose(space);
}

void Hdf5Writer::integers(const std::string& path, const std::vector<int>& values) {
  const hsize_t count = values.size();
  const hid_t space = H5Screate_simple(1, &count, nullptr), links = creating();
  const hid_t dataset =
      check(H5Dcreate2(file_, path.c_str(), H5T_STD_I16LE, space, links, H5P_DEFAULT, H5P_DEFAULT));
  check(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  H5Dclose(dataset);
  H5Pclose(links);
  H5Sclose(space);
}

void Hdf5Writer::soft_link(const std::string& path, const std::string& target) {
  const hid_t links = creating();
  check(H5Lcreate_soft(target.c_str(), file_, path.c_str(), links, H5P_DEFAULT));
  H5Pclose(links);
}

void Hdf5Writer::external_link(const std::string& path, const std::string& file, const std::string& target) {
  const hid_t links = creating();
  check(H5Lcreate_external(file.c_str(), target.c_str(), file_, path.c_str(), links, H5P_DEFAULT));
  H5Pclose(links);
}

void write_layers(Hdf5Writer& file, const std::string& group, const std::vector<LayerValues>& layers) {
  std::vector<std::string> names;
  for (const LayerValues& layer : layers) {
    names.push_back(layer.layer);
    const std::string path = group.empty() ? layer.layer : group + "/" + layer.layer;
    std::vector<std::string> weight_names;
    for (const auto& [name, values] : layer.weights) {
      weight_names.push_back(name);
      file.dataset(path + "/" + name, values);
    }
    file.texts(path, "weight_names", weight_names);
  }
  file.texts(group, "layer_names", names);
}

void write_h5(const fs::path& path, const std::string& config, const std::vector<LayerValues>& layers,
              const std::string& version) {
  Hdf5Writer file(path);
  file.text("", "model_config", config);
  file.text("", "keras_version", version);
  file.text("", "backend", "tensorflow");
  write_layers(file, "model_weights", layers);
}

void write_zip(const fs::path& path, const std::map<std::string, std::string>& files) {
  fs::remove(path);
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE, &code);
  if (!archive) throw std::runtime_error("the test cannot write a zip archive");
  for (const auto& [name, bytes] : files) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    zip_file_add(archive, name.c_str(), source, ZIP_FL_OVERWRITE);
  }
  if (zip_close(archive) != 0) throw std::runtime_error("the test cannot write a zip archive");
}

void write_keras(const fs::path& path, const std::string& config,
                 const std::map<std::string, Values>& weights, const std::string& version) {
  const fs::path h5 = path.string() + ".weights";
  {
    Hdf5Writer file(h5);
    if (weights.empty()) file.group("layers");
    for (const auto& [name, values] : weights) file.dataset(name, values);
  }
  std::ostringstream bytes;
  bytes << std::ifstream(h5, std::ios::binary).rdbuf();
  write_zip(path,
            {{"config.json", config},
             {"metadata.json", fmt::format(R"({{"keras_version": "{}", "date_saved": "today"}})", version)},
             {"model.weights.h5", bytes.str()}});
}

std::string layer_json(const std::string& class_name, const std::string& name, const std::string& more) {
  return fmt::format(R"({{"class_name": "{}", "config": {{"name": "{}"{}{}}}}})", class_name, name,
                     more.empty() ? "" : ", ", more);
}

std::string node_json(const std::string& class_name, const std::string& name, const std::string& more,
                      const std::string& inbound) {
  return fmt::format(
      R"({{"class_name": "{0}", "name": "{1}", "config": {{"name": "{1}"{2}{3}}}, "inbound_nodes": {4}}})",
      class_name, name, more.empty() ? "" : ", ", more, inbound);
}

std::string sequential_json(const std::vector<std::string>& layers) {
  return fmt::format(R"({{"class_name": "Sequential", "config": {{"name": "sequential", "layers": [{}]}}}})",
                     joined(layers));
}

std::string functional_json(const std::vector<std::string>& layers, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs, const std::string& name) {
  const auto references = [](const std::vector<std::string>& names) {
    std::vector<std::string> list;
    for (const auto& item : names) list.push_back(fmt::format(R"(["{}", 0, 0])", item));
    return joined(list);
  };
  return fmt::format(
      R"({{"class_name": "Functional", "config": {{"name": "{}", "layers": [{}], "input_layers": [{}], "output_layers": [{}]}}}})",
      name, joined(layers), references(inputs), references(outputs));
}

std::string shape_json(const Shape& record) {
  std::vector<std::string> dims{"null"};
  for (const auto dim : record) dims.push_back(dim < 0 ? "null" : std::to_string(dim));
  return fmt::format("[{}]", joined(dims));
}

std::string input_json(const std::string& name, const Shape& record, const std::string& more) {
  return node_json(
      "InputLayer", name,
      fmt::format(R"("batch_input_shape": {}{}{})", shape_json(record), more.empty() ? "" : ", ", more),
      "[]");
}

std::string call_json(const std::vector<std::string>& layers) {
  std::vector<std::string> list;
  for (const auto& item : layers) list.push_back(fmt::format(R"(["{}", 0, 0, {{}}])", item));
  return fmt::format("[{}]", joined(list));
}

}  // namespace assay::testing
