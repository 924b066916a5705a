#pragma once

// The one exception type of the library. An Error is for the person at the keyboard: it names the object,
// the fault and the remedy. Broken invariants are assertions, expected outcomes are values.

#include <memory>
#include <stdexcept>
#include <utility>

#include <assay/message.h>

namespace assay::inline support {

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
  Error(Fault fault, Message message)
      : std::runtime_error(message.text()),
        fault_(fault),
        message_(std::make_shared<const Message>(std::move(message))) {}
  Fault fault() const { return fault_; }
  // what() with the options that it speaks of.
  const Message& message() const { return *message_; }

 private:
  Fault fault_;
  std::shared_ptr<const Message> message_;
};

// Throws Error with a formatted message: fail(Fault::data, "{}: label {} is out of range", path, label).
template <typename... Args>
[[noreturn]] void fail(Fault fault, MessageFormat<Args...> format, const Args&... args) {
  throw Error(fault, message_of_parts(format, message_part(args)...));
}

}  // namespace assay::inline support
