# libtorch, for the module that runs networks with it, on a GPU above all. The program is the same without it. Its own CMake
# package asks for a toolkit of CUDA wherever it was made with one; nothing here is compiled with that, so headers and libraries are
# looked for directly: in the package `torch` of PyPI (-DCMAKE_PREFIX_PATH=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')),
# or where Debian's libtorch-dev has them.
option(ASSAY_TORCH "Build the module with libtorch: engine 'torch', device 'cuda'" OFF)
if(NOT ASSAY_TORCH)
  return()
endif()
set(places ${CMAKE_PREFIX_PATH})
list(TRANSFORM places APPEND /../..)
find_path(ASSAY_TORCH_HEADERS ATen/ATen.h HINTS ${places} PATH_SUFFIXES include REQUIRED)
find_library(ASSAY_TORCH_LIBRARY torch_cpu HINTS ${places} PATH_SUFFIXES lib REQUIRED)
find_library(ASSAY_C10_LIBRARY c10 HINTS ${places} PATH_SUFFIXES lib REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/assay/engine/torch/module/*.cpp)
add_library(assay_torch MODULE ${sources})
# Headers of ATen take longer to read than all that is written with them: they are read once.
set_target_properties(assay_torch PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin CXX_VISIBILITY_PRESET hidden
  UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
target_include_directories(assay_torch PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_include_directories(assay_torch SYSTEM PRIVATE ${ASSAY_TORCH_HEADERS} ${ASSAY_TORCH_HEADERS}/torch/csrc/api/include)
target_link_libraries(assay_torch PRIVATE assay_settings ${ASSAY_TORCH_LIBRARY} ${ASSAY_C10_LIBRARY} ${CMAKE_DL_LIBS})
assay_search_path(assay_torch)
install(TARGETS assay_torch LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/assay COMPONENT torch)
