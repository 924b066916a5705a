#include "assay/model/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include <assay/adapt.h>
#include <assay/error.h>
#include <assay/float16.h>
#include <assay/model.h>
#include "assay/support/files/input_file.h"
#include "assay/support/files/pointer_file.h"
#include "assay/support/memory.h"
#include "assay/support/text/text.h"
#include "assay/support/text/visible.h"

namespace assay::inline model {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "the files store little-endian bytes");

// A tensor takes about 100 bytes of it.
constexpr std::uint64_t largest_header = std::uint64_t{16} << 20;
constexpr int deepest_header = 8;
constexpr std::size_t most_axes = 64, most_named = 5;
constexpr std::uint64_t length_bytes = 8;

// Bytes of an element; nothing for types that are not known.
std::optional<std::uint64_t> size_of_type(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 15> sizes{{{"F64", 8},
                                                                                     {"F32", 4},
                                                                                     {"F16", 2},
                                                                                     {"BF16", 2},
                                                                                     {"F8_E4M3", 1},
                                                                                     {"F8_E5M2", 1},
                                                                                     {"I64", 8},
                                                                                     {"U64", 8},
                                                                                     {"I32", 4},
                                                                                     {"U32", 4},
                                                                                     {"I16", 2},
                                                                                     {"U16", 2},
                                                                                     {"I8", 1},
                                                                                     {"U8", 1},
                                                                                     {"BOOL", 1}}};
  const auto* const it = std::ranges::find(sizes, type, &std::pair<std::string_view, std::uint64_t>::first);
  return it == sizes.end() ? std::nullopt : std::optional(it->second);
}

// What can be said of a header before it is built: how deep it is, and a name that stands twice. A callback
// of Json::parse() would take quadratic time.
class HeaderWatch final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (depth_ == 1 && !names_.insert(name).second) twice = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  bool deep = false;
  std::string twice;

 private:
  bool enter() {
    deep |= ++depth_ > deepest_header;
    return !deep;
  }
  bool leave() {
    --depth_;
    return true;
  }
  int depth_ = 0;
  std::set<std::string> names_;
};

// The header, in which every name stands once: of two tensors with one name readers choose differently.
Json parse_header(const std::string& text) {
  HeaderWatch watch;
  const bool sound = Json::sax_parse(text, &watch);
  if (watch.deep) fail(Fault::model, "the header is nested more than {} deep", deepest_header);
  if (!watch.twice.empty()) fail(Fault::model, "the header names '{}' twice", visible(watch.twice));
  Json header = sound ? Json::parse(text) : Json();
  if (!header.is_object()) fail(Fault::model, "the header is not a JSON object");
  return header;
}

std::uint64_t whole(const Json& value, std::string_view what, const std::string& name) {
  if (!value.is_number_unsigned())
    fail(Fault::model, "tensor '{}': {} are not whole numbers from 0 on", name, what);
  return value.get<std::uint64_t>();
}

Safetensors::Tensor parse_tensor(const Json& entry, const std::string& name) {
  const auto part = [&](const char* key, Json::value_t type) -> const Json& {
    const auto it = entry.is_object() ? entry.find(key) : entry.end();
    if (!entry.is_object() || it == entry.end() || it->type() != type)
      fail(Fault::model, "tensor '{}': the header has no '{}' of it", name, key);
    return *it;
  };
  Safetensors::Tensor tensor;
  tensor.type = part("dtype", Json::value_t::string).get<std::string>();
  const Json& shape = part("shape", Json::value_t::array);
  const Json& offsets = part("data_offsets", Json::value_t::array);
  if (shape.size() > most_axes)
    fail(Fault::model, "tensor '{}': {} axes are more than the {} allowed", name, shape.size(), most_axes);
  for (const Json& dim : shape) {
    const std::uint64_t size = whole(dim, "sizes of axes", name);
    if (size > static_cast<std::uint64_t>(INT64_MAX))
      fail(Fault::model, "tensor '{}': an axis of {} is too long", name, size);
    tensor.shape.push_back(size);
  }
  if (offsets.size() != 2) fail(Fault::model, "tensor '{}': its data have no begin and end", name);
  tensor.begin = whole(offsets[0], "offsets", name);
  tensor.end = whole(offsets[1], "offsets", name);
  return tensor;
}

std::uint64_t size_of_file(const fs::path& file) {
  std::error_code code;
  require_readable(file);
  const std::uint64_t size = fs::file_size(file, code);
  if (code) fail(Fault::io, "cannot be read: {}", code.message());
  return size;
}

template <typename Stored, typename Widen>
Array widened(const Shape& shape, const std::vector<std::byte>& bytes, Widen widen) {
  std::vector<float> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    values[i] = widen(stored);
  }
  return Array::of<float>(shape, values);
}

// "'a', 'b' and 3 more".
std::string named(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
    shown.push_back(fmt::format("'{}'", visible(names[i])));
  return joined(shown) +
         (names.size() > most_named ? fmt::format(" and {} more", names.size() - most_named) : "");
}

// Integers that training counts next to the weights, such as how many batches a normalisation has seen.
bool is_counter(const Safetensors::Tensor& tensor) {
  return !tensor.is_floating() && element_count(tensor.shape) == 1;
}

// Constants that count as parameters; a network that kept some of its weights would be neither of the two.
bool is_weight(const Graph& graph, ValueId id) {
  return graph.is_constant(id) && graph.constant(id).dtype() == DType::float32 &&
         !graph.constant(id).shape().empty() && !graph.consumers(id).empty();
}

void require_names(const Graph& graph, const Safetensors& stored) {
  std::vector<std::string> unknown, missing;
  for (const auto& [name, tensor] : stored.tensors()) {
    const auto id = graph.find_value(name);
    if (!(id && graph.is_constant(*id)) && !is_counter(tensor)) unknown.push_back(name);
  }
  for (const ValueId id : graph.value_ids()) {
    const std::string& name = graph.value(id).name;
    if (is_weight(graph, id) && !stored.tensors().contains(name)) missing.push_back(name);
  }
  std::ranges::sort(missing);
  std::string message;
  if (!missing.empty()) message = "no tensor is given for " + named(missing);
  if (!unknown.empty()) {
    message += (message.empty() ? "" : ", and ") +
               fmt::format("network '{}' has no constant for {}", graph.name(), named(unknown));
  }
  if (!message.empty())
    fail(Fault::mismatch, "{}; the file's names are those of the network's constants, all of them", message);
}

Graph replaced(const Graph& graph, const Safetensors& stored) {
  require_names(graph, stored);
  GraphBuilder edit(graph);
  std::map<std::string, std::size_t> converted;
  for (const auto& [name, tensor] : stored.tensors()) {
    const auto id = graph.find_value(name);
    if (!id || !graph.is_constant(*id)) continue;
    const Array& before = graph.constant(*id);
    if (before.dtype() != DType::float32)
      fail(Fault::unsupported, "'{}' is {} in network '{}'; only weights of floating-point numbers are taken",
           visible(name), to_string(before.dtype()), graph.name());
    if (tensor.shape != before.shape())
      fail(Fault::mismatch, "tensor '{}' has the shape {}, network '{}' has {}", visible(name),
           array::to_string(tensor.shape), graph.name(), array::to_string(before.shape()));
    edit.replace_constant(*id, stored.read(name));
    if (tensor.type != "F32") ++converted[tensor.type];
  }
  for (const auto& [type, count] : converted)
    edit.notice(
        fmt::format("{} {} tensor{} converted to float32", count, type, count == 1 ? " was" : "s were"));
  return edit.build();
}

}  // namespace

Safetensors::Safetensors(const fs::path& file) : file_(file) {
  const std::uint64_t size = size_of_file(file);
  refuse_pointer(file, file.string());
  std::uint64_t length = 0;
  if (size >= length_bytes) read_part(file, 0, &length, length_bytes);
  if (size < length_bytes || length > size - length_bytes)
    fail(Fault::model, "not a safetensors file, or cut short: the header ends after the end of the file");
  if (length > largest_header)
    fail(Fault::resources, "a header of {} bytes is more than the {} allowed", length, largest_header);
  std::string text(length, '\0');
  read_part(file, length_bytes, text.data(), length);
  const Json header = parse_header(text);
  const std::uint64_t data = length_bytes + length;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") take(name, parse_tensor(entry, visible(name)), size - data);
  }
  for (auto& [name, tensor] : tensors_) tensor.begin += data, tensor.end += data;
  check_layout(data, size);
  require_memory(size - data, file.string());
}

void Safetensors::take(const std::string& name, Tensor tensor, std::uint64_t data) {
  const std::string shown = visible(name);
  const auto size = size_of_type(tensor.type);
  if (!size)
    fail(Fault::unsupported, "tensor '{}': element type '{}' is not known", shown, visible(tensor.type));
  if (tensor.begin > tensor.end || tensor.end > data)
    fail(Fault::model, "tensor '{}': bytes {} to {} are not in the file, which has {}", shown, tensor.begin,
         tensor.end, data);
  std::uint64_t count = 1;
  for (const std::int64_t dim : tensor.shape) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(dim), &count))
      fail(Fault::model, "tensor '{}': shape {} has too many elements", shown,
           array::to_string(tensor.shape));
  }
  if (count > data / *size || count * *size != tensor.end - tensor.begin)
    fail(Fault::model, "tensor '{}': shape {} of {} needs {} elements of {} bytes, its data have {} bytes",
         shown, array::to_string(tensor.shape), tensor.type, count, *size, tensor.end - tensor.begin);
  tensors_.emplace(name, std::move(tensor));
}

void Safetensors::check_layout(std::uint64_t begin, std::uint64_t end) const {
  std::vector<std::pair<const Tensor*, const std::string*>> order;
  for (const auto& [name, tensor] : tensors_) order.emplace_back(&tensor, &name);
  std::ranges::sort(order, {},
                    [](const auto& entry) { return std::pair(entry.first->begin, entry.first->end); });
  for (const auto& [tensor, name] : order) {
    if (tensor->begin < begin)
      fail(Fault::model, "tensor '{}': its data overlap those of another tensor", visible(*name));
    if (tensor->begin > begin)
      fail(Fault::model, "{} bytes in front of tensor '{}' belong to none", tensor->begin - begin,
           visible(*name));
    begin = tensor->end;
  }
  if (begin != end) fail(Fault::model, "{} bytes at the end belong to no tensor", end - begin);
}

Array Safetensors::read(std::string_view name) const {
  const Tensor& tensor = tensors_.find(name)->second;
  std::vector<std::byte> bytes(tensor.end - tensor.begin);
  read_part(file_, tensor.begin, bytes.data(), bytes.size());
  if (tensor.type == "F32") return Array(DType::float32, tensor.shape, std::move(bytes));
  if (tensor.type == "F64")
    return widened<double>(tensor.shape, bytes, [](double value) { return static_cast<float>(value); });
  if (tensor.type == "F16") return widened<std::uint16_t>(tensor.shape, bytes, from_float16);
  if (tensor.type == "BF16") return widened<std::uint16_t>(tensor.shape, bytes, from_bfloat16);
  fail(Fault::unsupported, "tensor '{}': weights are F64, F32, F16 or BF16, not {}", visible(name),
       tensor.type);
}

Graph with_weights(const Graph& graph, const fs::path& file) {
  try {
    return replaced(graph, Safetensors(file));
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(file.string())) throw;
    fail(error.fault(), "{}: {}", file.string(), message);
  }
}

}  // namespace assay::inline model
