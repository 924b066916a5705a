// Ranks of an MPI launcher. The only source that knows MPI: a separate module, which the program loads when
// it was started by a launcher, so that the program needs no MPI elsewhere.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "assay/support/ranks/transport.h"

namespace assay::inline support {
namespace {

constexpr int tag = 1;
constexpr std::size_t largest = std::size_t{1} << 26;  // bytes of one MPI message, which counts in int

// Waits by looking again: MPI's own waiting would keep a core busy.
class Pause {
 public:
  void operator()() {
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(2 * pause_, std::chrono::microseconds(1000));
  }

 private:
  std::chrono::microseconds pause_{10};
};

// Messages are cut into parts; the first one starts with the size of the whole.
class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm group) : group_(group) {
    int rank = 0, size = 1;
    MPI_Comm_rank(group_, &rank);
    MPI_Comm_size(group_, &size);
    rank_ = static_cast<std::size_t>(rank);
    coming_ = std::vector<Coming>(static_cast<std::size_t>(size));
  }

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return coming_.size(); }

  void send(std::size_t to, std::string_view bytes) override {
    const std::lock_guard one_message(sending_);
    const std::uint64_t whole = bytes.size();
    std::string part(reinterpret_cast<const char*>(&whole), sizeof whole);
    do {
      const std::size_t taken = std::min(bytes.size(), largest - part.size());
      part += bytes.substr(0, taken);
      bytes.remove_prefix(taken);
      send_part(static_cast<int>(to), part);
      part.clear();
    } while (!bytes.empty());
  }

  std::optional<Message> poll() override {
    const std::lock_guard lock(mpi_);
    post_receives();
    for (std::size_t from = 0; from < coming_.size(); ++from) {
      if (auto bytes = whole_of(coming_[from])) return Message{from, std::move(*bytes)};
    }
    return std::nullopt;
  }

  void leave() override {
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    MPI_Ibarrier(group_, &request);
    // What others still send is taken in, and dropped: they could not go on without that.
    for (Pause pause; done == 0; pause()) {
      while (poll()) {
      }
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&group_);
    MPI_Finalize();
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(group_, exit_code);
    std::abort();
  }

 private:
  struct Part {
    MPI_Request request = MPI_REQUEST_NULL;
    std::string bytes;
  };
  // A message arriving from one rank.
  struct Coming {
    std::deque<std::unique_ptr<Part>> parts;  // in their order; the last ones may not be here yet
    std::string bytes;                        // of the message that is not whole
    std::uint64_t whole = 0;
    bool begun = false;
  };

  void send_part(int to, const std::string& part) {
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    for (Pause pause; true; pause()) {
      {
        const std::lock_guard lock(mpi_);
        if (request == MPI_REQUEST_NULL)
          MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, to, tag, group_, &request);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      }
      if (done != 0) return;
    }
  }

  void post_receives() {
    while (true) {
      int there = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, tag, group_, &there, &message, &status);
      if (there == 0) return;
      int size = 0;
      MPI_Get_count(&status, MPI_BYTE, &size);
      auto part = std::make_unique<Part>();
      part->bytes.resize(size);
      MPI_Imrecv(part->bytes.data(), size, MPI_BYTE, &message, &part->request);
      coming_[status.MPI_SOURCE].parts.push_back(std::move(part));
    }
  }

  static std::optional<std::string> whole_of(Coming& coming) {
    while (!coming.parts.empty()) {
      Part& part = *coming.parts.front();
      int done = 0;
      MPI_Test(&part.request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return std::nullopt;
      const std::size_t head = coming.begun ? 0 : sizeof coming.whole;
      if (!coming.begun) std::memcpy(&coming.whole, part.bytes.data(), head);
      coming.begun = true;
      coming.bytes.append(part.bytes, head);
      coming.parts.pop_front();
      if (coming.bytes.size() < coming.whole) continue;
      coming.begun = false;
      return std::exchange(coming.bytes, {});
    }
    return std::nullopt;
  }

  MPI_Comm group_;
  std::size_t rank_ = 0;
  std::mutex sending_;  // held for a whole message, so that its parts stay together
  std::mutex mpi_;      // held for each call, as MPI_THREAD_SERIALIZED asks
  std::vector<Coming> coming_;
};

}  // namespace
}  // namespace assay::inline support

extern "C" __attribute__((visibility("default"))) assay::Transport* assay_transport() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) return nullptr;
  if (provided < MPI_THREAD_SERIALIZED) return nullptr;
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &group);
  return new assay::MpiTransport(group);
}
