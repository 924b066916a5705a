# cmake --install: program, libraries, headers, completion, manual, and a CMake package for find_package(assay). Components:
# program; documentation (pages, examples, studies); development (headers, static libraries, CMake package); library (shared
# libraries, with ASSAY_SHARED).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(ASSAY_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/assay)

set(assay_installed assay assay_base assay_plugin)
if(TARGET assay_questions)
  list(APPEND assay_installed assay_questions)
endif()
install(TARGETS ${assay_installed} EXPORT assayTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/assay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h")
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION ${ASSAY_PACKAGE_DIR} COMPONENT development)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/assayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/assayConfig.cmake.in ${PROJECT_BINARY_DIR}/assayConfig.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/assayConfig.cmake ${PROJECT_SOURCE_DIR}/cmake/AssayDependencies.cmake ${PROJECT_SOURCE_DIR}/cmake/AssayArchives.cmake
  ${PROJECT_BINARY_DIR}/assayConfigVersion.cmake DESTINATION ${ASSAY_PACKAGE_DIR} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT program)

# Where links between the pages hold: as they lie in the sources.
set(pages ${CMAKE_INSTALL_DATADIR}/doc/assay-doc)
install(DIRECTORY docs examples studies ci DESTINATION ${pages} COMPONENT documentation
  USE_SOURCE_PERMISSIONS PATTERN "Doxyfile.in" EXCLUDE PATTERN "site" EXCLUDE)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CITATION.cff LICENSE DESTINATION ${pages} COMPONENT documentation)
install(DIRECTORY python/examples python/notebooks DESTINATION ${pages}/python COMPONENT documentation)
install(FILES benchmarks/RESULTS.md DESTINATION ${pages}/benchmarks COMPONENT documentation)

if(TARGET assay_program)
  install(TARGETS assay_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  if(TARGET assay_mpi)
    install(TARGETS assay_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/assay COMPONENT mpi)
  endif()
  # The program itself writes its completion and its manual.
  install(CODE "
    set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
    set(manual \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
    file(MAKE_DIRECTORY \"\${share}/bash-completion/completions\" \"\${share}/fish/vendor_completions.d\" \"\${manual}\")
    execute_process(COMMAND $<TARGET_FILE:assay_program> completion bash COMMAND_ERROR_IS_FATAL ANY
      OUTPUT_FILE \"\${share}/bash-completion/completions/assay\")
    execute_process(COMMAND $<TARGET_FILE:assay_program> completion fish COMMAND_ERROR_IS_FATAL ANY
      OUTPUT_FILE \"\${share}/fish/vendor_completions.d/assay.fish\")
    execute_process(COMMAND $<TARGET_FILE:assay_program> manual \"\${manual}\" COMMAND_ERROR_IS_FATAL ANY)
  " COMPONENT program)
endif()
