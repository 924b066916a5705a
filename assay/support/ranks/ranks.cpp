#include "assay/support/ranks/ranks.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>

#include <assay/progress.h>
#include "assay/support/files/frames.h"

namespace assay::inline support {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// The first byte of every message.
enum Kind : char {
  request = 'R',
  handed = 'H',
  piece = 'P',
  data = 'D',
  failed = 'F',
  dismissal = 'S',
  leaving = 'L'
};

constexpr std::uint64_t no_piece = ~std::uint64_t{0};
constexpr double grace = 5;  // seconds that ranks have to leave when the run has failed

std::string numbers(std::initializer_list<std::uint64_t> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(std::uint64_t)};
}

std::uint64_t take_number(std::string_view& from) {
  std::uint64_t value = 0;
  from.copy(reinterpret_cast<char*>(&value), sizeof value);
  from.remove_prefix(sizeof value);
  return value;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// Gone, or only waiting for its parent to notice.
bool has_ended(long process) {
  if (::kill(static_cast<pid_t>(process), 0) != 0) return errno == ESRCH;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name = line.rfind(')');
  return name != std::string::npos && line.compare(name, 3, ") Z") == 0;
}

thread_local Ranks* current = nullptr;

}  // namespace

Ranks::Ranks() = default;

Ranks::Ranks(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), rank_(transport_->rank()), size_(transport_->size()) {
  if (alone()) return;
  listener_ = std::jthread([this](const std::stop_token& stop) {
    // Looks often while messages come, and seldom while none do.
    constexpr microseconds shortest{20}, longest{1000};
    microseconds pause = shortest;
    while (!stop.stop_requested()) {
      if (auto message = transport_->poll()) {
        handle(std::move(*message));
        pause = shortest;
        continue;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, longest);
    }
  });
  exchange_places();
}

Ranks::~Ranks() = default;

// By way of the first rank, without a tree: what it sends later cannot come earlier.
void Ranks::exchange_places() {
  std::string all;
  put_text(all, std::to_string(rank_));
  put_text(all, host_name());
  put_text(all, std::to_string(::getpid()));
  if (first()) {
    for (std::size_t r = 1; r < size_; ++r) all += receive_data(r);
    for (std::size_t r = 1; r < size_; ++r) send(r, data, all);
  } else {
    send(0, data, all);
    all = receive_data(0);
  }
  places_.resize(size_);
  std::string_view rest = all;
  while (const auto number = take_text(rest)) {
    Place& place = places_.at(std::stoul(std::string(*number)));
    place.host = take_text(rest).value_or("");
    place.process = std::stol(std::string(take_text(rest).value_or("0")));
  }
}

std::size_t Ranks::on_this_machine() const {
  if (size_ == 1) return 1;
  return std::ranges::count(places_, places_[rank_].host, &Place::host);
}

std::string Ranks::name_of(std::size_t rank) const {
  if (rank >= places_.size()) return fmt::format("rank {}", rank);
  return fmt::format("rank {} (process {} on {})", rank, places_[rank].process, places_[rank].host);
}

std::vector<std::string> Ranks::ended() const {
  std::vector<std::string> names;
  for (std::size_t r = 0; r < places_.size(); ++r) {
    if (r != rank_ && places_[r].host == places_[rank_].host && has_ended(places_[r].process))
      names.push_back(name_of(r));
  }
  return names;
}

void Ranks::send(std::size_t to, char kind, std::string_view bytes) const {
  std::string message(1, kind);
  message += bytes;
  transport_->send(to, message);
}

// On the listening thread.
void Ranks::handle(Transport::Message message) {
  std::string_view rest = message.bytes;
  const char kind = rest.front();
  rest.remove_prefix(1);
  {
    const std::lock_guard lock(mutex_);
    switch (kind) {
      case handed: {
        const std::uint64_t number = take_number(rest);
        answers_.push_back(number == no_piece ? std::nullopt : std::optional<std::size_t>(number));
        break;
      }
      case piece: {
        const std::size_t loop = take_number(rest), number = take_number(rest);
        pieces_.push_back({loop, number, std::string(rest)});
        break;
      }
      case data:
        data_[message.from].emplace_back(rest);
        break;
      case failed: {
        const auto fault = static_cast<Fault>(take_number(rest));
        if (!failure_)
          failure_.emplace(fault,
                           assay::message("{}: {}", name_of(message.from), decoded(std::string(rest))));
        break;
      }
      case dismissal:
        dismissed_ = true;
        break;
      case leaving:
        ++left_;
        break;
      default:
        break;
    }
  }
  if (kind == request) answer(message.from, take_number(rest));
  changed_.notify_all();
}

// Hands the next piece of a loop to a rank, or notes that it waits for the loop to begin.
void Ranks::answer(std::size_t to, std::size_t loop) {
  std::uint64_t number = no_piece;
  {
    const std::lock_guard lock(mutex_);
    if (loop > loop_) {
      asking_.emplace_back(to, loop);
      return;
    }
    if (loop == loop_ && next_ < count_) number = next_++;
  }
  send(to, handed, numbers({number}));
}

void Ranks::check() {
  const std::lock_guard lock(mutex_);
  check_locked();
}

void Ranks::check_locked() const {
  if (dismissed_) throw Dismissed();
  if (failure_ && first()) throw Error(*failure_);
}

// Results that have arrived count before errors since then.
template <typename Arrived>
void Ranks::wait_until(std::unique_lock<std::mutex>& lock, const Arrived& arrived) {
  while (!arrived()) {
    check_locked();
    check_interrupt();
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
}

void Ranks::leave_to_first() {
  if (!first()) throw Dismissed();
  left_alone_ = true;
}

std::string Ranks::receive_data(std::size_t from) {
  std::unique_lock lock(mutex_);
  wait_until(lock, [&] { return !data_[from].empty(); });
  std::string bytes = std::move(data_[from].front());
  data_[from].pop_front();
  return bytes;
}

// Binomial trees: in step s, ranks pass to or from the one 2^s away.
void Ranks::broadcast(std::string& bytes) {
  if (alone()) return;
  std::size_t step = 1;
  while (step < size_) step *= 2;
  for (step /= 2; step > 0; step /= 2) {
    if (rank_ % (2 * step) == 0 && rank_ + step < size_) send(rank_ + step, data, bytes);
    if (rank_ % (2 * step) == step) bytes = receive_data(rank_ - step);
  }
}

void Ranks::gather(const std::function<void(std::string_view)>& take,
                   const std::function<std::string()>& give) {
  if (alone()) return;
  for (std::size_t step = 1; step < size_; step *= 2) {
    if (rank_ % (2 * step) == step) {
      send(rank_ - step, data, give());
      return;
    }
    if (rank_ + step < size_) take(receive_data(rank_ + step));
  }
}

bool Ranks::all_left(double seconds) {
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::unique_lock lock(mutex_);
  while (left_ < size_ - 1 && Clock::now() < end) changed_.wait_for(lock, std::chrono::milliseconds(10));
  return left_ == size_ - 1;
}

void Ranks::close(const Error* failure) {
  if (size_ == 1) return;
  if (first()) {
    constexpr double for_ever = 1e9;
    for (std::size_t r = 1; r < size_; ++r) send(r, dismissal, "");
    all_left(for_ever);
  } else {
    if (failure != nullptr)
      send(0, failed, numbers({static_cast<std::uint64_t>(failure->fault())}) + coded(failure->message()));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return dismissed_; });
    lock.unlock();
    send(0, leaving, "");
  }
  listener_ = {};
  transport_->leave();
}

void Ranks::close_failed(int exit_code) {
  if (size_ == 1) return;
  for (std::size_t r = 1; r < size_; ++r) send(r, dismissal, "");
  if (!all_left(grace)) transport_->abort(exit_code);
  listener_ = {};
  transport_->leave();
}

Ranks& ranks() {
  thread_local Ranks alone;
  return current == nullptr ? alone : *current;
}

RanksScope::RanksScope(Ranks& ranks) : before_(current) { current = &ranks; }
RanksScope::~RanksScope() { current = before_; }

SharedLoop::SharedLoop(Ranks& ranks, std::size_t count, Take take, Order order)
    : ranks_(ranks), count_(count), take_(std::move(take)), order_(order) {
  if (ranks_.alone()) return;
  std::vector<std::size_t> waiting;
  {
    const std::lock_guard lock(ranks_.mutex_);
    loop_ = ++ranks_.loop_;
    ranks_.next_ = 0;
    ranks_.count_ = count;
    for (const auto& [rank, loop] : ranks_.asking_) waiting.push_back(rank);
    ranks_.asking_.clear();
  }
  for (const std::size_t rank : waiting) ranks_.answer(rank, loop_);
}

void SharedLoop::stop() { stopped_ = true; }

std::optional<std::size_t> SharedLoop::next() {
  if (stopped_) return std::nullopt;
  if (ranks_.alone()) {
    const std::lock_guard lock(mutex_);
    return next_ < count_ ? std::optional(next_++) : std::nullopt;
  }
  ranks_.check();
  std::unique_lock lock(ranks_.mutex_);
  if (ranks_.first()) return ranks_.next_ < count_ ? std::optional(ranks_.next_++) : std::nullopt;
  lock.unlock();
  ranks_.send(0, request, numbers({loop_}));
  lock.lock();
  ranks_.wait_until(lock, [this] { return !ranks_.answers_.empty(); });
  const std::optional<std::size_t> number = ranks_.answers_.front();
  ranks_.answers_.pop_front();
  return number;
}

void SharedLoop::give(std::size_t number, std::string bytes) {
  if (!ranks_.first()) {
    ranks_.send(0, piece, numbers({loop_, number}) + bytes);
    return;
  }
  const std::lock_guard lock(mutex_);
  done_.emplace(number, std::move(bytes));
  take_ready();
}

// The work of other ranks since then.
void SharedLoop::collect() {
  const std::lock_guard lock(ranks_.mutex_);
  while (!ranks_.pieces_.empty()) {
    done_.emplace(ranks_.pieces_.front().number, std::move(ranks_.pieces_.front().bytes));
    ranks_.pieces_.pop_front();
  }
}

void SharedLoop::take_ready() {
  collect();
  const auto can_be_taken = [this](std::size_t piece) {
    return order_ == Order::as_they_come || piece == taken_;
  };
  for (auto first = done_.begin(); first != done_.end() && can_be_taken(first->first);
       first = done_.begin()) {
    const auto ready = done_.extract(first);
    ++taken_;
    take_(ready.key(), ready.mapped());
  }
}

void SharedLoop::finish() {
  if (!ranks_.first()) return;
  const std::lock_guard lock(mutex_);
  while (true) {
    take_ready();
    if (taken_ == count_) return;
    std::unique_lock waiting(ranks_.mutex_);
    ranks_.wait_until(waiting, [this] { return !ranks_.pieces_.empty(); });
  }
}

}  // namespace assay::inline support
