#include "assay/support/files/binary.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>

#include <assay/error.h>
#include "assay/support/conditions.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"

namespace assay::inline support {
namespace {

using Json = nlohmann::json;

constexpr std::size_t checksum_size = sizeof(Hash128);
constexpr int deepest = 32;

// Stops at values nested deeper than any such file has them, before a hostile one exhausts the stack.
class DepthLimit final : public nlohmann::json_sax<Json> {
 public:
  explicit DepthLimit(Json& json) : builder_(json, false) {}
  bool null() override { return builder_.null(); }
  bool boolean(bool value) override { return builder_.boolean(value); }
  bool number_integer(number_integer_t value) override { return builder_.number_integer(value); }
  bool number_unsigned(number_unsigned_t value) override { return builder_.number_unsigned(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    return builder_.number_float(value, text);
  }
  bool string(string_t& value) override { return builder_.string(value); }
  bool binary(binary_t& value) override { return builder_.binary(value); }
  bool start_object(std::size_t size) override { return ++depth_ <= deepest && builder_.start_object(size); }
  bool key(string_t& value) override { return builder_.key(value); }
  bool end_object() override { return --depth_ >= 0 && builder_.end_object(); }
  bool start_array(std::size_t size) override { return ++depth_ <= deepest && builder_.start_array(size); }
  bool end_array() override { return --depth_ >= 0 && builder_.end_array(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  nlohmann::detail::json_sax_dom_parser<Json> builder_;
  int depth_ = 0;
};

}  // namespace

std::string to_bytes(const Json& json) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

Json from_bytes(std::string_view bytes) {
  Json json;
  DepthLimit limit(json);
  bool whole = false;
  try {
    whole = Json::sax_parse(bytes.begin(), bytes.end(), &limit, Json::input_format_t::cbor);
  } catch (const Json::exception&) {
    // An array or object that says to have more elements than there can be.
  }
  if (!whole) throw std::runtime_error("it is damaged");
  return json;
}

void write_binary(const Json& json, const std::filesystem::path& path) {
  const std::string bytes = to_bytes(json);
  write_file(path, bytes + hash_bytes(bytes));
}

Json read_binary(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  const std::size_t size = bytes.size() < checksum_size ? 0 : bytes.size() - checksum_size;
  const std::string_view value = std::string_view(bytes).substr(0, size);
  if (size == 0 || bytes.substr(size) != hash_bytes(value)) {
    fail(Fault::data, "{}: the file is cut off or damaged, or not one that Assay wrote", path.string());
  }
  try {
    return from_bytes(value);
  } catch (const std::exception&) {
    pass_on_condition();
    fail(Fault::data, "{}: the file is damaged", path.string());
  }
}

}  // namespace assay::inline support
