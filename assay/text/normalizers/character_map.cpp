#include "assay/text/normalizers/character_map.h"

#include "assay/support/ascii.h"
#include "assay/support/text/base64.h"
#include "assay/support/text/characters.h"
#include "assay/text/normalizers/catalogue.h"

namespace assay::text {
namespace {

std::uint32_t unit_at(const std::string& bytes, std::size_t at) {
  std::uint32_t unit = 0;
  for (std::size_t i = 0; i < 4; ++i) unit |= std::uint32_t{byte_of(bytes[at + i])} << (8 * i);
  return unit;
}
std::uint32_t offset_of(std::uint32_t unit) { return unit >> 10 << ((unit & (1U << 9)) >> 6); }

}  // namespace

CharacterMap::CharacterMap(const std::string& bytes, const std::string& where) {
  if (bytes.size() < 4) fail(Fault::data, "{}: 'precompiled_charsmap' ends early", where);
  const std::size_t size = unit_at(bytes, 0);
  if (size == 0 || size % 4 != 0 || size > bytes.size() - 4)
    fail(Fault::data, "{}: 'precompiled_charsmap' has {} bytes and promises {}", where, bytes.size(), size);
  for (std::size_t at = 4; at < 4 + size; at += 4) units_.push_back(unit_at(bytes, at));
  replacements_ = bytes.substr(4 + size);
  if (!character_codes(replacements_))
    fail(Fault::data, "{}: replacements of 'precompiled_charsmap' are not UTF-8", where);
}

std::optional<std::string_view> CharacterMap::replacement(std::uint32_t at) const {
  if (at > replacements_.size()) return std::nullopt;
  const std::string_view rest = std::string_view(replacements_).substr(at);
  // In the middle of a character there is none.
  if (!rest.empty() && continues_character(rest[0])) return std::nullopt;
  return rest.substr(0, rest.find('\0'));
}

std::optional<CharacterMap::Replacement> CharacterMap::find(std::string_view text, bool first) const {
  std::optional<Replacement> found;
  std::size_t node = offset_of(units_[0]);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = byte_of(text[at]);
    node ^= byte;
    if (byte == 0 || node >= units_.size()) return found;
    const std::uint32_t unit = units_[node];
    if ((unit & (1U << 31 | 0xFF)) != byte) return found;
    node ^= offset_of(unit);
    if ((unit >> 8 & 1) == 0) continue;
    if (node >= units_.size()) return found;
    const bool ends_within = at + 1 < text.size() && continues_character(text[at + 1]);
    if (!first && ends_within) continue;
    if (const auto with = replacement(units_[node] & ((1U << 31) - 1))) found = Replacement{*with, at + 1};
    if (first) return found;
  }
  return found;
}

namespace {

class CharacterMapNormalizer final : public Normalizer {
 public:
  explicit CharacterMapNormalizer(const Settings& settings) {
    // An empty map changes nothing.
    const std::string map = settings.text("precompiled_charsmap", "");
    if (map.empty()) return;
    const auto bytes = bytes_of_base64(map);
    if (!bytes) settings.refuse("'precompiled_charsmap' is not in base64");
    map_.emplace(*bytes, settings.where());
  }

  void normalize(AlignedText& text) const override {
    if (!map_) return;
    std::vector<Change> changes;
    const std::string_view all = text.text();
    for (std::size_t at = 0; at < all.size();) {
      const std::string_view cluster = all.substr(at, grapheme_end(all, at) - at);
      at += cluster.size();
      if (cluster.size() < 6 && append(cluster, changes)) continue;
      for (std::size_t i = 0; i < cluster.size();) {
        const Character character = character_at(cluster, i);
        if (!append(cluster.substr(i, character.length), changes)) changes.push_back({character.code, 0});
        i += character.length;
      }
    }
    text.transform(changes);
  }

 private:
  // What is longer than before ends with insertions; what is shorter leaves the rest to the character before.
  bool append(std::string_view old, std::vector<Change>& changes) const {
    const auto found = map_->shortest(old);
    if (!found) return false;
    const std::vector<Change> added = unchanged(found->with);
    changes.insert(changes.end(), added.begin(), added.end());
    const auto more = std::ssize(added) - std::ssize(unchanged(old));
    for (std::ptrdiff_t i = 0; i < more; ++i)
      changes[changes.size() - 1 - static_cast<std::size_t>(i)].change = 1;
    if (more < 0 && !changes.empty()) changes.back().change += static_cast<int>(more);
    return true;
  }

  std::optional<CharacterMap> map_;
};

}  // namespace

PartInfo<Normalizer> character_map_normalizer() {
  return part_info<Normalizer, CharacterMapNormalizer>("Precompiled", "the character map of SentencePiece");
}

}  // namespace assay::text
