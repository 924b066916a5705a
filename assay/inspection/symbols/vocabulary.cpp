// Reading what tokens mean.

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include <assay/error.h>
#include <assay/inspection.h>
#include <assay/tokenizer.h>
#include "assay/data/files/numpy.h"
#include "assay/inspection/symbols/text_records.h"
#include "assay/support/conditions.h"
#include "assay/support/files/file.h"

namespace assay::inspection {
namespace {

namespace fs = std::filesystem;

std::string utf8(std::int64_t code) {
  const auto byte = [](std::int64_t bits) { return static_cast<char>(bits); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000)
    return {byte(0xE0 | code >> 12), byte(0x80 | ((code >> 6) & 0x3F)), byte(0x80 | (code & 0x3F))};
  return {byte(0xF0 | code >> 18), byte(0x80 | ((code >> 12) & 0x3F)), byte(0x80 | ((code >> 6) & 0x3F)),
          byte(0x80 | (code & 0x3F))};
}

// Character codes [tokens], or names as rows of bytes [tokens, length].
std::vector<std::string> symbols_of(const Array& array, const std::string& name) {
  std::vector<std::string> symbols;
  if (array.shape().size() == 1 && !is_real(array.dtype())) {
    const Array codes = array.to(DType::int64);
    for (const std::int64_t code : codes.as<std::int64_t>()) {
      if (code < 0 || code > 0x10FFFF) fail(Fault::data, "{}: {} is not the code of a character", name, code);
      symbols.push_back(utf8(code));
    }
    return symbols;
  }
  if (array.shape().size() == 2 && array.dtype() == DType::uint8) {
    const auto bytes = array.as<std::uint8_t>();
    const std::size_t width = array.shape()[1];
    for (std::size_t i = 0; i < bytes.size(); i += width) {
      std::string symbol(bytes.begin() + i, bytes.begin() + i + width);
      symbols.push_back(symbol.substr(0, symbol.find('\0')));
    }
    return symbols;
  }
  fail(Fault::data, "{}: a vocabulary is one character code for each token, or one row of bytes", name);
}

std::vector<std::string> from_npz(const std::string& spec) {
  const std::size_t colon = spec.rfind(':');
  const std::string file = spec.substr(0, colon), name = spec.substr(colon + 1);
  const std::map<std::string, Array> arrays = read_npz(file);
  const auto found = arrays.find(name);
  if (found != arrays.end()) return symbols_of(found->second, spec);
  std::string names;
  for (const auto& [known, array] : arrays) names += (names.empty() ? "" : ", ") + known;
  fail(Fault::data, "{} has no array '{}'; its arrays are {}", file, name, names);
}

std::vector<std::string> from_json(const fs::path& path) {
  constexpr std::size_t most = std::size_t{1} << 24;
  const auto json = nlohmann::json::parse(read_file(path, 1 << 28), nullptr, false);
  std::vector<std::string> symbols;
  try {
    if (json.is_array()) return json.get<std::vector<std::string>>();
    for (const auto& [symbol, token] : json.items()) {
      const auto place = token.get<std::size_t>();
      if (place >= most) throw std::out_of_range("token");
      if (symbols.size() <= place) symbols.resize(place + 1);
      symbols[place] = symbol;
    }
  } catch (const std::exception&) {
    pass_on_condition();
    symbols.clear();
  }
  if (symbols.empty())
    fail(Fault::data, "{}: a list of symbols, or an object from symbol to token, is needed", path.string());
  return symbols;
}

std::vector<std::string> from_lines(const fs::path& path) {
  std::istringstream stream(read_file(path, 1 << 28));
  std::vector<std::string> symbols;
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    symbols.push_back(line);
  }
  if (symbols.empty())
    fail(Fault::data, "{}: a vocabulary has one symbol a line; this file is empty", path.string());
  return symbols;
}

// A folder, or a file whose model is an object: a symbol called "model" would have a number.
bool is_tokenizer(const std::string& spec) {
  std::error_code code;
  if (fs::is_directory(spec, code)) return true;
  if (!spec.ends_with(".json")) return false;
  const auto json = nlohmann::json::parse(read_file(spec, 1 << 28), nullptr, false);
  return json.is_object() && json.contains("model") && json["model"].is_object();
}

// A token that is a word by itself, which others can follow; nothing without one.
std::optional<std::int64_t> word_of(const text::Tokenizer& tokenizer) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (std::int64_t id = 0; id < static_cast<std::int64_t>(tokenizer.numbers()); ++id) {
    const auto token = tokenizer.token(id);
    if (!token || token->empty() || tokenizer.is_special(id) || !std::ranges::all_of(*token, is_letter))
      continue;
    if (tokenizer.decode(std::span(&id, 1)) == *token) return id;
  }
  return std::nullopt;
}

// What each token adds to a text: with the space before its word, and without the marks of its vocabulary.
std::vector<std::string> symbols_of(const text::Tokenizer& tokenizer) {
  const auto word = word_of(tokenizer);
  const std::string front = word ? tokenizer.decode(std::span(&*word, 1)) : std::string();
  std::vector<std::string> symbols;
  for (std::int64_t id = 0; id < static_cast<std::int64_t>(tokenizer.numbers()); ++id) {
    symbols.push_back(tokenizer.token(id).value_or(""));
    if (!word) continue;
    const std::vector<std::int64_t> both{*word, id};
    const std::string text = tokenizer.decode(both, true);
    if (text.starts_with(front)) symbols.back() = text.substr(front.size());
  }
  return symbols;
}

std::int64_t token_of(const std::vector<std::string>& symbols, const std::string& text) {
  const auto found = std::ranges::find(symbols, text);
  if (found != symbols.end()) return found - symbols.begin();
  std::int64_t token = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), token);
  if (error == std::errc() && end == text.data() + text.size() && token >= 0) return token;
  fail(Fault::usage, "padding '{}' is neither a symbol of the vocabulary nor a token", text);
}

}  // namespace

namespace {

Vocabulary vocabulary_of(const text::Tokenizer& tokenizer, const std::string& padding) {
  Vocabulary vocabulary{.symbols = symbols_of(tokenizer), .padding = tokenizer.padding()};
  if (padding.empty()) return vocabulary;
  vocabulary.padding = tokenizer.id(padding);
  if (!vocabulary.padding) vocabulary.padding = token_of(vocabulary.symbols, padding);
  return vocabulary;
}

}  // namespace

Vocabulary read_vocabulary(const std::string& spec, const std::string& padding) {
  if (is_tokenizer(spec)) return vocabulary_of(text::Tokenizer(fs::path(spec)), padding);
  Vocabulary vocabulary;
  const bool array = spec.find(".npz:") != std::string::npos;
  if (array)
    vocabulary.symbols = from_npz(spec);
  else if (spec.ends_with(".npy"))
    vocabulary.symbols = symbols_of(parse_npy(read_file(spec), spec), spec);
  else if (spec.ends_with(".json"))
    vocabulary.symbols = from_json(spec);
  else
    vocabulary.symbols = from_lines(spec);
  if (!padding.empty()) vocabulary.padding = token_of(vocabulary.symbols, padding);
  return vocabulary;
}

std::vector<RecordText> texts_of(const Vocabulary& vocabulary, const Batch& batch, const Dataset& dataset) {
  const auto tokens = batch.inputs.as<std::int64_t>();
  const std::size_t symbols = tokens.size() / std::max<std::size_t>(batch.indices.size(), 1);
  std::vector<RecordText> texts;
  texts.reserve(batch.indices.size());
  for (std::size_t r = 0; r < batch.indices.size(); ++r) {
    RecordText text;
    text.begins.reserve(symbols + 1);
    for (const std::int64_t token : tokens.subspan(r * symbols, symbols)) {
      text.begins.push_back(text.text.size());
      if (token == vocabulary.padding) continue;
      if (token < 0 || token >= static_cast<std::int64_t>(vocabulary.symbols.size()))
        fail(Fault::data, "record '{}': token {} is not in the vocabulary, which has {} symbols",
             dataset.id(batch.indices[r]), token, vocabulary.symbols.size());
      text.text += vocabulary.symbols[token];
    }
    text.begins.push_back(text.text.size());
    texts.push_back(std::move(text));
  }
  return texts;
}

Batch slice(const Batch& batch, std::size_t begin, std::size_t end) {
  if (begin == 0 && end == batch.indices.size()) return batch;
  const auto cut = [&](const Array& array) {
    if (array.count() == 0) return array;
    Shape shape = array.shape();
    const std::size_t row = array.byte_size() / shape[0];
    shape[0] = end - begin;
    return Array(array.dtype(), shape,
                 std::vector<std::byte>(array.data() + begin * row, array.data() + end * row));
  };
  Batch part = batch;
  part.indices = {batch.indices.begin() + begin, batch.indices.begin() + end};
  part.inputs = cut(batch.inputs), part.targets = cut(batch.targets);
  if (!batch.labels.empty()) part.labels = {batch.labels.begin() + begin, batch.labels.begin() + end};
  for (NamedArray& other : part.others) other.values = cut(other.values);
  return part;
}

}  // namespace assay::inspection
