// An argument as SVG: the top goal with its context, below it the strategy, below that a column for each of
// its goals, in which goals and solutions stand one below the other.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "assay/evidence/argument.h"
#include "assay/report/escape.h"
#include "assay/support/text/visible.h"

namespace assay::evidence {
namespace {

using Kind = ArgumentNode::Kind;
using State = FilledItem::State;

constexpr int box_width = 230, gap = 18, indent = 16, line_height = 14, padding = 8, letters = 34,
              longest_text = 170, solution_radius = 13, column_step = box_width + 3 * indent + gap;

// In lines of at most so many bytes, cut where there is no blank; long texts end with an ellipsis.
std::vector<std::string> lines_of(const std::string& whole) {
  std::string text;
  const std::string plain = visible(whole);
  for_each_character(plain, [&](std::string&, std::string_view character) {
    if (text.size() < longest_text) text += character;
  });
  if (text.size() < plain.size()) text += "...";
  std::vector<std::string> lines(1);
  for_each_character(text, [&](std::string&, std::string_view character) {
    const std::size_t blank = lines.back().rfind(' ');
    if (lines.back().size() + character.size() > letters) {
      const bool breaks = character != " " && blank != std::string::npos && blank > 0;
      std::string rest = breaks ? lines.back().substr(blank + 1) : "";
      if (breaks) lines.back().resize(blank);
      lines.push_back(std::move(rest));
    }
    if (!lines.back().empty() || character != " ") lines.back() += character;
  });
  return lines;
}

class Drawing {
 public:
  explicit Drawing(const Argument& argument) : argument_(argument) {
    for (const ArgumentNode& node : argument.nodes) nodes_[node.id] = &node;
    for (const ArgumentLink& link : argument.links) below_[link.from].push_back(link.to);
  }

  std::string draw() {
    const ArgumentNode& top = argument_.nodes.front();
    std::vector<std::string> contexts, strategies;
    for (const std::string& id : below_[top.id])
      (nodes_[id]->kind == Kind::strategy ? strategies : contexts).push_back(id);
    const std::vector<std::string> columns = strategies.empty() ? strategies : below_[strategies.front()];
    width_ = gap + std::max<int>(column_step * static_cast<int>(columns.size()),
                                 (box_width + gap) * static_cast<int>(contexts.size() + 1));
    int y = gap;
    int row = draw_node(top, gap, y);
    int x = gap + box_width + gap;
    for (const std::string& id : contexts) {
      draw_line(x - gap, y + padding, x, y + padding, true);
      row = std::max(row, draw_node(*nodes_[id], x, y));
      x += box_width + gap;
    }
    y += row + gap;
    if (strategies.empty()) return finish(y);
    draw_line(gap + indent, y - gap, gap + indent, y, false);
    y += draw_node(*nodes_[strategies.front()], gap, y) + gap;
    const int trunk = y;
    y += gap;
    int bottom = y;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const int left = gap + column_step * static_cast<int>(c);
      draw_line(left + indent, trunk, left + indent, y, false);
      bottom = std::max(bottom, draw_column(columns[c], left, y));
    }
    draw_line(gap + indent, trunk - gap, gap + indent, trunk, false);
    draw_line(gap + indent, trunk, gap + indent + column_step * static_cast<int>(columns.size() - 1), trunk,
              false);
    return finish(bottom);
  }

 private:
  // A goal and all below it; returns where it ends.
  int draw_column(const std::string& id, int left, int y) {
    y += draw_node(*nodes_[id], left, y) + gap;
    const int rail = left + indent / 2, begin = y - gap;
    int last = begin;
    for (const std::string& child : below_[id]) {
      last = y + padding;
      draw_line(rail, last, left + indent, last, false);
      y = nodes_[child]->kind == Kind::solution ? y + draw_node(*nodes_[child], left + indent, y) + gap
                                                : draw_column(child, left + indent, y);
    }
    if (last > begin) draw_line(rail, begin, rail, last, false);
    return y;
  }

  void draw_line(int x1, int y1, int x2, int y2, bool dashed) {
    body_ += fmt::format("<path d=\"M{} {}L{} {}\" class=\"{}\"/>\n", x1, y1, x2, y2, dashed ? "d" : "l");
  }

  // Returns its height.
  int draw_node(const ArgumentNode& node, int x, int y) {
    const std::vector<std::string> lines = lines_of(node.id + ": " + node.text);
    const int height = 2 * padding + line_height * static_cast<int>(lines.size()) +
                       (node.kind == Kind::goal && node.state != State::evidenced ? line_height : 0);
    body_ += shape_of(node, x, y, height);
    int line = y + padding + line_height - 3;
    const int left = x + padding + (node.kind == Kind::solution ? 2 * solution_radius : 0);
    for (const std::string& text : lines) {
      body_ += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left, line, report::xml_escaped(text));
      line += line_height;
    }
    if (node.kind == Kind::goal && node.state != State::evidenced)
      body_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"s\">{}</text>\n", left, line,
                           node.state == State::open ? "undeveloped: not evidenced" : "does not hold");
    return height;
  }

  static std::string shape_of(const ArgumentNode& node, int x, int y, int height) {
    const char* const look = node.kind != Kind::goal             ? "n"
                             : node.state == State::evidenced    ? "n"
                             : node.state == State::contradicted ? "n f"
                                                                 : "n o";
    switch (node.kind) {
      case Kind::goal:
        break;
      case Kind::strategy:
        return fmt::format("<path d=\"M{} {}H{}L{} {}H{}Z\" class=\"n\"/>\n", x + padding, y, x + box_width,
                           x + box_width - padding, y + height, x);
      case Kind::context:
      case Kind::assumption:
        return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"12\" class=\"n\"/>\n", x,
                           y, box_width, height);
      case Kind::solution:
        return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"n\"/>\n", x + solution_radius,
                           y + padding + solution_radius / 2, solution_radius);
    }
    return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"/>\n", x, y, box_width,
                       height, look);
  }

  std::string finish(int bottom) const {
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
               "{1}\" "
               "role=\"img\">\n<title>{2}</title>\n<style>text{{font:11px "
               "sans-serif;fill:#111}}.n{{fill:#fff;stroke:#111}}.f{{stroke:#b00020;stroke-width:2.5}}"
               ".o{{stroke-dasharray:5 "
               "3}}.s{{font-weight:bold}}.l,.d{{fill:none;stroke:#555}}.d{{stroke-dasharray:3 "
               "3}}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
               width_, bottom + gap, report::xml_escaped(argument_.title)) +
           body_ + "</svg>\n";
  }

  const Argument& argument_;
  std::map<std::string, const ArgumentNode*> nodes_;
  std::map<std::string, std::vector<std::string>> below_;
  std::string body_;
  int width_ = 0;
};

}  // namespace

std::string to_svg(const Argument& argument) { return Drawing(argument).draw(); }

}  // namespace assay::evidence
