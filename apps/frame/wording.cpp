#include "apps/frame/wording.h"

#include <fmt/format.h>

#include <regex>

namespace assay::frame {

std::string with_options(fmt::string_view format) {
  static const std::regex flag("`[^`]*`|--([a-z0-9-]+)( ([A-Z]+))?");
  const std::string text(format.data(), format.size());
  std::string coded;
  auto rest = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), flag), end; found != end; ++found) {
    const std::smatch& parts = *found;
    coded.append(rest, parts[0].first);
    rest = parts[0].second;
    const std::string value = parts[2].matched ? "=" + parts[3].str() : "";
    // Between the edges of a part of coded() text.
    coded += parts[1].matched
                 ? fmt::format("{0}{1}{0}{{{{{2}{3}}}}}{0}", '\0', parts[0].str(), parts[1].str(), value)
                 : parts[0].str();
  }
  return coded.append(rest, text.end());
}

std::string with_flags(const Message& message) {
  return message.said([](std::string_view option, std::string_view value) {
    return fmt::format("--{}{}{}", option, value.empty() ? "" : " ", value);
  });
}

void put_flags(report::Document& document) {
  for (Message& notice : document.notices) notice = with_flags(notice);
  for (report::Warning& warning : document.warnings) {
    warning.text = with_flags(warning.text);
    warning.cause = with_flags(warning.cause);
  }
}

}  // namespace assay::frame
