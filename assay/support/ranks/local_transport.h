#pragma once

// Ranks that are threads of one process, for tests and benchmarks.

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "assay/support/ranks/transport.h"

namespace assay::inline support {

// The messages between them.
class LocalNetwork {
 public:
  explicit LocalNetwork(std::size_t size) : inboxes_(size) {}
  std::size_t size() const { return inboxes_.size(); }
  void put(std::size_t to, Transport::Message message);
  std::optional<Transport::Message> take(std::size_t rank);
  // Bytes that a rank has sent so far.
  std::size_t sent(std::size_t rank) const;

 private:
  struct Inbox {
    std::deque<Transport::Message> messages;
    std::size_t sent = 0;  // by the rank whose inbox this is
  };
  mutable std::mutex mutex_;
  std::vector<Inbox> inboxes_;
};

// One rank's end of it. abort() throws Error{internal} into the calling rank.
std::unique_ptr<Transport> make_local_transport(std::shared_ptr<LocalNetwork> network, std::size_t rank);

}  // namespace assay::inline support
