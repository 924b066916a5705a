# OpenMPI, for the module that lets processes of an MPI launcher share work. The program is the same without it. Not
# installed: programs that link the library need none.
include(GNUInstallDirs)
option(ASSAY_MPI "Build the module for MPI launchers where OpenMPI is found" ON)
set(ASSAY_HAS_MPI OFF)
if(ASSAY_MPI)
  pkg_check_modules(OPENMPI QUIET IMPORTED_TARGET ompi-c)
  set(ASSAY_HAS_MPI ${OPENMPI_FOUND})
  if(NOT ASSAY_HAS_MPI)
    message(STATUS "OpenMPI is not found (libopenmpi-dev): assay cannot be started by mpirun; --shard needs none")
  endif()
endif()
