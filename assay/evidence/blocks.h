#pragma once

// A text of headings, paragraphs, lists, tables and commands, as Markdown and as a page for printing.

#include <string>
#include <vector>

namespace assay::evidence {

struct Block {
  enum class Kind { heading, paragraph, list, table, code, contents } kind = Kind::paragraph;
  std::string text;                            // of headings, paragraphs and code
  int level = 1;                               // of headings
  std::vector<std::string> items;              // of lists
  std::vector<std::vector<std::string>> rows;  // of tables, the first of them the headings
};

class Text {
 public:
  void heading(int level, std::string text) {
    blocks_.push_back({Block::Kind::heading, std::move(text), level, {}, {}});
  }
  void paragraph(std::string text) {
    blocks_.push_back({Block::Kind::paragraph, std::move(text), 0, {}, {}});
  }
  void list(std::vector<std::string> items) {
    blocks_.push_back({Block::Kind::list, "", 0, std::move(items), {}});
  }
  void table(std::vector<std::vector<std::string>> rows) {
    blocks_.push_back({Block::Kind::table, "", 0, {}, std::move(rows)});
  }
  void code(std::string text) { blocks_.push_back({Block::Kind::code, std::move(text), 0, {}, {}}); }

  // A list of the headings below the first level that follow, with links to them.
  void contents() { blocks_.push_back({Block::Kind::contents, "", 0, {}, {}}); }

  std::string markdown() const;
  // One file without scripts, with a style for paper: `footer` and the page's number stand on each page.
  std::string html(const std::string& title, const std::string& footer) const;

 private:
  std::vector<std::string> headings_after(std::size_t block) const;

  std::vector<Block> blocks_;
};

}  // namespace assay::evidence
