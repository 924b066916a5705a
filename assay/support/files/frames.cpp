#include "assay/support/files/frames.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "assay/support/files/hash.h"

namespace assay::inline support {

void put_text(std::string& to, std::string_view text) {
  const std::uint64_t size = text.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(text);
}

std::optional<std::string_view> take_text(std::string_view& from) {
  std::uint64_t size = 0;
  if (from.size() < sizeof(size)) return std::nullopt;
  std::memcpy(&size, from.data(), sizeof(size));
  if (size > from.size() - sizeof(size)) return std::nullopt;
  const std::string_view text = from.substr(sizeof(size), size);
  from.remove_prefix(sizeof(size) + size);
  return text;
}

std::string framed(std::string_view text) {
  std::string frame;
  put_text(frame, text);
  return frame + hash_bytes(frame);
}

std::optional<std::string_view> take_framed(std::string_view& from) {
  std::string_view rest = from;
  const std::optional<std::string_view> text = take_text(rest);
  if (!text) return std::nullopt;
  const std::string sum = hash_bytes(from.substr(0, from.size() - rest.size()));
  if (!rest.starts_with(sum)) return std::nullopt;
  from = rest.substr(sum.size());
  return text;
}

bool write_at(int file, std::size_t place, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    place += static_cast<std::size_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace assay::inline support
