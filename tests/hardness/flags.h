#pragma once

// The flags of a command as its help lists them, for suites that try every one.

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "tests/hardness/little_memory.h"
#include "tests/program/program.h"

namespace assay {

// Flags that take a value, with its type: "--state" and "FILE" of a line like "  --state FILE   write ...",
// "--model" of "  --model,model FILE".
inline std::map<std::string, std::string> flags_in(const std::string& help) {
  std::map<std::string, std::string> flags;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string names, type;
    words >> names >> type;
    const std::size_t begin = names.find("--");
    const bool typed = !type.empty() && std::ranges::all_of(type.substr(0, 2), [](unsigned char c) {
      return c == '{' || c == '[' || (c >= 'A' && c <= 'Z');
    });
    if (begin == std::string::npos || !typed) continue;
    flags[names.substr(begin, names.find(',', begin) - begin)] = type;
  }
  return flags;
}

// The arguments with another value of the flag, which is added at the end where it is not there.
inline std::string with_value(std::string arguments, const std::string& flag, const std::string& value) {
  std::size_t at = (" " + arguments).find(" " + flag + " ");
  if (at != std::string::npos) {
    at += flag.size() + 1;
  } else if (flag == "--model" && arguments.find("net.onnx") != std::string::npos) {
    at = arguments.find("net.onnx");
  } else {
    return arguments + " " + flag + "=" + value;
  }
  const char quote = arguments[at] == '\'' ? '\'' : ' ';
  const std::size_t end = std::min(arguments.find(quote, at + 1), arguments.size());
  return arguments.replace(at, end - at + (quote == '\'' ? 1 : 0), value);
}

class FlagSweep : public Program {
 protected:
  std::map<std::string, std::string> flags_of(const std::string& command) const {
    return flags_in(assay(command + " --help-all").out);
  }
  // Ends as a documented exit code says, in little memory, and with a word where that is not 0.
  void expect_told(const std::string& command) const {
    const Outcome outcome =
        shell(little_memory(6) + std::string(little_time) + "$assay " + command + " --quiet");
    EXPECT_TRUE(outcome.code >= 0 && outcome.code < 10) << command << ": " << outcome.code << outcome.err;
    const std::string& word = outcome.code == 2 ? outcome.out : outcome.err;  // gates are in the tables
    EXPECT_TRUE(outcome.code == 0 || !word.empty()) << command;
  }
};

}  // namespace assay
