#pragma once

// Records as text: their characters, and values for the symbols that ranges of text touch.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/extend/hypothesis.h>

namespace assay::inspection {

// Splits UTF-8 into characters. An invalid byte is a separate character that matches no text.
struct Characters {
  std::vector<char32_t> codes;
  std::vector<std::size_t> begins;  // [codes + 1], in bytes
};
Characters characters_of(std::string_view text);
constexpr char32_t no_character = 0xDC00;  // plus the byte, for bytes that are none

// The lines of a file of UTF-8, without their ends. Throws Error{io}, Error{data} naming the line where it is
// not UTF-8.
std::vector<std::string> read_lines(const std::filesystem::path& path);
std::string trimmed_line(std::string_view line);

// Symbols of each record. Throws Error{usage} where records are not text ("give a vocabulary"), Error{data}
// where they differ in their number.
std::size_t symbols_of(const RecordBlock& records, std::string_view annotator);

// Behaviours of hypotheses about text, symbol by symbol: 0 at first, don't-care where there is padding.
class TextBehaviours {
 public:
  TextBehaviours(const RecordBlock& records, std::size_t hypotheses, std::string_view annotator);

  // The symbols of a hypothesis on a record.
  std::span<float> row(std::size_t record, std::size_t hypothesis);
  // Positions [first, last) of the symbols that the bytes [begin, end) touch.
  struct SymbolRange {
    std::size_t first, last;
  };
  SymbolRange symbols(std::size_t record, std::size_t begin, std::size_t end) const;
  bool is_padding(std::size_t record, std::size_t symbol) const;
  // Gives all symbols but padding of these bytes a value.
  void mark(std::size_t record, std::size_t hypothesis, std::size_t begin, std::size_t end, float value = 1);
  void dont_care(std::size_t record);
  Behaviours take();

 private:
  std::span<const RecordText> texts_;
  std::size_t hypotheses_, symbols_;
  std::vector<float> values_;
};

}  // namespace assay::inspection
