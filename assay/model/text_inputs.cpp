#include "assay/model/text_inputs.h"

#include <algorithm>

#include <fmt/ranges.h>

#include <assay/error.h>
#include "assay/model/folder.h"
#include "assay/model/onnx/number_texts.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"

namespace assay::inline model {
namespace {

constexpr std::uint64_t largest_network = std::uint64_t{1} << 31;  // of protobuf messages

constexpr std::string_view vocabulary_mark = "vocabulary ";

}  // namespace

TextInputs text_inputs_of(const std::filesystem::path& network) {
  std::error_code code;
  std::optional<std::filesystem::path> file = network;
  if (std::filesystem::is_directory(network, code)) file = network_in(network);
  if (!file) fail(Fault::usage, "words={}: a folder without a network", network.string());
  std::optional<TextInputs> found;
  try {
    onnx::ModelProto model = onnx_format::parse(read_file(*file, largest_network));
    found = onnx_format::number_texts(model, file->parent_path());
    if (!found) found = onnx_format::column_inputs(model);
  } catch (const Error& error) {
    fail(error.fault(), "{}: {}", file->string(), error.message());
  }
  if (!found)
    fail(Fault::usage,
         "words={}: no input of this network is a text, nor does it take several inputs of columns; leave "
         "words= out",
         network.string());
  return *found;
}

std::string vocabulary_of(const TextInputs& texts) {
  if (texts.made.empty() && texts.words.empty()) return {};
  std::string all;
  const auto add = [&](const std::string& text) { all += fmt::format("{}:{}", text.size(), text); };
  for (const std::string& word : texts.words) add(word);
  for (const FileInput& input : texts.given) {
    all += "|";
    for (const std::string& column : input.columns) add(column);
  }
  for (const WordInput& input : texts.made) {
    const auto from = std::ranges::find(texts.given, input.from, &FileInput::name);
    all += fmt::format("[{},{}]", from - texts.given.begin(), input.column.value_or(-1));
    for (const WordRule& rule : input.rules)
      all += fmt::format("/{} {} {} {}", static_cast<int>(rule.kind), fmt::join(rule.expressions, " "),
                         rule.shortest, rule.marked);
    all += ";";
  }
  return fmt::format("{}{:08x}", vocabulary_mark, hash_128(all.data(), all.size())[0] >> 32);
}

std::string vocabulary_in(const std::string& text) {
  constexpr std::size_t digits = 8;
  const std::size_t at = text.rfind(vocabulary_mark);
  if (at == std::string::npos) return {};
  const std::string found = text.substr(at, vocabulary_mark.size() + digits);
  const auto number = std::string_view(found).substr(vocabulary_mark.size());
  const bool whole = number.size() == digits && number.find_first_not_of("0123456789abcdef") == number.npos;
  return whole ? found : std::string();
}

}  // namespace assay::inline model
