#include <assay/message.h>

#include <algorithm>
#include <utility>

namespace assay::inline support {
namespace {

constexpr char edge = '\0';  // before the words, the options and the end of a part of coded text

// "with {train=SPEC}" in the words of a front end.
std::string named(std::string_view options, const Message::Namer& namer) {
  std::string text;
  while (!options.empty()) {
    const std::size_t open = std::min(options.find('{'), options.size());
    const std::size_t close = std::min(options.find('}', open), options.size());
    text += options.substr(0, open);
    if (open == close) break;
    const std::string_view option = options.substr(open + 1, close - open - 1);
    const std::size_t equals = std::min(option.find('='), option.size());
    text += namer(option.substr(0, equals), option.substr(std::min(equals + 1, option.size())));
    options.remove_prefix(std::min(close + 1, options.size()));
  }
  return text;
}

// Coded text in the words of a front end; null: of the library.
std::string rendered(std::string_view coded, const Message::Namer* namer) {
  const auto take = [&] {
    const std::string_view taken = coded.substr(0, coded.find(edge));
    coded.remove_prefix(std::min(taken.size() + 1, coded.size()));
    return taken;
  };
  std::string text;
  while (!coded.empty()) {
    text += take();
    if (coded.empty()) break;
    const std::string_view words = take(), options = take();
    text += namer == nullptr ? std::string(words) : named(options, *namer);
  }
  return text;
}

}  // namespace

Message::Message(std::string_view text) : text_(text) {
  for (std::size_t at = text_.find(edge); at != std::string::npos; at = text_.find(edge, at))
    text_.replace(at, 1, "\\x00");
  coded_ = text_;
}

Message::Message(const About& about) : Message(about.words) {
  coded_ = edge + text_ + edge + about.options + edge;
}

std::string Message::said(const Namer& namer) const { return rendered(coded_, &namer); }

Message decoded(std::string coded) {
  Message message;
  message.text_ = rendered(coded, nullptr);
  message.coded_ = std::move(coded);
  return message;
}

}  // namespace assay::inline support
