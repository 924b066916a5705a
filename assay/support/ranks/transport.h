#pragma once

// How the processes of one run pass messages: MPI in a module that is loaded only where an MPI launcher
// started the program, memory in tests. What they do with the messages is in ranks.h.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay::inline support {

class Transport {
 public:
  struct Message {
    std::size_t from = 0;  // rank
    std::string bytes;
  };

  virtual ~Transport() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  // Messages of any size; those from one rank to another arrive in their order. Safe from several threads.
  // Returns when the message is on its way, which may need the receiver's poll().
  virtual void send(std::size_t to, std::string_view bytes) = 0;
  // A message that has arrived, if there is one. From one thread at a time.
  virtual std::optional<Message> poll() = 0;
  // The last call: returns when all ranks have made it. Messages that arrive meanwhile are dropped.
  virtual void leave() = 0;
  // Ends all ranks at once.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

// The function that a module exports under the name `assay_transport`: null when messages cannot be passed
// here.
using MakeTransport = Transport* (*)();

}  // namespace assay::inline support
