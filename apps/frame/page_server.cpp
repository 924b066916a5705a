#include "apps/frame/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <vector>

#include <assay/error.h>
#include "assay/support/conditions.h"

namespace assay::frame {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_head = 8192;
constexpr std::size_t most_connections = 32;
constexpr std::chrono::seconds idle_limit{30};  // with a connection on which nothing moves
constexpr int look_every = 100;                 // milliseconds between looks at the interrupt
constexpr std::string_view end_of_head = "\r\n\r\n";

std::string secret_path() {
  std::random_device random;
  return fmt::format("/{:08x}{:08x}{:08x}{:08x}/", random(), random(), random(), random());
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_host(std::string_view name) {
  constexpr std::string_view word = "host";
  return std::ranges::equal(name, word, {}, [](unsigned char c) { return std::tolower(c); });
}

// Of the one Host line of a head, without the port; empty where there is none, or several.
std::string_view host_of(std::string_view head) {
  std::string_view host;
  for (std::size_t at = head.find("\r\n"); at != head.npos && at + 2 < head.size();) {
    const std::size_t begin = at + 2;
    at = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, at == head.npos ? at : at - begin);
    const std::size_t colon = line.find(':');
    if (colon == line.npos || !is_host(line.substr(0, colon))) continue;
    if (!host.empty()) return {};
    host = trimmed(line.substr(colon + 1));
  }
  return host.substr(0, host.find(':'));
}

std::string reply(std::string_view status, std::string_view type, std::string_view body, bool with_body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
      "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n{}",
      status, type, body.size(), with_body ? body : "");
}

std::string refused(std::string_view status) { return reply(status, "text/plain", status, true); }

int listening(int port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) fail(Fault::io, "no page can be served: {}", std::strerror(errno));
  const int yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(port));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
      ::listen(listener, most_connections) == 0)
    return listener;
  const int fault = errno;
  ::close(listener);
  fail(Fault::io, "port {} cannot be used: {}; choose another --port, or none", port, std::strerror(fault));
}

int port_of(int listener) {
  sockaddr_in place{};
  socklen_t size = sizeof place;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size);
  return ntohs(place.sin_port);
}

}  // namespace

std::string reply_to(std::string_view head, std::string_view path, std::string_view page) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last || !line.substr(last + 1).starts_with("HTTP/1."))
    return refused("400 Bad Request");
  const std::string_view host = host_of(head);
  if (host != "127.0.0.1" && host != "localhost") return refused("403 Forbidden");
  const std::string_view method = line.substr(0, first);
  if (method != "GET" && method != "HEAD") return refused("405 Method Not Allowed");
  if (line.substr(first + 1, last - first - 1) != path) return refused("404 Not Found");
  return reply("200 OK", "text/html", page, method == "GET");
}

struct PageServer::Connection {
  explicit Connection(int socket) : file(socket) {}
  ~Connection() { ::close(file); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Whether it goes on after reading what has come, or sending what it takes.
  bool step(std::string_view path, std::string_view page) {
    if (answer.empty() && !has_head()) return goes_on;
    if (answer.empty())
      answer = head.size() > longest_head ? refused("431 Request Header Fields Too Large")
                                          : reply_to(head, path, page);
    const ssize_t count = ::send(file, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
      until = Clock::now() + idle_limit;
    }
    return count > 0 ? sent < answer.size() : errno == EAGAIN || errno == EINTR;
  }
  // Reads; whether the head is there, or longer than any should be.
  bool has_head() {
    char bytes[2048];
    const ssize_t count = ::recv(file, bytes, sizeof bytes, 0);
    goes_on = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
    if (count > 0) head.append(bytes, static_cast<std::size_t>(count));
    return head.find(end_of_head) != head.npos || head.size() > longest_head;
  }

  int file;
  std::string head, answer;
  std::size_t sent = 0;
  bool goes_on = true;
  Clock::time_point until = Clock::now() + idle_limit;
};

PageServer::PageServer(std::string page, int port)
    : page_(std::move(page)), path_(secret_path()), listener_(listening(port)) {
  address_ = fmt::format("http://127.0.0.1:{}{}", port_of(listener_), path_);
}

PageServer::~PageServer() { ::close(listener_); }

void PageServer::accept_all() {
  for (;;) {
    const int file = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (file < 0) return;
    // The oldest one waits for nothing that matters: browsers open connections in advance.
    if (connections_.size() == most_connections) connections_.pop_front();
    connections_.emplace_back(file);
  }
}

void PageServer::run() {
  while (!interrupt_is_requested()) {
    std::vector<pollfd> looks{{listener_, POLLIN, 0}};
    for (const Connection& connection : connections_)
      looks.push_back({connection.file, static_cast<short>(connection.answer.empty() ? POLLIN : POLLOUT), 0});
    if (::poll(looks.data(), looks.size(), look_every) < 0) continue;  // interrupted
    std::size_t i = 0;
    connections_.remove_if([&](Connection& connection) {
      if (looks[++i].revents == 0) return Clock::now() > connection.until;
      return !connection.step(path_, page_);
    });
    if (looks[0].revents != 0) accept_all();
  }
}

}  // namespace assay::frame
