#pragma once

// One page on the loopback interface, for a browser that has no other way to the file.

#include <list>
#include <string>
#include <string_view>

namespace assay::frame {

class PageServer {
 public:
  // Listens at 127.0.0.1 and the port; 0: the system chooses one. Throws Error{io} where it is taken.
  PageServer(std::string page, int port);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  // "http://127.0.0.1:8000/0f...e2/". The path is secret: every user of the machine reaches the port.
  const std::string& address() const { return address_; }
  // Answers until an interrupt is requested.
  void run();

 private:
  struct Connection;
  void accept_all();

  std::string page_, path_, address_;
  int listener_ = -1;
  std::list<Connection> connections_;
};

// The reply to the head of a request: the page for GET (without its body for HEAD) of the path, as 127.0.0.1
// or localhost asks for it, so that no name of another site leads here; otherwise an error in a line.
std::string reply_to(std::string_view head, std::string_view path, std::string_view page);

}  // namespace assay::frame
