// The character map that SentencePiece compiles: a double-array trie over bytes, whose values are positions
// in a list of replacements that end with zeros.

#include "assay/support/text/base64.h"
#include "assay/support/text/characters.h"
#include "assay/text/normalizers/catalogue.h"

namespace assay::text {
namespace {

class CharacterMap {
 public:
  explicit CharacterMap(const Settings& settings) {
    const auto bytes = bytes_of_base64(settings.text("precompiled_charsmap"));
    if (!bytes) settings.refuse("'precompiled_charsmap' is not in base64");
    if (bytes->size() < 4) settings.refuse("'precompiled_charsmap' ends early");
    const std::size_t size = unit_at(*bytes, 0);
    if (size == 0 || size % 4 != 0 || size > bytes->size() - 4)
      settings.refuse("'precompiled_charsmap' has {} bytes and promises {}", bytes->size(), size);
    for (std::size_t at = 4; at < 4 + size; at += 4) units_.push_back(unit_at(*bytes, at));
    replacements_ = bytes->substr(4 + size);
    if (!character_codes(replacements_))
      settings.refuse("replacements of 'precompiled_charsmap' are not UTF-8");
  }

  // What stands for the shortest beginning of `key` that is in the map.
  std::optional<std::string_view> replacement(std::string_view key) const {
    const auto value = find(key);
    if (!value || *value > replacements_.size()) return std::nullopt;
    const std::string_view rest = std::string_view(replacements_).substr(*value);
    // In the middle of a character there is none.
    if (!rest.empty() && (static_cast<unsigned char>(rest[0]) & 0xC0) == 0x80) return std::nullopt;
    return rest.substr(0, rest.find('\0'));
  }

 private:
  static std::uint32_t unit_at(const std::string& bytes, std::size_t at) {
    std::uint32_t unit = 0;
    for (std::size_t i = 0; i < 4; ++i)
      unit |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    return unit;
  }
  static std::uint32_t offset_of(std::uint32_t unit) { return unit >> 10 << ((unit & (1U << 9)) >> 6); }

  std::optional<std::uint32_t> find(std::string_view key) const {
    std::size_t node = offset_of(units_[0]);
    for (const char c : key) {
      const auto byte = static_cast<unsigned char>(c);
      node ^= byte;
      if (byte == 0 || node >= units_.size()) return std::nullopt;
      const std::uint32_t unit = units_[node];
      if ((unit & (1U << 31 | 0xFF)) != byte) return std::nullopt;
      node ^= offset_of(unit);
      if ((unit >> 8 & 1) == 0) continue;
      if (node >= units_.size()) return std::nullopt;
      return units_[node] & ((1U << 31) - 1);
    }
    return std::nullopt;
  }

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

class CharacterMapNormalizer final : public Normalizer {
 public:
  explicit CharacterMapNormalizer(const Settings& settings) {
    // An empty map changes nothing.
    if (!settings.text("precompiled_charsmap", "").empty()) map_.emplace(settings);
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
    const auto with = map_->replacement(old);
    if (!with) return false;
    const std::vector<Change> added = unchanged(*with);
    changes.insert(changes.end(), added.begin(), added.end());
    const auto more =
        static_cast<std::ptrdiff_t>(added.size()) - static_cast<std::ptrdiff_t>(unchanged(old).size());
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
