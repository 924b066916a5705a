# Every library Assay stands on; docs/architecture.md says why each is there. Installed with the CMake package, which
# includes it before the exported targets, hence imported targets throughout.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
# By the library's own name: Debian's link to it lies in a folder where nothing looks for libraries.
foreach(library IN LISTS HDF5_LIBRARIES)
  get_filename_component(folder "${library}" DIRECTORY)
  if(IS_ABSOLUTE "${library}" AND NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    file(REAL_PATH "${library}" own)
    list(TRANSFORM HDF5_LIBRARIES REPLACE "^${library}$" "${own}")
  endif()
endforeach()
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(LibArchive REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(HIGHWAY REQUIRED IMPORTED_TARGET libhwy)

# ONNX protobuf classes only: operator schemas are not needed.
find_library(ASSAY_ONNX_PROTO onnx_proto REQUIRED)
add_library(assay_onnx_proto INTERFACE IMPORTED GLOBAL)
target_compile_definitions(assay_onnx_proto INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(assay_onnx_proto INTERFACE ${ASSAY_ONNX_PROTO} protobuf::libprotobuf)

# oneDNN by hand: its own package file asks for OpenCL, which the CPU library does not need. Without it everything runs
# with libtorch's kernels: slower, the same within rounding. It has fast code for few other processors than x86.
set(ASSAY_ONEDNN AUTO CACHE STRING "The fast CPU back end: ON, OFF, or AUTO for where oneDNN is found on x86-64")
set_property(CACHE ASSAY_ONEDNN PROPERTY STRINGS AUTO ON OFF)
add_library(assay_dnnl INTERFACE IMPORTED GLOBAL)
set(ASSAY_HAS_ONEDNN OFF)
if(ASSAY_ONEDNN AND (CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" OR NOT ASSAY_ONEDNN STREQUAL AUTO))
  find_path(ASSAY_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
  find_library(ASSAY_DNNL dnnl)
  if(ASSAY_DNNL_INCLUDE AND ASSAY_DNNL)
    set(ASSAY_HAS_ONEDNN ON)
    target_include_directories(assay_dnnl SYSTEM INTERFACE ${ASSAY_DNNL_INCLUDE})
    target_link_libraries(assay_dnnl INTERFACE ${ASSAY_DNNL})
    target_compile_definitions(assay_dnnl INTERFACE ASSAY_HAS_ONEDNN)
  elseif(NOT ASSAY_ONEDNN STREQUAL AUTO)
    message(FATAL_ERROR "oneDNN is not found; install libdnnl-dev, or build without it: -DASSAY_ONEDNN=AUTO")
  endif()
endif()

# libtorch, 1.13 or 2: Debian's, or the one at CMAKE_PREFIX_PATH (a folder that was unpacked, or `torch` of a Python
# package). Only tensors, operators and autograd are used, so its
# three libraries are all that is needed; torch_cuda is linked where it exists.
find_path(ASSAY_TORCH_INCLUDE ATen/ATen.h REQUIRED)
find_library(ASSAY_TORCH_CPU torch_cpu REQUIRED)
find_library(ASSAY_C10 c10 REQUIRED)
find_library(ASSAY_TORCH torch REQUIRED)
find_library(ASSAY_TORCH_CUDA torch_cuda)
# Packages of libtorch for old compilers cannot be linked with anything else.
get_filename_component(ASSAY_TORCH_LIBRARIES ${ASSAY_TORCH_CPU} DIRECTORY)
set(ASSAY_TORCH_CONFIG ${ASSAY_TORCH_LIBRARIES}/../share/cmake/Torch/TorchConfig.cmake)
if(EXISTS ${ASSAY_TORCH_CONFIG})
  file(STRINGS ${ASSAY_TORCH_CONFIG} ASSAY_TORCH_OLD_ABI REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(ASSAY_TORCH_OLD_ABI)
    message(FATAL_ERROR "libtorch at ${ASSAY_TORCH_LIBRARIES} is built for the C++ ABI before 2011; take one whose name has cxx11-abi, or 2.7 and later")
  endif()
endif()
add_library(assay_torch INTERFACE IMPORTED GLOBAL)
target_include_directories(assay_torch SYSTEM INTERFACE ${ASSAY_TORCH_INCLUDE}
  ${ASSAY_TORCH_INCLUDE}/torch/csrc/api/include)
# A target with ASSAY_DEFERS_LIBTORCH loads it by itself.
target_link_libraries(assay_torch INTERFACE ${ASSAY_C10}
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:ASSAY_DEFERS_LIBTORCH>>>:${ASSAY_TORCH_CPU}>
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:ASSAY_DEFERS_LIBTORCH>>>:${ASSAY_TORCH}>)
if(ASSAY_TORCH_CUDA)
  target_link_libraries(assay_torch INTERFACE -Wl,--no-as-needed ${ASSAY_TORCH_CUDA} -Wl,--as-needed)
endif()
