# Settings that all our targets share.
add_library(assay_settings INTERFACE)
target_compile_features(assay_settings INTERFACE cxx_std_20)
target_include_directories(assay_settings INTERFACE ${PROJECT_SOURCE_DIR})
# -Wsubobject-linkage: in a group of sources every anonymous namespace looks like that of a header. -Wrestrict: GCC 12
# warns about its own std::string::operator+ (GCC bug 105651). -Warray-bounds, -Wstringop-overflow: from GCC 13 on it
# warns about copies inside its own std::vector<bool> and std::vector (GCC bugs 110498, 107852).
target_compile_options(assay_settings INTERFACE -Wall -Wextra -Wshadow $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds;-Wno-stringop-overflow>"
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASSAY_UNITY}>>:-Wno-subobject-linkage>
  $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
# GCC looks for memory to use again whenever it has doubled what it uses. From half a gigabyte on, that is a tenth of the time
# less for a fifth of the memory more.
target_compile_options(assay_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
if(ASSAY_SANITIZE)
  target_compile_options(assay_settings INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(assay_settings INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()

# For sources that are compiled more often than their speed is noticed: a third of their compilation makes them faster.
add_library(assay_compiled_quickly INTERFACE)
target_compile_options(assay_compiled_quickly INTERFACE $<$<CONFIG:Release>:-O1>)

# assay_search_path(TARGET FOLDER...): where a target that is installed looks for libraries, in the build folder as after its
# installation: in these folders of shared builds, seen from itself, and in those of the libraries that it was linked with, unless
# the system looks there anyway. CMake's own change of the path at installation needs an empty part in what is built, and an empty
# part is the folder in which somebody stands.
function(assay_search_path target)
  set(own "")
  if(ASSAY_SHARED)
    list(TRANSFORM ARGN PREPEND "\$ORIGIN/" OUTPUT_VARIABLE own)
  endif()
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON INSTALL_RPATH "${own}")
endfunction()

# Tests of one folder are compiled together: what one names at the top, another may name in a function.
add_library(assay_tests_together INTERFACE)
target_compile_options(assay_tests_together INTERFACE $<$<BOOL:${ASSAY_UNITY}>:-Wno-shadow>)

# Tests that take more than a quarter of a minute; all others together take less than a minute on two cores.
set(ASSAY_SLOW_TESTS conformance_of_package documentation hardness hardness_second_half package program python)

# Labels tests `quick` or `slow`, for ctest -L: every test has one of them. Slow ones start first where several run at a time, so that
# none of them runs alone at the end.
function(assay_label)
  foreach(test IN LISTS ARGN)
    if(test IN_LIST ASSAY_SLOW_TESTS)
      set_tests_properties(${test} PROPERTIES LABELS slow COST 100)
    else()
      set_tests_properties(${test} PROPERTIES LABELS quick)
    endif()
  endforeach()
endfunction()

# assay_test(NAME model LIBRARIES assay): one test program per folder, of all sources there unless SOURCES names some. Tests
# of what runs networks share one precompiled header, the others another: GoogleTest takes longer to read than most tests.
function(assay_test)
  cmake_parse_arguments(T "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT T_SOURCES)
    file(GLOB T_SOURCES CONFIGURE_DEPENDS *.cpp)
  endif()
  add_executable(test_${T_NAME} ${T_SOURCES})
  target_link_libraries(test_${T_NAME} PRIVATE assay_settings ${T_LIBRARIES} GTest::gtest GTest::gmock GTest::gtest_main assay_tests_together)
  if(assay IN_LIST T_LIBRARIES)
    target_precompile_headers(test_${T_NAME} REUSE_FROM test_frame)
  else()
    target_precompile_headers(test_${T_NAME} REUSE_FROM test_base_frame)
  endif()
  add_test(NAME ${T_NAME} COMMAND test_${T_NAME} --gtest_brief=1)
  # What tests write lies in the build folder, so that the tests of two builds may run beside each other.
  set(temporary ${PROJECT_BINARY_DIR}/temporary)
  file(MAKE_DIRECTORY ${temporary})
  set_tests_properties(${T_NAME} PROPERTIES ENVIRONMENT TEST_TMPDIR=${temporary})
  assay_label(${T_NAME})
endfunction()
