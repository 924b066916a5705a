// A process of an MPI launcher: the first rank leaves at once, while the others still send it a message that
// is too large to be on its way before it is received. The argument is the module that knows MPI.

#include <dlfcn.h>

#include <cstdio>
#include <memory>
#include <string>

#include "assay/support/ranks/transport.h"

int main(int, char** arguments) {
  void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  const auto make = library == nullptr
                        ? nullptr
                        : reinterpret_cast<assay::MakeTransport>(dlsym(library, "assay_transport"));
  if (make == nullptr) return 1;
  const std::unique_ptr<assay::Transport> transport(make());
  if (transport->rank() != 0) transport->send(0, std::string(std::size_t{1} << 22, 'x'));
  transport->leave();
  std::puts("left");
}
