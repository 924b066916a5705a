# Settings that all our targets share.
add_library(assay_settings INTERFACE)
target_compile_features(assay_settings INTERFACE cxx_std_20)
target_include_directories(assay_settings INTERFACE ${PROJECT_SOURCE_DIR})
# -Wrestrict: GCC 12 warns about its own std::string::operator+ (GCC bug 105651).
target_compile_options(assay_settings INTERFACE -Wall -Wextra -Wshadow $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
if(ASSAY_SANITIZE)
  target_compile_options(assay_settings INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(assay_settings INTERFACE -fsanitize=address,undefined)
endif()

# assay_test(NAME model SOURCES a.cpp b.cpp LIBRARIES assay): one test program per folder.
function(assay_test)
  cmake_parse_arguments(T "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(test_${T_NAME} ${T_SOURCES})
  target_link_libraries(test_${T_NAME} PRIVATE assay_settings ${T_LIBRARIES} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${T_NAME} COMMAND test_${T_NAME} --gtest_brief=1)
endfunction()
