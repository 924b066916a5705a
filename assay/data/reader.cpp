#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include <assay/dataset.h>
#include "assay/data/given.h"
#include "assay/data/portions.h"
#include "assay/support/memory.h"

namespace assay::inline data {

struct BatchReader::State {
  DatasetPtr dataset;
  std::size_t batch, ahead;
  std::vector<std::size_t> indices;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Batch> ready;
  bool finished = false, stop = false;
  std::exception_ptr failure;
  std::size_t place = 0;  // of the next record to be read, among the indices
  std::thread thread;     // none where the system gives none

  bool at_end() const { return place >= indices.size(); }
  Batch read() {
    const std::size_t begin = place;
    place += batch;
    return read_as_promised(*dataset,
                            std::span(indices).subspan(begin, std::min(batch, indices.size() - begin)));
  }

  void work() {
    try {
      while (!at_end()) {
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return stop || ready.size() < ahead; });
          if (stop) return;
        }
        Batch next = read();
        const std::lock_guard lock(mutex);
        ready.push_back(std::move(next));
        changed.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    finished = true;
    changed.notify_all();
  }
};

namespace {

// Batches that may be ready in addition to the one in use: half of the limit on memory, and no more than two
// gibibytes, holds all of them.
std::size_t batches_ahead(const Dataset& data, std::size_t batch, std::size_t wanted) {
  const std::uint64_t most = std::min(memory_limit() / 2, std::uint64_t{2} << 30);
  const std::uint64_t fit = most / record_bytes(data) / batch;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(fit, 2, wanted + 1)) - 1;
}

}  // namespace

BatchReader::BatchReader(DatasetPtr dataset, std::size_t batch, std::vector<std::size_t> indices,
                         std::size_t ahead)
    : state_(std::make_unique<State>()) {
  state_->dataset = given_data(dataset);
  state_->batch = std::max<std::size_t>(batch, 1);
  state_->ahead = batches_ahead(*dataset, state_->batch, std::max<std::size_t>(ahead, 1));
  state_->indices = std::move(indices);
  if (state_->indices.empty()) {
    state_->indices.resize(state_->dataset->size());
    std::iota(state_->indices.begin(), state_->indices.end(), std::size_t{0});
  }
  try {
    state_->thread = std::thread([state = state_.get()] { state->work(); });
  } catch (const std::system_error&) {
    // next() reads by itself.
  }
}

BatchReader::~BatchReader() {
  if (!state_->thread.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

std::optional<Batch> BatchReader::next() {
  if (!state_->thread.joinable()) {
    if (state_->at_end()) return std::nullopt;
    return state_->read();
  }
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->ready.empty() || state_->finished; });
  if (!state_->ready.empty()) {
    Batch batch = std::move(state_->ready.front());
    state_->ready.pop_front();
    state_->changed.notify_all();
    return batch;
  }
  if (state_->failure) std::rethrow_exception(state_->failure);
  return std::nullopt;
}

}  // namespace assay::inline data
