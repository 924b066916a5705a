# Every library Assay stands on; docs/architecture.md says why each is there. Installed with the CMake package, which
# includes it before the exported targets, hence imported targets throughout.
include(${CMAKE_CURRENT_LIST_DIR}/AssayArchives.cmake)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(LibArchive REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
# Threads::Threads says how to compile with threads; other flags than the other sources have would refuse their precompiled headers.
get_property(assay_re2_flags TARGET PkgConfig::RE2 PROPERTY INTERFACE_COMPILE_OPTIONS)
list(REMOVE_ITEM assay_re2_flags -pthread)
set_property(TARGET PkgConfig::RE2 PROPERTY INTERFACE_COMPILE_OPTIONS ${assay_re2_flags})
unset(assay_re2_flags)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
# What its package file defines is for building the library itself.
set_property(TARGET PkgConfig::UTF8PROC PROPERTY INTERFACE_COMPILE_OPTIONS "")
# Package files name the folders of installed packages, also where what they describe is unpacked elsewhere.
find_path(ASSAY_PCRE2_HEADERS pcre2.h REQUIRED)
find_path(ASSAY_UTF8PROC_HEADERS utf8proc.h REQUIRED)
pkg_check_modules(HIGHWAY REQUIRED IMPORTED_TARGET libhwy)

# By header and library: the compiler wrapper that CMake's own search asks belongs to another package.
find_path(ASSAY_HDF5_HEADERS hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
# The static one only where the shared one is not, which may come later.
if(ASSAY_HDF5_LIBRARY MATCHES "\\.a$")
  unset(ASSAY_HDF5_LIBRARY CACHE)
endif()
find_library(ASSAY_HDF5_LIBRARY NAMES libhdf5_serial.so libhdf5.so hdf5_serial hdf5 REQUIRED)
file(STRINGS ${ASSAY_HDF5_HEADERS}/H5public.h version REGEX "define H5_VERS_INFO")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" HDF5_VERSION "${version}")
find_path(ASSAY_MINIZIP_HEADERS minizip/unzip.h REQUIRED)
find_library(ASSAY_MINIZIP_LIBRARY minizip REQUIRED)

# How toml++ is compiled, and not its library: toml_file.cpp has the parser.
find_path(ASSAY_TOML_HEADERS toml++/toml.h REQUIRED)
add_library(assay_toml INTERFACE IMPORTED GLOBAL)
target_include_directories(assay_toml SYSTEM INTERFACE ${ASSAY_TOML_HEADERS})
target_compile_options(assay_toml INTERFACE $<TARGET_PROPERTY:tomlplusplus::tomlplusplus,INTERFACE_COMPILE_OPTIONS>)

# ONNX protobuf classes only: operator schemas are not needed.
find_path(ASSAY_ONNX_HEADERS onnx/onnx_pb.h REQUIRED)
find_library(ASSAY_ONNX_PROTO onnx_proto REQUIRED)
add_library(assay_onnx_proto INTERFACE IMPORTED GLOBAL)
target_include_directories(assay_onnx_proto SYSTEM INTERFACE ${ASSAY_ONNX_HEADERS})
target_compile_definitions(assay_onnx_proto INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(assay_onnx_proto INTERFACE ${ASSAY_ONNX_PROTO} protobuf::libprotobuf)

# Where the headers are that the checks of static libraries read.
set(ASSAY_CHECK_HEADERS ${ZLIB_INCLUDE_DIRS} ${PNG_INCLUDE_DIRS} ${JPEG_INCLUDE_DIRS} ${LibArchive_INCLUDE_DIRS} ${SQLite3_INCLUDE_DIRS}
  ${RE2_INCLUDE_DIRS})
assay_library(hdf5 HEADERS ${ASSAY_HDF5_HEADERS} SHARED ${ASSAY_HDF5_LIBRARY} ARCHIVES hdf5_serial sz aec
  WITH ZLIB::ZLIB ${CMAKE_DL_LIBS} m INCLUDES hdf5.h CALL "H5open()")
assay_library(zip HEADERS ${ASSAY_MINIZIP_HEADERS} SHARED ${ASSAY_MINIZIP_LIBRARY} ARCHIVES minizip WITH ZLIB::ZLIB
  INCLUDES minizip/unzip.h minizip/zip.h CALL "!unzOpen64(nullptr) + !zipOpen64(nullptr, 0)")
assay_library(archive SHARED LibArchive::LibArchive ARCHIVES archive bz2 lzma zstd WITH ZLIB::ZLIB INCLUDES archive.h
  CALL "archive_read_support_format_tar(nullptr) + archive_read_support_filter_gzip(nullptr) + archive_read_support_filter_bzip2(nullptr)
    + archive_read_support_filter_xz(nullptr) + archive_read_support_filter_zstd(nullptr) + archive_read_open_filename(nullptr, nullptr, 1)")
assay_library(png SHARED PNG::PNG ARCHIVES png16 WITH ZLIB::ZLIB m INCLUDES png.h
  CALL "!png_create_read_struct(nullptr, nullptr, nullptr, nullptr)")
assay_library(jpeg SHARED JPEG::JPEG ARCHIVES jpeg INCLUDES cstdio jpeglib.h CALL "(jpeg_CreateDecompress(nullptr, 0, 0), 0)")
assay_library(sqlite SHARED SQLite::SQLite3 ARCHIVES sqlite3 WITH ${CMAKE_DL_LIBS} m INCLUDES sqlite3.h CALL "sqlite3_open(nullptr, nullptr)")
assay_library(re2 SHARED PkgConfig::RE2 ARCHIVES re2 WITH Threads::Threads INCLUDES re2/re2.h CALL "RE2::FullMatch(std::string(), std::string())")
assay_library(pcre2 HEADERS ${ASSAY_PCRE2_HEADERS} SHARED PkgConfig::PCRE2 ARCHIVES pcre2-8 INCLUDES pcre2.h CALL "!pcre2_compile(nullptr, 0, 0, nullptr, nullptr, nullptr)")
assay_library(utf8proc HEADERS ${ASSAY_UTF8PROC_HEADERS} SHARED PkgConfig::UTF8PROC ARCHIVES utf8proc INCLUDES utf8proc.h CALL "!utf8proc_version()")
