#pragma once

// Texts for people that know which options they speak of. What is "use a smaller learning rate" to a C++
// program, `assay` says as "use a smaller --learning-rate" and Python as "use a smaller learning_rate",
// without looking for words, which may be names of the user's.

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace assay::inline support {

// A part of a message. `words`: as the library says it; `options`: as a caller with options says it, each in
// braces, with the value that belongs there: "with {train=SPEC}". They are named as the program's flags are.
struct About {
  std::string words, options;
};

class Message {
 public:
  // An option in the words of a front end. `value` may be empty.
  using Namer = std::function<std::string(std::string_view option, std::string_view value)>;

  Message() = default;
  // Plain text, all of it. A NUL, from a name or cell that it quotes, is written as \x00.
  Message(std::string_view text);
  Message(const std::string& text) : Message(std::string_view(text)) {}
  Message(const char* text) : Message(std::string_view(text)) {}
  Message(const About& about);

  const std::string& text() const { return text_; }  // in the library's words
  operator const std::string&() const { return text_; }
  bool empty() const { return coded_.empty(); }
  bool names_options() const { return coded_.find('\0') != std::string::npos; }
  std::string said(const Namer& namer) const;

  friend bool operator==(const Message& a, const Message& b) { return a.text_ == b.text_; }

 private:
  friend std::string coded(const Message& message);
  friend Message decoded(std::string coded);

  std::string text_, coded_;
};

// Arguments of a message: texts stay texts, whatever they hold, and messages keep what they are about.
// Nothing but coded() writes a NUL.
inline std::string coded(const Message& message) { return message.coded_; }
Message decoded(std::string coded);
template <typename T>
auto message_part(const T& value) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, char>)
    return value;
  else if constexpr (std::is_convertible_v<const T&, Message>)
    return coded(value);
  else
    return coded(fmt::vformat("{}", fmt::make_format_args(value)));
}
template <typename T>
using MessagePart = decltype(message_part(std::declval<const T&>()));
template <typename... Args>
using MessageFormat = fmt::format_string<MessagePart<std::remove_cvref_t<Args>>...>;

template <typename... Parts>
Message message_of_parts(fmt::string_view format, const Parts&... parts) {
  return decoded(fmt::vformat(format, fmt::make_format_args(parts...)));
}

// As fmt::format(): message("use a smaller {}", About{"learning rate", "{learning-rate}"}).
template <typename... Args>
Message message(MessageFormat<Args...> format, const Args&... args) {
  return message_of_parts(format, message_part(args)...);
}

}  // namespace assay::inline support
