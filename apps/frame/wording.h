#pragma once

// Messages of commands name flags, those of the library what flags stand for; other front ends than the
// program put words of their own in both places.

#include <string>
#include <string_view>

#include <assay/error.h>
#include <assay/report.h>

namespace assay::frame {

// The format of a message whose flags are options: those of "with --train SPEC". What stands in `...` is a
// command line, and stays.
std::string with_options(fmt::string_view format);

// message() with flags: of_flags("--train learns what --profile {} holds", file).
template <typename... Args>
Message of_flags(MessageFormat<Args...> format, const Args&... args) {
  return message_of_parts(with_options(format), message_part(args)...);
}
// Throws Error{usage} with it.
template <typename... Args>
[[noreturn]] void refuse(MessageFormat<Args...> format, const Args&... args) {
  throw Error(Fault::usage, of_flags<Args...>(format, args...));
}

// As the program says it: "use a smaller --learning-rate".
std::string with_flags(const Message& message);
// Notices and warnings.
void put_flags(report::Document& document);

}  // namespace assay::frame
