#include "assay/support/files/hash.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay::inline support {

struct Hasher::State {
  XXH3_state_t* xxh = XXH3_createState();
  State() { XXH3_128bits_reset(xxh); }
  ~State() { XXH3_freeState(xxh); }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;

Hasher& Hasher::bytes(const void* data, std::size_t size) {
  if (size > 0) XXH3_128bits_update(state_->xxh, data, size);
  return *this;
}

Hasher& Hasher::text(std::string_view text) {
  number(static_cast<std::int64_t>(text.size()));
  return bytes(text.data(), text.size());
}

Hasher& Hasher::number(std::int64_t value) { return bytes(&value, sizeof value); }
Hasher& Hasher::real(double value) { return bytes(&value, sizeof value); }

std::string Hasher::hex() const {
  const XXH128_hash_t digest = XXH3_128bits_digest(state_->xxh);
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

std::string hash_hex(std::string_view bytes) { return Hasher().bytes(bytes.data(), bytes.size()).hex(); }

Hash128 hash_128(const void* data, std::size_t size) {
  const XXH128_hash_t digest = XXH3_128bits(data, size);
  return {digest.low64, digest.high64};
}

std::string hash_bytes(std::string_view bytes) {
  const Hash128 hash = hash_128(bytes.data(), bytes.size());
  return {reinterpret_cast<const char*>(hash.data()), sizeof(hash)};
}

}  // namespace assay::inline support
