#include "assay/evidence/blocks.h"

#include <fmt/format.h>

#include "assay/report/escape.h"
#include "assay/support/ascii.h"
#include "assay/support/text/visible.h"

namespace assay::evidence {
namespace {

using report::markdown_escaped;
using report::xml_escaped;

constexpr int listed_level = 2;  // of headings in a list of contents

// Of a heading, as Markdown's usual renderers make it: "what-was-asked".
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (is_alphanumeric(c) || c == '-')
      anchor += lower_case(c);
    else if (c == ' ')
      anchor += '-';
  }
  return anchor;
}

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
    case Block::Kind::contents:
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
      return fmt::format("<h{0}{1}>{2}</h{0}>\n", block.level,
                         block.level == listed_level ? " id=\"" + anchor_of(block.text) + "\"" : "",
                         xml_escaped(block.text));
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
      return "<div class=\"t\" role=\"group\" aria-label=\"Table\" tabindex=\"0\">\n<table>\n" + text +
             "</table>\n</div>\n";
    case Block::Kind::contents:
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
    ".w{white-space:nowrap}.t{overflow-x:auto}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:8.5pt;background:#f4f4f4;padding:.6em}"
    ".contents li{list-style:none}.contents ul{padding-left:0}"
    "@media print{body{margin:0;max-width:none}.contents a{color:inherit;text-decoration:none}"
    ".contents a::after{content:leader(\".\") target-counter(attr(href),page)}}";

// A text as a string of a style sheet, in which nothing ends it.
std::string style_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : visible(text)) {
    const bool plain =
        byte_of(c) >= 0x80 || is_alphanumeric(c) || c == ' ' || c == '-' || c == '.' || c == ',' || c == ':';
    quoted += plain ? std::string(1, c) : fmt::format("\\{:x} ", byte_of(c));
  }
  return quoted + "\"";
}

// Every printed page has the footer and its number.
std::string page_style(const std::string& footer) {
  return "@page{margin:18mm 18mm 22mm;font:8pt sans-serif;@bottom-left{content:" + style_string(footer) +
         "}@bottom-right{content:\"page \" counter(page) \" of \" counter(pages)}}";
}

std::string html_contents(const std::vector<std::string>& headings) {
  std::string text;
  for (const std::string& heading : headings)
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", anchor_of(heading), xml_escaped(heading));
  return "<nav class=\"contents\" aria-label=\"Contents\">\n<ul>\n" + text + "</ul>\n</nav>\n";
}

std::string markdown_contents(const std::vector<std::string>& headings) {
  std::string text;
  for (const std::string& heading : headings)
    text += fmt::format("- [{}](#{})\n", markdown_escaped(heading), anchor_of(heading));
  return text + "\n";
}

}  // namespace

std::vector<std::string> Text::headings_after(std::size_t block) const {
  std::vector<std::string> headings;
  for (std::size_t b = block + 1; b < blocks_.size(); ++b) {
    if (blocks_[b].kind == Block::Kind::heading && blocks_[b].level == listed_level)
      headings.push_back(blocks_[b].text);
  }
  return headings;
}

std::string Text::markdown() const {
  std::string text;
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    text += blocks_[b].kind == Block::Kind::contents ? markdown_contents(headings_after(b))
                                                     : markdown_of(blocks_[b]);
  return text;
}

std::string Text::html(const std::string& title, const std::string& footer) const {
  std::string text =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      xml_escaped(title) + "</title>\n<style>" + style + page_style(footer) +
      "</style>\n</head>\n<body>\n<main>\n";
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    text += blocks_[b].kind == Block::Kind::contents ? html_contents(headings_after(b)) : html_of(blocks_[b]);
  return text + "</main>\n</body>\n</html>\n";
}

}  // namespace assay::evidence
