#include "assay/text/lengths.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace assay::text {
namespace {

// Padding to more tokens is a mistake or an attack.
constexpr std::uint32_t most_tokens = 1 << 24;

std::size_t length_of(const Settings& settings, const std::string& key, std::uint32_t least) {
  const std::uint32_t length = settings.number(key);
  if (length < least || length > most_tokens)
    settings.refuse("'{}' is {}; {} to {} tokens are possible", key, length, least, most_tokens);
  return length;
}

bool is_left(const Settings& settings) {
  const std::string direction = settings.text("direction", "Right");
  if (direction != "Left" && direction != "Right")
    settings.refuse("'direction' is '{}'; there are Left and Right", direction);
  return direction == "Left";
}

std::size_t tokens_in(const std::vector<Encoding>& texts) {
  std::size_t all = 0;
  for (const Encoding& text : texts) all += text.size();
  return all;
}

}  // namespace

Lengths::Lengths(const Settings& file) {
  if (file.has("truncation")) read_truncation(file.part("truncation"));
  if (file.has("padding")) read_padding(file.part("padding"));
}

void Lengths::read_truncation(const Settings& settings) {
  longest_ = length_of(settings, "max_length", 0);
  cut_left_ = is_left(settings);
  const std::string strategy = settings.text("strategy");
  if (strategy == "OnlyFirst")
    which_ = Which::only_first;
  else if (strategy == "OnlySecond")
    which_ = Which::only_second;
  else if (strategy != "LongestFirst")
    settings.refuse("'strategy' is '{}'; there are LongestFirst, OnlyFirst and OnlySecond", strategy);
}

void Lengths::read_padding(const Settings& settings) {
  padding_ = SpecialToken{settings.number("pad_id"), settings.text("pad_token")};
  padding_type_ = settings.number("pad_type_id");
  pad_left_ = is_left(settings);
  if (settings.has("pad_to_multiple_of")) multiple_ = length_of(settings, "pad_to_multiple_of", 0);
  const auto it = settings.value().find("strategy");
  if (it != settings.value().end() && *it == "BatchLongest") return;
  fixed_ = length_of(settings.part("strategy"), "Fixed", 0);
}

void Lengths::truncate(std::vector<Encoding>& texts, std::size_t around, std::optional<std::size_t> length,
                       const std::string& name) const {
  if (!length && !longest_) return;
  const std::size_t most = length.value_or(longest_.value_or(0));
  if (most < around)
    fail(Fault::data, "{}: {} tokens are too few for the {} special ones around a text", name, most, around);
  if (tokens_in(texts) + around <= most) return;
  if (texts.size() == 2 && which_ == Which::longest_first) return cut_both(texts, most - around);
  const std::size_t one = which_ == Which::only_second ? 1 : 0;
  const std::size_t removed = tokens_in(texts) + around - most;
  if (one >= texts.size() || (texts.size() == 2 && texts[one].size() <= removed))
    fail(Fault::data,
         "{}: {} tokens have to go, and the text that is to be cut is too short; allow more tokens", name,
         removed);
  cut(texts[one], texts[one].size() - removed);
}

void Lengths::cut(Encoding& encoding, std::size_t length) const {
  if (length >= encoding.size()) return;
  encoding =
      cut_left_ ? part_of(encoding, encoding.size() - length, encoding.size()) : part_of(encoding, 0, length);
}

// The longer of two texts first; half each where both are long.
void Lengths::cut_both(std::vector<Encoding>& texts, std::size_t most) const {
  const bool swapped = texts[0].size() > texts[1].size();
  std::size_t shorter = texts[swapped ? 1 : 0].size();
  std::size_t longer = shorter > most ? shorter : std::max(shorter, most - shorter);
  if (shorter + longer > most) {
    shorter = most / 2;
    longer = shorter + most % 2;
  }
  cut(texts[swapped ? 1 : 0], shorter);
  cut(texts[swapped ? 0 : 1], longer);
}

std::size_t Lengths::padded(std::size_t size) const {
  std::size_t wanted = fixed_.value_or(size);
  if (multiple_ > 0 && wanted % multiple_ > 0) wanted += multiple_ - wanted % multiple_;
  return wanted;
}

void Lengths::pad(Encoding& encoding, std::optional<std::size_t> length,
                  const std::optional<SpecialToken>& token) const {
  if (!length && !padding_) return;
  const std::size_t wanted = length ? *length : padded(encoding.size());
  if (encoding.size() >= wanted) return;
  if (!token)
    fail(Fault::data, "the tokenizer has no token to fill up texts with; say which in its 'padding'");
  Encoding filling;
  while (filling.size() + encoding.size() < wanted) append_special(filling, *token, padding_type_);
  std::ranges::fill(filling.attention, 0);
  if (pad_left_) std::swap(encoding, filling);
  append(encoding, filling);
}

}  // namespace assay::text
