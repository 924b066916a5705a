#include "assay/data/spec.h"

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

double parse_real(const std::string& key, const std::string& text) {
  const auto value = number_of<double>(text);
  if (!value) fail(Fault::usage, "data option {}={}: a number such as 0.5 or 1/255 is needed", key, text);
  return *value;
}

// Whether a text ends in something like "[:40]".
bool is_slice(const std::string& text, std::size_t open) {
  return open != std::string::npos && text.back() == ']' && text.find(':', open) != std::string::npos &&
         text.find_first_not_of("0123456789:-", open + 1) == text.size() - 1;
}

Slice parse_slice(const std::string& text, const std::string& spec) {
  const std::vector<std::string> parts = split(text, ':');
  Slice slice;
  const auto position = [&](std::size_t i) -> std::optional<std::int64_t> {
    if (i >= parts.size() || parts[i].empty()) return std::nullopt;
    const auto value = number_of<std::int64_t>(parts[i]);
    if (!value) fail(Fault::usage, "data '{}': [{}] is not a slice such as [:5000] or [::10]", spec, text);
    return value;
  };
  if (parts.size() < 2 || parts.size() > 3)
    fail(Fault::usage, "data '{}': [{}] is not a slice such as [:5000] or [::10]", spec, text);
  slice.start = position(0);
  slice.stop = position(1);
  slice.step = position(2).value_or(1);
  if (slice.step < 1) fail(Fault::usage, "data '{}': the step of slice [{}] must be at least 1", spec, text);
  return slice;
}

[[noreturn]] void refuse_quote(const std::string& spec) {
  fail(Fault::usage, "data '{}': a double quote is never closed, or is followed by text", spec);
}

std::string path_of(std::string_view& items, const std::string& spec) {
  std::optional<std::string> path = take_part(items, ",");
  if (!path) refuse_quote(spec);
  if (path->empty()) fail(Fault::usage, "data '{}': a path is needed first", spec);
  return std::move(*path);
}

// decimal=, is a comma without quotes as well: nothing else can be meant.
std::optional<std::string> take_value(std::string_view& items, const std::string& key) {
  if (key != "decimal" || !items.starts_with(',')) return take_part(items, ",");
  items.remove_prefix(1);
  return ",";
}

// Takes key=value off the front.
void take_option(std::string_view& items, const std::string& text, DataSpec& spec) {
  const std::string_view whole = items.substr(0, items.find(','));
  const std::string key(items.substr(0, std::min(items.find_first_of("=,"), items.size())));
  items.remove_prefix(key.size());
  if (!key.empty() && !items.starts_with('=') && spec.has("meta"))
    fail(Fault::usage,
         "data '{}': '{}' is not of the form key=value; columns of meta= are joined by +: meta={}+{}", text,
         whole, spec.text("meta"), whole);
  if (key.empty() || !items.starts_with('='))
    fail(Fault::usage,
         "data '{}': '{}' is not of the form key=value; a path with commas must be in double quotes, "
         "\"a,b.npz\"",
         text, whole);
  items.remove_prefix(1);
  std::optional<std::string> value = take_value(items, key);
  if (!value) refuse_quote(text);
  if (value->empty()) fail(Fault::usage, "data '{}': {}= has no value", text, key);
  if (!spec.options.emplace(key, std::move(*value)).second)
    fail(Fault::usage, "data '{}': {} is given twice", text, key);
}

}  // namespace

std::string DataSpec::text(const std::string& key, std::string fallback) const {
  const auto it = options.find(key);
  return it == options.end() ? std::move(fallback) : it->second;
}

double DataSpec::number(const std::string& key, double fallback) const {
  if (!has(key)) return fallback;
  const std::vector<std::string> parts = split(text(key), '/');
  if (parts.size() > 2) fail(Fault::usage, "data option {}={}: one number is needed", key, text(key));
  const double numerator = parse_real(key, parts[0]);
  const double value = parts.size() == 1 ? numerator : numerator / parse_real(key, parts[1]);
  if (!std::isfinite(value)) fail(Fault::usage, "data option {}={}: not a finite number", key, text(key));
  return value;
}

std::int64_t DataSpec::integer(const std::string& key, std::int64_t fallback) const {
  if (!has(key)) return fallback;
  const auto value = number_of<std::int64_t>(text(key));
  if (!value) fail(Fault::usage, "data option {}={}: a whole number is needed", key, text(key));
  return *value;
}

std::vector<double> DataSpec::numbers(const std::string& key) const {
  std::vector<double> result;
  if (!has(key)) return result;
  for (const std::string& part : split(text(key), '/')) result.push_back(parse_real(key, part));
  return result;
}

std::vector<std::string> DataSpec::words(const std::string& key) const {
  return has(key) ? split(text(key), '+') : std::vector<std::string>{};
}

DataSpec parse_spec(const std::string& text) {
  DataSpec spec;
  std::string rest = text;
  while (!rest.empty() && rest.back() == ']') {
    const std::size_t open = rest.rfind('[');
    if (open == std::string::npos) fail(Fault::usage, "data '{}': ']' without '['", text);
    spec.slices.insert(spec.slices.begin(), parse_slice(rest.substr(open + 1, rest.size() - open - 2), text));
    rest.resize(open);
  }
  std::string_view items = rest;
  spec.path = path_of(items, text);
  const std::size_t open = spec.path.rfind('[');
  if (!rest.starts_with('"') && !items.empty() && is_slice(spec.path, open)) {
    fail(Fault::usage, "data '{}': slices come after the options: {}{}{}{}", text, spec.path.substr(0, open),
         items, spec.path.substr(open), text.substr(rest.size()));
  }
  while (!items.empty()) {
    items.remove_prefix(1);
    take_option(items, text, spec);
  }
  return spec;
}

std::string range_option(const ValidRange& range) {
  std::string text;
  for (std::size_t c = 0; c < range.low.size(); ++c)
    text += fmt::format("{}{}:{}", c == 0 ? "range=" : "\n", range.low[c], range.high[c]);
  // The sign of an exponent would part two channels.
  std::erase(text, '+');
  std::ranges::replace(text, '\n', '+');
  return text;
}

std::vector<std::size_t> slice_positions(const Slice& slice, std::size_t size) {
  const std::int64_t n = size;
  const auto absolute = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n); };
  const std::int64_t start = absolute(slice.start.value_or(0)), stop = absolute(slice.stop.value_or(n));
  std::vector<std::size_t> positions;
  if (start >= stop) return positions;
  const std::int64_t count = (stop - start - 1) / slice.step + 1;  // counted first: start + step may overflow
  for (std::int64_t k = 0; k < count; ++k) positions.push_back(start + k * slice.step);
  return positions;
}

}  // namespace assay::inline data
