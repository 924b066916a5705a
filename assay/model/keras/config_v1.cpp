#include <nlohmann/json.hpp>

#include <array>
#include <utility>

#include "assay/model/keras/config.h"

namespace assay::inline model {
namespace {

using nlohmann::json;

struct Rename {
  const char* from;
  const char* to;
};

constexpr std::array classes{
    Rename{"Convolution1D", "Conv1D"},
    Rename{"Convolution2D", "Conv2D"},
    Rename{"Convolution3D", "Conv3D"},
    Rename{"AtrousConvolution1D", "Conv1D"},
    Rename{"AtrousConvolution2D", "Conv2D"},
    Rename{"Deconvolution2D", "Conv2DTranspose"},
    Rename{"SeparableConvolution2D", "SeparableConv2D"},
    Rename{"Convolution2DTranspose", "Conv2DTranspose"},
    Rename{"GroupQueryAttention", "GroupedQueryAttention"},  // Keras 3's public name, in .keras files
};

constexpr std::array keys{
    Rename{"nb_filter", "filters"},
    Rename{"border_mode", "padding"},
    Rename{"subsample", "strides"},
    Rename{"subsample_length", "strides"},
    Rename{"dim_ordering", "data_format"},
    Rename{"bias", "use_bias"},
    Rename{"filter_length", "kernel_size"},
    Rename{"atrous_rate", "dilation_rate"},
    Rename{"pool_length", "pool_size"},
    Rename{"stride", "strides"},
    Rename{"p", "rate"},
};

constexpr std::array merges{
    Rename{"sum", "Add"},     Rename{"mul", "Multiply"}, Rename{"concat", "Concatenate"},
    Rename{"ave", "Average"}, Rename{"max", "Maximum"},
};

void rename(json& config, const char* from, const char* to) {
  const auto it = config.find(from);
  if (it == config.end() || config.contains(to)) return;
  json value = std::move(*it);
  config.erase(it);
  config[to] = std::move(value);
}

// Keras 1 lists the kernel's dimensions one by one.
void gather_kernel_size(json& config, std::initializer_list<const char*> names) {
  json size = json::array();
  for (const char* name : names) {
    if (!config.contains(name)) return;
    size.push_back(config[name]);
  }
  if (!config.contains("kernel_size")) config["kernel_size"] = std::move(size);
}

}  // namespace

void upgrade_keras1(std::string& class_name, json& config) {
  if (!config.is_object()) return;
  for (const auto& [from, to] : classes) {
    if (class_name == from) class_name = to;
  }
  for (const auto& [from, to] : keys) rename(config, from, to);
  gather_kernel_size(config, {"nb_row", "nb_col"});
  gather_kernel_size(config, {"kernel_dim1", "kernel_dim2", "kernel_dim3"});
  if (class_name == "Dense") rename(config, "output_dim", "units");
  if (class_name == "LSTM" || class_name == "GRU" || class_name == "SimpleRNN") {
    rename(config, "output_dim", "units");
    rename(config, "inner_activation", "recurrent_activation");
  }
  if (class_name == "UpSampling1D") rename(config, "length", "size");
  if (config.contains("data_format") && config["data_format"].is_string()) {
    if (config["data_format"] == "tf") config["data_format"] = "channels_last";
    if (config["data_format"] == "th") config["data_format"] = "channels_first";
  }
  if (class_name == "Merge" && config.contains("mode") && config["mode"].is_string()) {
    for (const auto& [from, to] : merges) {
      if (config["mode"] == from) class_name = to;
    }
    rename(config, "concat_axis", "axis");
  }
}

}  // namespace assay::inline model
