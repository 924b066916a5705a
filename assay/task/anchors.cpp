#include "assay/task/anchors.h"

#include <array>
#include <cmath>
#include <optional>

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/support/text/parse.h"

namespace assay::task {
namespace {

std::optional<Box> anchor_of(const std::string& line) {
  std::array<double, 4> sides{};
  std::size_t count = 0;
  for (const std::string& text : parts_of(line, ", \t;\r")) {
    if (text.empty()) continue;
    const std::optional<double> number = number_of<double>(text);
    if (!number || count == sides.size()) return std::nullopt;
    sides[count++] = *number;
  }
  const auto [left, top, right, bottom] = sides;
  if (count < sides.size() || !(right > left) || !(bottom > top)) return std::nullopt;
  return Box{left, top, right, bottom};
}

}  // namespace

std::vector<Box> anchors_in(const std::string& file) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26;
  std::vector<std::string> lines = parts_of(read_file(file, most_bytes), "\n");
  if (lines.back().empty()) lines.pop_back();
  std::vector<Box> anchors;
  for (const std::string& line : lines) {
    const std::optional<Box> anchor = anchor_of(line);
    if (!anchor)
      fail(Fault::data,
           "{}: line {} is '{}'; an anchor is four numbers, left, top, right and bottom, and has an area",
           file, anchors.size() + 1, line);
    anchors.push_back(*anchor);
  }
  if (anchors.empty()) fail(Fault::data, "{}: there are no anchors, one a line", file);
  return anchors;
}

Box moved(const Box& anchor, const Offsets& offsets, const Variances& variances) {
  const double width = anchor.right - anchor.left, height = anchor.bottom - anchor.top;
  const double x = (anchor.left + anchor.right) / 2 + offsets.x * variances.first * width,
               y = (anchor.top + anchor.bottom) / 2 + offsets.y * variances.first * height;
  const double half_width = width * std::exp(offsets.width * variances.second) / 2,
               half_height = height * std::exp(offsets.height * variances.second) / 2;
  return {x - half_width, y - half_height, x + half_width, y + half_height};
}

}  // namespace assay::task
