# assay_commit(TARGET NAMESPACE::FUNCTION): a function of the target names the commit that is built. Every build asks git
# and writes the source anew only when the answer is another one, so that nothing is compiled again without need.
# -DASSAY_COMMIT=... says it where there is no clone, such as in an archive of the sources.
# Run as a script by the build.
if(CMAKE_SCRIPT_MODE_FILE)
  if(NOT COMMIT)
    execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --abbrev=12 --exclude=* --dirty=-modified
      OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(failed OR NOT COMMIT)
      set(COMMIT unknown)
    endif()
  endif()
  string(REGEX REPLACE "::[^:]*$" "" namespace ${FUNCTION})
  string(REGEX REPLACE "^.*::" "" name ${FUNCTION})
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
    "namespace ${namespace} {\nconst char* ${name}();\nconst char* ${name}() { return \"${COMMIT}\"; }\n}  // namespace ${namespace}\n" @ONLY)
  return()
endif()

set(ASSAY_COMMIT "" CACHE STRING "Commit that the program names; empty: what git says")

function(assay_commit target function)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/commit.cpp)
  add_custom_target(${target}_commit BYPRODUCTS ${source} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DCOMMIT=${ASSAY_COMMIT} -DFUNCTION=${function}
      -DOUTPUT=${source} -P ${PROJECT_SOURCE_DIR}/cmake/AssayCommit.cmake)
  target_sources(${target} PRIVATE ${source})
  # Small and often written: compiled by itself.
  set_source_files_properties(${source} PROPERTIES GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  add_dependencies(${target} ${target}_commit)
endfunction()
