# find_package(assay): the targets assay::assay (everything) and assay::assay_base (without libtorch).
# Needs languages C and CXX enabled.
include(${CMAKE_CURRENT_LIST_DIR}/AssayDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/assayTargets.cmake)
