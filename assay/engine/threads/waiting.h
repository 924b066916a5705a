#pragma once

// How threads wait for each other on a machine that has other work, too.

namespace assay {

// More was ready to run in the last minute than there are processors for this process.
bool machine_is_busy();

// OpenMP's threads wait for their next piece of work in a busy loop. Where others want the processors, they
// keep those from running that they wait for: small networks then run at a tenth of their pace or less. From
// now on they sleep after some microseconds, which costs up to a third of the pace on an idle machine. GCC's
// OpenMP library does so while it has more threads than processors, so one that only sleeps is added; with
// other libraries nothing changes, nor where the environment has OMP_WAIT_POLICY or GOMP_SPINCOUNT. Results
// are the same. Further calls do nothing. Thread-safe.
void wait_briefly();

}  // namespace assay
