#include "assay/text/aligned_text.h"

#include <algorithm>
#include <utility>

#include "assay/support/text/characters.h"

namespace assay::text {

AlignedText::AlignedText(std::string original) : text_(std::move(original)) {
  bytes_.reserve(text_.size());
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t length = character_at(text_, at).length;
    bytes_.insert(bytes_.end(), length,
                  {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + length)});
    at += length;
  }
}

Range AlignedText::original(Range range) const {
  if (range.begin == range.end) return {begin_ + range.begin, begin_ + range.end};
  if (range.end > bytes_.size()) return range;
  return {bytes_[range.begin].begin, bytes_[range.end - 1].end};
}

AlignedText AlignedText::slice(Range range) const {
  AlignedText part;
  part.text_ = text_.substr(range.begin, range.end - range.begin);
  part.bytes_.assign(bytes_.data() + range.begin, bytes_.data() + range.end);
  part.begin_ = original(range).begin;
  return part;
}

void AlignedText::append(char32_t code, Bytes from, std::string& text, std::vector<Bytes>& bytes) const {
  text += character_of(code);
  bytes.resize(text.size(), from);
}

void AlignedText::transform(const std::vector<Change>& changes, std::size_t removed) {
  std::string text;
  std::vector<Bytes> bytes;
  text.reserve(text_.size());
  bytes.reserve(text_.size());
  std::size_t at = 0;  // the next byte of the old text
  const auto skip = [&](std::size_t characters) {
    for (; characters > 0 && at < text_.size(); --characters) at += character_at(text_, at).length;
  };
  skip(removed);
  const Bytes nothing{static_cast<std::uint32_t>(begin_), static_cast<std::uint32_t>(begin_)};
  for (const auto& [code, change] : changes) {
    // What is inserted stands for the same as what is before it.
    const std::size_t from = change > 0 ? at - 1 : std::min(at, text_.size() - 1);
    append(code, change > 0 && at == 0 ? nothing : bytes_[from], text, bytes);
    if (change <= 0) skip(1 + static_cast<std::size_t>(-change));
  }
  text_ = std::move(text);
  bytes_ = std::move(bytes);
}

void AlignedText::filter(const std::function<bool(char32_t)>& keep) {
  std::vector<Change> kept;
  std::size_t first = 0;
  for (const auto& [code, change] : unchanged(text_)) {
    if (keep(code))
      kept.push_back({code, 0});
    else if (kept.empty())
      ++first;
    else
      --kept.back().change;
  }
  transform(kept, first);
}

void AlignedText::map(const std::function<char32_t(char32_t)>& changed) {
  std::vector<Change> changes = unchanged(text_);
  for (Change& change : changes) change.code = changed(change.code);
  transform(changes);
}

void AlignedText::prepend(std::string_view before) {
  if (text_.empty() || before.empty()) return;
  std::vector<Change> changes = unchanged(before), rest = unchanged(text_);
  for (std::size_t i = 1; i < changes.size(); ++i) changes[i].change = 1;
  rest[0].change = 1;
  changes.insert(changes.end(), rest.begin(), rest.end());
  transform(changes);
}

void AlignedText::replace(const Pattern& pattern, std::string_view content) {
  std::string text;
  std::vector<Bytes> bytes;
  for (const auto& [range, matched] : parts_by(text_, pattern)) {
    if (!matched) {
      text.append(text_, range.begin, range.end - range.begin);
      bytes.insert(bytes.end(), bytes_.data() + range.begin, bytes_.data() + range.end);
      continue;
    }
    // All of it stands for the last character that was replaced.
    const auto start = static_cast<std::uint32_t>(begin_);
    text += content;
    bytes.resize(text.size(), range.end == 0 ? Bytes{start, start} : bytes_[range.end - 1]);
  }
  text_ = std::move(text);
  bytes_ = std::move(bytes);
}

void AlignedText::lower_case() {
  std::vector<Change> changes;
  for (const Change& old : unchanged(text_)) {
    const auto lower = text::lower_case(old.code);
    changes.insert(changes.end(), lower.begin(), lower.end());
  }
  transform(changes);
}

void AlignedText::strip(bool left, bool right) {
  const std::vector<Change> all = unchanged(text_);
  const auto is_space = [](const Change& change) { return is_white_space(change.code); };
  auto begin = all.begin(), end = all.end();
  if (left) begin = std::find_if_not(begin, end, is_space);
  if (right)
    end = std::find_if_not(std::reverse_iterator(end), std::reverse_iterator(begin), is_space).base();
  transform({begin, end}, static_cast<std::size_t>(begin - all.begin()));
}

std::vector<Change> unchanged(std::string_view text) {
  std::vector<Change> changes;
  changes.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    changes.push_back({character.code, 0});
    at += character.length;
  }
  return changes;
}

}  // namespace assay::text
