#include "assay/support/ranks/local_transport.h"

#include <assay/error.h>

namespace assay::inline support {
namespace {

class LocalTransport final : public Transport {
 public:
  LocalTransport(std::shared_ptr<LocalNetwork> network, std::size_t rank)
      : network_(std::move(network)), rank_(rank) {}

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return network_->size(); }
  void send(std::size_t to, std::string_view bytes) override {
    network_->put(to, {rank_, std::string(bytes)});
  }
  std::optional<Message> poll() override { return network_->take(rank_); }
  void leave() override {}
  [[noreturn]] void abort(int exit_code) override {
    fail(Fault::internal, "rank {} ended all with code {}", rank_, exit_code);
  }

 private:
  std::shared_ptr<LocalNetwork> network_;
  std::size_t rank_;
};

}  // namespace

void LocalNetwork::put(std::size_t to, Transport::Message message) {
  const std::lock_guard lock(mutex_);
  inboxes_.at(message.from).sent += message.bytes.size();
  inboxes_.at(to).messages.push_back(std::move(message));
}

std::optional<Transport::Message> LocalNetwork::take(std::size_t rank) {
  const std::lock_guard lock(mutex_);
  auto& messages = inboxes_.at(rank).messages;
  if (messages.empty()) return std::nullopt;
  Transport::Message message = std::move(messages.front());
  messages.pop_front();
  return message;
}

std::size_t LocalNetwork::sent(std::size_t rank) const {
  const std::lock_guard lock(mutex_);
  return inboxes_.at(rank).sent;
}

std::unique_ptr<Transport> make_local_transport(std::shared_ptr<LocalNetwork> network, std::size_t rank) {
  return std::make_unique<LocalTransport>(std::move(network), rank);
}

}  // namespace assay::inline support
