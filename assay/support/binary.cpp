#include "assay/support/binary.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>

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

namespace {

// The value behind CBOR bytes; nothing when they are damaged.
std::optional<Json> parsed(std::string_view bytes) {
  Json json;
  DepthLimit limit(json);
  if (!Json::sax_parse(bytes.begin(), bytes.end(), &limit, Json::input_format_t::cbor)) return std::nullopt;
  return json;
}

}  // namespace

Json read_binary(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  const std::size_t size = bytes.size() < checksum_size ? 0 : bytes.size() - checksum_size;
  if (size == 0 || bytes.substr(size) != checksum(bytes.data(), size)) {
    fail(Fault::data, "{}: the file is cut off or damaged, or not one that Assay wrote", path.string());
  }
  std::optional<Json> json = parsed(std::string_view(bytes).substr(0, size));
  if (!json) fail(Fault::data, "{}: the file is damaged", path.string());
  return std::move(*json);
}

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), ignored);
  const std::string bytes = std::filesystem::exists(path_) ? read_file(path_) : std::string();
  std::size_t whole = 0;
  while (bytes.size() - whole > sizeof(std::uint64_t) + checksum_size) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + whole, sizeof(size));
    const std::size_t begin = whole + sizeof(size);
    if (size > bytes.size() - begin - checksum_size) break;
    const std::string_view value = std::string_view(bytes).substr(begin, size);
    if (bytes.compare(begin + size, checksum_size, checksum(value.data(), value.size())) != 0) break;
    std::optional<Json> json = parsed(value);
    if (!json) break;
    found_.push_back(std::move(*json));
    whole = begin + size + checksum_size;
  }
  file_ = ::open(path_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(whole)) != 0 || ::lseek(file_, 0, SEEK_END) < 0) {
    fail(Fault::io, "{}: cannot be written: {}", path_.string(), std::strerror(errno));
  }
}

AppendFile::~AppendFile() {
  if (file_ >= 0) ::close(file_);
}

void AppendFile::append(const Json& value) {
  std::string bytes, frame;
  Json::to_cbor(value, bytes);
  const std::uint64_t size = bytes.size();
  frame.assign(reinterpret_cast<const char*>(&size), sizeof(size));
  frame += bytes;
  frame += checksum(bytes.data(), bytes.size());
  for (std::size_t done = 0; done < frame.size();) {
    const ssize_t written = ::write(file_, frame.data() + done, frame.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(Fault::io, "{}: cannot be written: {}; free some room and run the same command again", path_.string(), std::strerror(errno));
    done += static_cast<std::size_t>(written);
  }
}

void AppendFile::sync() {
  if (::fdatasync(file_) != 0) fail(Fault::io, "{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

void AppendFile::clear() {
  if (::ftruncate(file_, 0) != 0 || ::lseek(file_, 0, SEEK_SET) < 0) fail(Fault::io, "{}: cannot be emptied: {}", path_.string(), std::strerror(errno));
}

}  // namespace assay
