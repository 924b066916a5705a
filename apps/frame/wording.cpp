#include "apps/frame/wording.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "apps/frame/flags.h"
#include "assay/support/text/parse.h"

namespace assay::frame {
namespace {

// Stands for one name while concepts are looked for: no text of the library holds it.
constexpr char mask = '\x1a';

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// A quotation mark, not an apostrophe within or after a word ("layer's", "units' names").
bool opens(std::string_view text, std::size_t at) {
  return text[at] == '\'' && (at == 0 || !is_letter(text[at - 1]));
}
bool closes(std::string_view text, std::size_t at) {
  return text[at] == '\'' && (at + 1 == text.size() || !is_letter(text[at + 1]));
}

// Where the quoted text that begins after `open` ends, or npos.
std::size_t end_of_quoted(std::string_view text, std::size_t open) {
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (closes(text, i)) return i;
  }
  return std::string_view::npos;
}

// The message with a mask for each name, and the names in their order.
struct Masked {
  std::string text;
  std::vector<std::string> names;
};

std::size_t length_of_name_at(std::string_view message, std::size_t at,
                              const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (message.substr(at).starts_with(name)) return name.size();
  }
  return 0;
}

Masked masked(std::string_view message, const std::vector<std::string>& names) {
  Masked result;
  for (std::size_t i = 0; i < message.size();) {
    const bool quoted = i > 0 && opens(message, i - 1) && message[i] != '\'';
    const std::size_t end = quoted ? end_of_quoted(message, i - 1) : std::string_view::npos;
    const std::size_t length = end != std::string_view::npos ? end - i : length_of_name_at(message, i, names);
    if (length == 0 && message[i] != mask) {
      result.text += message[i++];
      continue;
    }
    result.names.emplace_back(message.substr(i, std::max<std::size_t>(length, 1)));
    result.text += mask;
    i += result.names.back().size();
  }
  return result;
}

std::string unmasked(std::string_view text, const std::vector<std::string>& names) {
  std::string message;
  std::size_t next = 0;
  for (const char c : text) {
    if (c == mask && next < names.size()) {
      message += names[next++];
    } else {
      message += c;
    }
  }
  return message;
}

// A value, and its parts: "a b.csv" of "x.npz,labels=a b.csv".
void add_names(const std::string& value, std::vector<std::string>& names) {
  names.push_back(value);
  for (const std::string& part : parts_of(value, ",")) {
    names.push_back(part);
    const std::size_t equals = part.find('=');
    if (equals != std::string::npos) names.push_back(part.substr(equals + 1));
  }
}

}  // namespace

Wording::Wording(const Program& program, const CLI::App& command) : program_(program) {
  for (const CLI::Option* option : command.get_options()) {
    if (is_switch(*option)) continue;
    for (const std::string& value : option->results()) add_names(value, names_);
  }
  std::erase_if(names_, [](const std::string& name) { return name.find(' ') == std::string::npos; });
  std::ranges::sort(names_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Wording::operator()(std::string message) const {
  const Masked parts = masked(message, names_);
  return unmasked(program_.with_flags(parts.text), parts.names);
}

void Wording::reword(report::Document& document) const {
  document.headline = (*this)(std::move(document.headline));
  for (std::string& notice : document.notices) notice = (*this)(std::move(notice));
  for (report::Warning& warning : document.warnings) {
    warning.text = (*this)(std::move(warning.text));
    warning.cause = (*this)(std::move(warning.cause));
  }
}

}  // namespace assay::frame
