#pragma once

// Readers of short texts that people write: lists, numbers, parts of work.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <assay/message.h>

namespace assay::inline support {

// "a,b" with "," -> a, b. Every character of `separators` separates; an empty text is one empty part.
std::vector<std::string> parts_of(std::string_view text, std::string_view separators);

// The number that the whole text is, as flags, configuration files, specs and data specs take it: in decimal
// digits (010 is ten), finite, with a sign where wanted. Nothing for all else: hexadecimal, blanks, digits
// beyond ASCII, numbers that the type does not hold.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return number;
}

// Whether networks, which compute in 32 bits, can take the number: 1e308 is infinite to them.
inline bool fits_networks(double number) { return std::abs(number) <= std::numeric_limits<float>::max(); }

// Takes the part up to one of `stops` off the front of `rest`; of what stands in double quotes ("" is one)
// all that is inside. Nothing where a quote is never closed or more text stands after it.
std::optional<std::string> take_part(std::string_view& rest, std::string_view stops);

// The data specs of "a.npz[:100] + b.npz", whose records follow each other; one for a text without " + "
// outside of quotes.
std::vector<std::string> joined_specs(const std::string& text);

// `text` in double quotes where take_part() would end it at one of `stops` or take a quote off.
std::string part_in_quotes(const std::string& text, std::string_view stops);

// The number that a launcher or a scheduler left in the environment. Null: no variable.
std::optional<std::size_t> variable_number(const char* variable);

// "3x32x32" with 'x' -> 3, 32, 32. `name`: what the text is called in messages. Throws Error{usage} unless
// all are greater than 0.
std::vector<std::int64_t> parse_positive(std::string_view text, char separator, const Message& name,
                                         std::string_view example);

// The same of counts: "6,8,10" -> 6, 8, 10.
std::vector<std::size_t> parse_counts(std::string_view text, const Message& name, std::string_view example);

// "2/8" -> {2, 8}: the second of eight parts of the work. "auto": the part that the environment names, in
// which Slurm, srun or Kubernetes number the tasks of a job (docs/clusters.md). `name`: what the text is
// called in messages. Throws Error{usage}.
std::pair<std::size_t, std::size_t> parse_shard(const std::string& text, const Message& name);

// Paths of what is read with a file, whether or not something is there: weights of ONNX, the architecture of
// weights in the format of Keras, labels of IDX images.
std::vector<std::filesystem::path> paths_beside(const std::filesystem::path& path);

// Paths that a text may name, whether or not something is there: itself, the parts of a data spec, of an
// array in a file (FILE:ARRAY), of files joined by +, the words of a command, and what lies next to each.
std::vector<std::filesystem::path> paths_in(const std::string& text);

}  // namespace assay::inline support
