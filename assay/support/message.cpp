#include <assay/message.h>

#include <algorithm>
#include <utility>

namespace assay {
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

}  // namespace

Message::Message(std::string_view text) : text_(text) {
  for (std::size_t at = text_.find(edge); at != std::string::npos; at = text_.find(edge, at))
    text_.replace(at, 1, "\\x00");
}

Message::Message(About about) : Message(about.words) {
  parts_.push_back({0, text_.size(), std::move(about.options)});
}

std::string Message::said(const Namer& namer) const {
  std::string text;
  std::size_t done = 0;
  for (const Part& part : parts_) {
    text += text_.substr(done, part.begin - done) + named(part.options, namer);
    done = part.end;
  }
  return text + text_.substr(done);
}

std::string coded(const Message& message) {
  std::string text;
  std::size_t done = 0;
  for (const Message::Part& part : message.parts_) {
    text += message.text_.substr(done, part.begin - done) + edge;
    text += message.text_.substr(part.begin, part.end - part.begin) + edge + part.options + edge;
    done = part.end;
  }
  return text + message.text_.substr(done);
}

Message decoded(const std::string& coded) {
  Message message;
  std::string_view rest = coded;
  const auto take = [&] {
    const std::size_t end = std::min(rest.find(edge), rest.size());
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return text;
  };
  while (!rest.empty()) {
    message.text_ += take();
    if (rest.empty()) break;
    const std::size_t begin = message.text_.size();
    message.text_ += take();
    message.parts_.push_back({begin, message.text_.size(), std::string(take())});
  }
  return message;
}

}  // namespace assay
