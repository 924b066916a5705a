#include "assay/support/ranks/launch.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <assay/error.h>
#include "assay/support/files/module_file.h"
#include "assay/support/text/parse.h"
#include "assay/support/threads.h"

namespace assay::inline support {
namespace {

constexpr const char* module_name = "libassay_mpi.so";

// Processes that an MPI launcher says it started; 1 where none did.
std::size_t declared_ranks() {
  constexpr std::array sizes{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};  // OpenMPI; MPICH, PMI-1 and PMI-2
  for (const char* const variable : sizes) {
    if (const auto size = variable_number(variable)) return *size;
  }
  if (std::getenv("PMIX_RANK") == nullptr) return 1;
  return variable_number("SLURM_STEP_NUM_TASKS").value_or(1);  // srun --mpi=pmix
}

}  // namespace

std::unique_ptr<Ranks> launched_ranks() {
  const std::size_t declared = declared_ranks();
  if (declared <= 1) return nullptr;
  const std::filesystem::path file = module_file(module_name);
  if (file.empty())
    fail(Fault::unsupported,
         "an MPI launcher started {} processes, but {} is not in this program's folder; build it where "
         "OpenMPI is installed (libopenmpi-dev), or start parts of the work separately{}",
         declared, module_name, About{"", " with {shard}"});
  // Global, because OpenMPI loads parts of itself, which look for the rest.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) fail(Fault::unsupported, "{}: {}", file.string(), dlerror());
  const auto make = reinterpret_cast<MakeTransport>(dlsym(library, "assay_transport"));
  std::unique_ptr<Transport> transport(make == nullptr ? nullptr : make());
  if (!transport) fail(Fault::unsupported, "{}: MPI cannot be used by several threads here", file.string());
  if (transport->size() != declared)
    fail(Fault::usage,
         "the launcher started {} processes, but MPI sees {}: it is the launcher of another MPI; use the "
         "mpirun "
         "of OpenMPI, or srun --mpi=pmix",
         declared, transport->size());
  return std::make_unique<Ranks>(std::move(transport));
}

int threads_of_rank(const Ranks& ranks) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency()), mine = available_threads();
  if (ranks.alone() || mine < cores) return 0;  // the launcher has given each its own
  return static_cast<int>(std::max<std::size_t>(1, cores / ranks.on_this_machine()));
}

}  // namespace assay::inline support
