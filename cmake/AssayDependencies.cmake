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
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(LibArchive REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)

# ONNX protobuf classes only: operator schemas are not needed.
find_library(ASSAY_ONNX_PROTO onnx_proto REQUIRED)
add_library(assay_onnx_proto INTERFACE IMPORTED GLOBAL)
target_compile_definitions(assay_onnx_proto INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(assay_onnx_proto INTERFACE ${ASSAY_ONNX_PROTO} protobuf::libprotobuf)

# oneDNN by hand: its own package file asks for OpenCL, which the CPU library does not need.
find_path(ASSAY_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(ASSAY_DNNL dnnl REQUIRED)
add_library(assay_dnnl INTERFACE IMPORTED GLOBAL)
target_include_directories(assay_dnnl SYSTEM INTERFACE ${ASSAY_DNNL_INCLUDE})
target_link_libraries(assay_dnnl INTERFACE ${ASSAY_DNNL})

# libtorch: Debian's, or the one at CMAKE_PREFIX_PATH. Only tensors, operators and autograd are used, so its
# three libraries are all that is needed; torch_cuda is linked where it exists.
find_path(ASSAY_TORCH_INCLUDE ATen/ATen.h REQUIRED)
find_library(ASSAY_TORCH_CPU torch_cpu REQUIRED)
find_library(ASSAY_C10 c10 REQUIRED)
find_library(ASSAY_TORCH torch REQUIRED)
find_library(ASSAY_TORCH_CUDA torch_cuda)
add_library(assay_torch INTERFACE IMPORTED GLOBAL)
target_include_directories(assay_torch SYSTEM INTERFACE ${ASSAY_TORCH_INCLUDE}
  ${ASSAY_TORCH_INCLUDE}/torch/csrc/api/include)
target_link_libraries(assay_torch INTERFACE ${ASSAY_TORCH_CPU} ${ASSAY_C10} ${ASSAY_TORCH})
if(ASSAY_TORCH_CUDA)
  target_link_libraries(assay_torch INTERFACE -Wl,--no-as-needed ${ASSAY_TORCH_CUDA} -Wl,--as-needed)
endif()
