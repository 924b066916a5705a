#pragma once

// Readers of short texts that people write: lists, numbers, parts of work.

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// "a,b" with "," -> a, b. Every character of `separators` separates; an empty text is one empty part.
std::vector<std::string> parts_of(std::string_view text, std::string_view separators);

// The number that the whole text is.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The number that a launcher or a scheduler left in the environment. Null: no variable.
std::optional<std::size_t> variable_number(const char* variable);

// "3x32x32" with 'x' -> 3, 32, 32. `name`: what the text is called in messages. Throws Error{usage} unless
// all are greater than 0.
std::vector<std::int64_t> parse_positive(std::string_view text, char separator, std::string_view name,
                                         std::string_view example);

// The same of counts: "6,8,10" -> 6, 8, 10.
std::vector<std::size_t> parse_counts(std::string_view text, std::string_view name, std::string_view example);

// "2/8" -> {2, 8}: the second of eight parts of the work. "auto": the part that the environment names, in
// which Slurm, srun or Kubernetes number the tasks of a job (docs/clusters.md). `name`: what the text is
// called in messages. Throws Error{usage}.
std::pair<std::size_t, std::size_t> parse_shard(const std::string& text, std::string_view name);

// Paths that a text may name, whether or not something is there: itself, as a network with what lies beside
// it, and the parts of a data spec.
std::vector<std::filesystem::path> paths_in(const std::string& text);

}  // namespace assay
