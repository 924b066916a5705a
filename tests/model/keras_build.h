#pragma once

// Small Keras files made in a test, as Keras writes them.

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <assay/array.h>

namespace assay::testing {

// A float array in Keras's own layout.
struct Values {
  Shape shape;
  std::vector<float> data;
};

// Pseudo-random values in [-1, 1) that depend on the seed only.
Values random_values(const Shape& shape, std::uint64_t seed);
Values numbers(const Shape& shape, std::vector<float> data);

enum class Precision { byte, half, single, twice };
enum class Storage { contiguous, compressed };

// Writes an HDF5 file piece by piece; groups on the way to a path are made.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::filesystem::path& path);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void group(const std::string& path);
  // A string attribute, of variable or fixed length.
  void text(const std::string& group, const std::string& name, const std::string& value,
            bool variable = true);
  // A list of fixed strings, as h5py writes arrays of bytes.
  void texts(const std::string& group, const std::string& name, const std::vector<std::string>& values);
  void number(const std::string& group, const std::string& name, int value);
  void dataset(const std::string& path, const Values& values, Precision precision = Precision::single,
               Storage storage = Storage::contiguous);
  void integers(const std::string& path, const std::vector<int>& values);
  void soft_link(const std::string& path, const std::string& target);
  void external_link(const std::string& path, const std::string& file, const std::string& target);

 private:
  std::int64_t file_;
};

// The weights of one layer: names and values, in Keras's order.
struct LayerValues {
  std::string layer;
  std::vector<std::pair<std::string, Values>> weights;
};

// Writes `layer_names` and the layers' groups under `group`, as Keras 2 does. Every name that is not a
// weight's own gets a group too.
void write_layers(Hdf5Writer& file, const std::string& group, const std::vector<LayerValues>& layers);
// A whole model: attribute model_config, weights under model_weights.
void write_h5(const std::filesystem::path& path, const std::string& config,
              const std::vector<LayerValues>& layers, const std::string& version = "2.11.0");

// A zip archive with these files.
void write_zip(const std::filesystem::path& path, const std::map<std::string, std::string>& files);
// A .keras archive; `weights` by their path in model.weights.h5 ("layers/dense/vars/0").
void write_keras(const std::filesystem::path& path, const std::string& config,
                 const std::map<std::string, Values>& weights, const std::string& version = "3.4.1");

// {"class_name": CLASS, "config": {"name": NAME, MORE}}, for a Sequential model.
std::string layer_json(const std::string& class_name, const std::string& name, const std::string& more = "");
// The same within a functional model of Keras 2: `inbound` is the text of its inbound_nodes.
std::string node_json(const std::string& class_name, const std::string& name, const std::string& more,
                      const std::string& inbound);
std::string sequential_json(const std::vector<std::string>& layers);
// `inputs` and `outputs` are names of layers.
std::string functional_json(const std::vector<std::string>& layers, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs, const std::string& name = "model");
std::string input_json(const std::string& name, const Shape& record,
                       const std::string& more = "");  // functional
// [["a", 0, 0, {}], ["b", 0, 0, {}]] as one call.
std::string call_json(const std::vector<std::string>& layers);
std::string shape_json(const Shape& record);  // [null, 3, 4]; -1 becomes null

}  // namespace assay::testing
