#include "assay/data/spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <assay/error.h>

namespace assay {
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

template <typename T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

double parse_real(const std::string& key, const std::string& text) {
  double value = 0;
  if (!parse_number(text, value) || !std::isfinite(value))
    fail(Fault::usage, "data option {}={}: a number such as 0.5 or 1/255 is needed", key, text);
  return value;
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
    std::int64_t value = 0;
    if (!parse_number(parts[i], value))
      fail(Fault::usage, "data '{}': [{}] is not a slice such as [:5000] or [::10]", spec, text);
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
  std::int64_t value = 0;
  if (!parse_number(text(key), value))
    fail(Fault::usage, "data option {}={}: a whole number is needed", key, text(key));
  return value;
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
  const std::vector<std::string> parts = split(rest, ',');
  spec.path = parts[0];
  if (spec.path.empty()) fail(Fault::usage, "data '{}': a path is needed first", text);
  if (const std::size_t open = spec.path.rfind('['); parts.size() > 1 && is_slice(spec.path, open)) {
    fail(Fault::usage, "data '{}': slices stand behind the options: {}{}{}{}", text,
         spec.path.substr(0, open), rest.substr(spec.path.size()), spec.path.substr(open),
         text.substr(rest.size()));
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0) {
      fail(Fault::usage, "data '{}': '{}' is not of the form key=value", text, parts[i]);
    }
    const std::string key = parts[i].substr(0, equals);
    if (!spec.options.emplace(key, parts[i].substr(equals + 1)).second)
      fail(Fault::usage, "data '{}': {} is given twice", text, key);
  }
  return spec;
}

std::vector<std::size_t> slice_positions(const Slice& slice, std::size_t size) {
  const auto n = static_cast<std::int64_t>(size);
  const auto absolute = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n); };
  const std::int64_t start = absolute(slice.start.value_or(0)), stop = absolute(slice.stop.value_or(n));
  std::vector<std::size_t> positions;
  if (start >= stop) return positions;
  const std::int64_t count = (stop - start - 1) / slice.step + 1;  // counted first: start + step may overflow
  for (std::int64_t k = 0; k < count; ++k)
    positions.push_back(static_cast<std::size_t>(start + k * slice.step));
  return positions;
}

}  // namespace assay
