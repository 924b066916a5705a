#include "assay/task/anchors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/support/text/parse.h"

namespace assay::task {
namespace {

// So many numbers in a line, or nothing.
template <std::size_t Count>
std::optional<std::array<double, Count>> numbers_in(const std::string& line) {
  std::array<double, Count> numbers{};
  std::size_t count = 0;
  for (const std::string& text : parts_of(line, ", \t;\r")) {
    if (text.empty()) continue;
    const std::optional<double> number = number_of<double>(text);
    if (!number || count == Count) return std::nullopt;
    numbers[count++] = *number;
  }
  return count == Count ? std::optional(numbers) : std::nullopt;
}

std::optional<Box> anchor_of(const std::string& line) {
  const auto numbers = numbers_in<4>(line);
  if (!numbers) return std::nullopt;
  const auto [left, top, right, bottom] = *numbers;
  if (!(right > left) || !(bottom > top)) return std::nullopt;
  return Box{left, top, right, bottom};
}

std::optional<AnchorSides> sides_of(const std::string& line) {
  const auto numbers = numbers_in<2>(line);
  if (!numbers || !(std::ranges::min(*numbers) > 0)) return std::nullopt;
  return AnchorSides{(*numbers)[0], (*numbers)[1]};
}

// What `read` makes of each line; `what`: what an anchor is.
template <typename Read>
auto anchors_by_line(const std::string& file, const Read& read, const std::string& what) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26;
  std::vector<std::string> lines = parts_of(read_file(file, most_bytes), "\n");
  if (lines.back().empty()) lines.pop_back();
  std::vector<typename decltype(read(file))::value_type> anchors;
  for (const std::string& line : lines) {
    const auto anchor = read(line);
    if (!anchor)
      fail(Fault::data, "{}: line {} is '{}'; an anchor is {}", file, anchors.size() + 1, line, what);
    anchors.push_back(*anchor);
  }
  if (anchors.empty()) fail(Fault::data, "{}: there are no anchors, one a line", file);
  return anchors;
}

}  // namespace

std::vector<Box> anchors_in(const std::string& file) {
  return anchors_by_line(file, anchor_of, "four numbers, left, top, right and bottom, and has an area");
}

std::vector<AnchorSides> anchor_sides_in(const std::string& file) {
  return anchors_by_line(file, sides_of, "two numbers above 0, width and height in pixels");
}

Box moved(const Box& anchor, const Offsets& offsets, const Variances& variances) {
  const double width = anchor.right - anchor.left, height = anchor.bottom - anchor.top;
  const double x = (anchor.left + anchor.right) / 2 + offsets.x * variances.first * width,
               y = (anchor.top + anchor.bottom) / 2 + offsets.y * variances.first * height;
  return around(x, y, width * std::exp(offsets.width * variances.second),
                height * std::exp(offsets.height * variances.second));
}

}  // namespace assay::task
