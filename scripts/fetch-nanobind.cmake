# cmake -P scripts/fetch-nanobind.cmake: unpacks nanobind of PyPI, which binds the Python package, in build/tools. CMake is there
# for every build, which saves pip and the packages that it needs.
set(version 3.1.0)
set(digest 96984dbe8154ffb86e653b1b60aaeed6985c710c5e75ad0279eb87943c66292d)
set(folder 36/c1/6fd56f7a02a478d54a1a3e6000eccd34b446b1c45cbf0d002fe5d2937126)
get_filename_component(tools ${CMAKE_CURRENT_LIST_DIR}/../build/tools ABSOLUTE)
if(EXISTS ${tools}/nanobind-${version}.dist-info)
  return()
endif()
file(GLOB others ${tools}/nanobind ${tools}/nanobind-*.dist-info)  # of another version
if(others)
  file(REMOVE_RECURSE ${others})
endif()
# The digest says that these are the right bytes: a machine without certificates may fetch them, too.
file(DOWNLOAD https://files.pythonhosted.org/packages/${folder}/nanobind-${version}-py3-none-any.whl ${tools}/nanobind.whl
  EXPECTED_HASH SHA256=${digest} TLS_VERIFY OFF INACTIVITY_TIMEOUT 60 STATUS status)
list(GET status 0 failed)
if(failed)
  file(REMOVE ${tools}/nanobind.whl)
  message(FATAL_ERROR "nanobind ${version}: ${status}")
endif()
file(ARCHIVE_EXTRACT INPUT ${tools}/nanobind.whl DESTINATION ${tools})
file(REMOVE ${tools}/nanobind.whl)
message(STATUS "nanobind ${version} in build/tools")
