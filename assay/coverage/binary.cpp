#include "assay/coverage/binary.h"

#include "assay/support/error.h"
#include "assay/support/file.h"
#include "assay/support/hash.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr std::size_t checksum_size = 16;
constexpr int deepest = 32;

std::string checksum(const char* data, std::size_t size) {
  const Hash128 hash = hash_128(data, size);
  return {reinterpret_cast<const char*>(hash.data()), checksum_size};
}

// Stops at values nested deeper than any such file has them, before a hostile one exhausts the stack.
class DepthLimit final : public nlohmann::json_sax<Json> {
 public:
  explicit DepthLimit(Json& json) : builder_(json, false) {}
  bool null() override { return builder_.null(); }
  bool boolean(bool value) override { return builder_.boolean(value); }
  bool number_integer(number_integer_t value) override { return builder_.number_integer(value); }
  bool number_unsigned(number_unsigned_t value) override { return builder_.number_unsigned(value); }
  bool number_float(number_float_t value, const string_t& text) override { return builder_.number_float(value, text); }
  bool string(string_t& value) override { return builder_.string(value); }
  bool binary(binary_t& value) override { return builder_.binary(value); }
  bool start_object(std::size_t size) override { return ++depth_ <= deepest && builder_.start_object(size); }
  bool key(string_t& value) override { return builder_.key(value); }
  bool end_object() override { return --depth_ >= 0 && builder_.end_object(); }
  bool start_array(std::size_t size) override { return ++depth_ <= deepest && builder_.start_array(size); }
  bool end_array() override { return --depth_ >= 0 && builder_.end_array(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  nlohmann::detail::json_sax_dom_parser<Json> builder_;
  int depth_ = 0;
};

}  // namespace

void write_binary(const Json& json, const std::filesystem::path& path) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  bytes += checksum(bytes.data(), bytes.size());
  write_file(path, bytes);
}

Json read_binary(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  const std::size_t size = bytes.size() < checksum_size ? 0 : bytes.size() - checksum_size;
  if (size == 0 || bytes.substr(size) != checksum(bytes.data(), size)) {
    fail(Fault::data, "{}: the file is cut off or damaged, or not one that Assay wrote", path.string());
  }
  Json json;
  DepthLimit limit(json);
  if (!Json::sax_parse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size), &limit, Json::input_format_t::cbor)) {
    fail(Fault::data, "{}: the file is damaged", path.string());
  }
  return json;
}

}  // namespace assay
