# cmake --install: program, libraries, headers, completion, and a CMake package for find_package(assay).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(ASSAY_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/assay)

install(TARGETS assay assay_base EXPORT assayTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/assay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION ${ASSAY_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/assayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/assayConfig.cmake ${PROJECT_SOURCE_DIR}/cmake/AssayDependencies.cmake
  ${PROJECT_BINARY_DIR}/assayConfigVersion.cmake DESTINATION ${ASSAY_PACKAGE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET assay_program)
  install(TARGETS assay_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(CODE "
    set(shells \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
    file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${shells}/bash-completion/completions\" \"\$ENV{DESTDIR}\${shells}/fish/vendor_completions.d\")
    execute_process(COMMAND $<TARGET_FILE:assay_program> completion bash COMMAND_ERROR_IS_FATAL ANY
      OUTPUT_FILE \"\$ENV{DESTDIR}\${shells}/bash-completion/completions/assay\")
    execute_process(COMMAND $<TARGET_FILE:assay_program> completion fish COMMAND_ERROR_IS_FATAL ANY
      OUTPUT_FILE \"\$ENV{DESTDIR}\${shells}/fish/vendor_completions.d/assay.fish\")
  ")
endif()
