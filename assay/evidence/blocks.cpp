#include "assay/evidence/blocks.h"

#include <fmt/format.h>

#include "assay/report/escape.h"
#include "assay/support/text/visible.h"

namespace assay::evidence {
namespace {

using report::markdown_escaped;
using report::xml_escaped;

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line.append(" ").append(markdown_escaped(cell)).append(" |");
  return line + "\n";
}

std::string markdown_of(const Block& block) {
  std::string text;
  switch (block.kind) {
    case Block::Kind::heading:
      return std::string(static_cast<std::size_t>(block.level), '#') + " " + markdown_escaped(block.text) +
             "\n\n";
    case Block::Kind::paragraph:
      return markdown_escaped(block.text) + "\n\n";
    case Block::Kind::list:
      for (const std::string& item : block.items) text += "- " + markdown_escaped(item) + "\n";
      return text + "\n";
    case Block::Kind::table:
      for (std::size_t i = 0; i < block.rows.size(); ++i) {
        text += markdown_row(block.rows[i]);
        if (i == 0) text += markdown_row(std::vector<std::string>(block.rows[i].size(), "---"));
      }
      return text + "\n";
    case Block::Kind::code:
      break;
  }
  return "    " + visible(block.text) + "\n\n";
}

constexpr std::size_t most_whole = 8;  // characters of a cell that is not broken: "holds", "NO"

std::string html_of(const Block& block) {
  std::string text;
  switch (block.kind) {
    case Block::Kind::heading:
      return "<h" + std::to_string(block.level) + ">" + xml_escaped(block.text) + "</h" +
             std::to_string(block.level) + ">\n";
    case Block::Kind::paragraph:
      return "<p>" + xml_escaped(block.text) + "</p>\n";
    case Block::Kind::list:
      for (const std::string& item : block.items) text += "<li>" + xml_escaped(item) + "</li>\n";
      return "<ul>\n" + text + "</ul>\n";
    case Block::Kind::table:
      for (std::size_t i = 0; i < block.rows.size(); ++i) {
        const std::string cell = i == 0 ? "th" : "td";
        text += "<tr>";
        for (const std::string& one : block.rows[i])
          text += fmt::format("<{}{}>{}</{}>", cell, one.size() <= most_whole ? " class=\"w\"" : "",
                              xml_escaped(one), cell);
        text += "</tr>\n";
      }
      return "<table>\n" + text + "</table>\n";
    case Block::Kind::code:
      break;
  }
  return "<pre>" + xml_escaped(block.text) + "</pre>\n";
}

constexpr const char* style =
    "body{font:11pt/1.45 serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#111;background:#fff}"
    "h1,h2,h3{font-family:sans-serif;line-height:1.2;break-after:avoid}h2{margin-top:2em}"
    "table{border-collapse:collapse;width:100%;font-size:9pt;margin:1em 0}tr{break-inside:avoid}"
    "th,td{border:1px solid #999;padding:.2em .4em;text-align:left;vertical-align:top;overflow-wrap:anywhere}"
    ".w{white-space:nowrap}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:8.5pt;background:#f4f4f4;padding:.6em}"
    "@page{margin:18mm}@media print{body{margin:0;max-width:none}}";

}  // namespace

std::string Text::markdown() const {
  std::string text;
  for (const Block& block : blocks_) text += markdown_of(block);
  return text;
}

std::string Text::html(const std::string& title) const {
  std::string text =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      xml_escaped(title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n";
  for (const Block& block : blocks_) text += html_of(block);
  return text + "</body>\n</html>\n";
}

}  // namespace assay::evidence
