#pragma once

// The one exception type of the library. An Error is for the person at the keyboard: it names the object,
// the fault and the remedy. Broken invariants are assertions, expected outcomes are values.

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace assay {

// The kind of error; it decides the program's exit code (see docs/exit-codes.md).
enum class Fault {
  usage,        // the caller asked for something that does not exist or does not fit together
  model,        // a network file is damaged, hostile or not in a known format
  unsupported,  // a well-formed network uses something Assay cannot do
  data,         // a data file is damaged, empty or does not fit its declaration
  mismatch,     // parts that do not belong together (profile and model, declared and measured accuracy)
  io,           // the file system refused: missing file, permission, disk full
  resources,    // it would need more memory than allowed
  interrupted,  // Ctrl-C
  internal,     // a defect in Assay
};

class Error : public std::runtime_error {
 public:
  // A NUL in the message, from a name or cell that it quotes, is written as \x00: what() ends at the first.
  Error(Fault fault, const std::string& message) : std::runtime_error(whole(message)), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  static std::string whole(std::string message) {
    for (std::size_t at = message.find('\0'); at != std::string::npos; at = message.find('\0', at))
      message.replace(at, 1, "\\x00");
    return message;
  }

  Fault fault_;
};

// Throws Error with a formatted message: fail(Fault::data, "{}: label {} is out of range", path, label).
template <typename... Args>
[[noreturn]] void fail(Fault fault, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fault, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace assay
