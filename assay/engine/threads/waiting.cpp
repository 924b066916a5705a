#include "assay/engine/threads/waiting.h"

#include <omp.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <mutex>
#include <thread>

#include "assay/support/spare_threads.h"
#include "assay/support/threads.h"

namespace assay {

bool machine_is_busy() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 && load > static_cast<double>(available_threads());
}

void wait_briefly() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  static std::once_flag once;
  std::call_once(once, [] {
    if (threads_to_be_had(3) < 3) return;
    std::promise<void> begun;
    std::thread([&begun] {
      sigset_t all;  // signals are for the threads that work
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      // The second thread of the team stays with this one.
#pragma omp parallel num_threads(2)
      { (void)omp_get_thread_num(); }
      begun.set_value();
      while (true) ::pause();
    }).detach();
    begun.get_future().wait();
  });
}

}  // namespace assay
