# The target assay_reference: pages from the comments of the public headers, in reference/ of the build folder. Only where
# there is Doxygen. Warnings are errors.
find_package(Doxygen QUIET)
if(DOXYGEN_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/include/assay)
  configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
  add_custom_target(assay_reference COMMAND Doxygen::doxygen ${PROJECT_BINARY_DIR}/Doxyfile VERBATIM
    COMMENT "Writing the reference of the library")
endif()
