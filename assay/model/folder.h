#pragma once

// Folders as exporters of language models write them: the network (model.onnx, in the folder or in onnx/),
// its config.json, its tokenizer.json.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::inline model {

// The network in the folder: model.onnx, or the only .onnx file there is. Nothing without one. Throws
// Error{usage} naming the files where there are several.
std::optional<std::filesystem::path> network_in(const std::filesystem::path& folder);

// The folder that belongs to a network that is named so: the folder itself, or the one in which the file and
// its config.json or tokenizer.json are (above onnx/ as well); of a network in memory, that which it was
// named with. Nothing for others.
std::optional<std::filesystem::path> folder_of_network(const std::string& name);

// What config.json says of a network of language.
struct TextConfig {
  std::string kind = {};            // model_type: "bert"; empty: it does not say so
  std::vector<std::string> labels;  // of classes, by id2label; empty: none, or those that stand for no names
  std::int64_t vocabulary = 0;      // numbers of tokens; 0: it does not say so
  std::int64_t positions = 0;       // tokens that a text may have; 0: it does not say so
};
// Nothing without such a file. Throws Error{data} naming what is wrong in it.
std::optional<TextConfig> read_text_config(const std::filesystem::path& folder);
// The class that is called so; where none is, that with other capital and small letters (of ASCII).
std::optional<std::size_t> class_called(const std::string& name, const std::vector<std::string>& labels);

}  // namespace assay::inline model
