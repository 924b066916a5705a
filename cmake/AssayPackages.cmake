# cpack -G DEB: assay (the program), assay-doc (documentation, examples, studies), libassay-dev (library, headers, CMake
# package), python3-assay and, with ASSAY_SHARED, the shared libraries by themselves. scripts/check-packages.sh builds, installs and tries them.
set(assay_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR "Assay")
set(CPACK_PACKAGE_CONTACT "Assay maintainers <maintainers@assay.invalid>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL program documentation development)
set(assay_suggested assay-doc)
if(ASSAY_SHARED)
  list(APPEND CPACK_COMPONENTS_ALL library)
endif()

if(TARGET assay_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
# A package of its own, so that the program needs no MPI.
if(TARGET assay_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME assay-mpi)
  set(CPACK_COMPONENT_MPI_DESCRIPTION "Lets `mpirun assay ...` share the work among the processes of OpenMPI.")
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "assay (= ${PROJECT_VERSION}), openmpi-bin")
  list(APPEND assay_suggested assay-mpi)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# What the binaries need is read from them; our own libraries are in the build folder.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME assay)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program: finds the neurons that decide, measures how well a test set
exercises a network and which faults it would miss; attacks, compares, retrains.")

set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_NAME assay-doc)
set(CPACK_COMPONENT_DOCUMENTATION_DESCRIPTION "Documentation as Markdown, examples of the library, and studies that repeat
published experiments.")
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
list(JOIN assay_suggested ", " CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libassay-dev)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Library, headers and CMake package, for programs that link assay::assay.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What cmake/AssayDependencies.cmake asks for; a test compares with scripts/packages.sh.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "cmake, g++, pkg-config, libonnx-dev, \
libprotobuf-dev, libhdf5-dev, libminizip-dev, libarchive-dev, zlib1g-dev, libpng-dev, libjpeg62-turbo-dev, libcli11-dev, \
libsqlite3-dev, libre2-dev, libpcre2-dev, libutf8proc-dev, libhwy-dev, libtomlplusplus-dev, nlohmann-json3-dev, libfmt-dev")

if(TARGET assay_python)
  # An extension is for one minor version of Python.
  get_directory_property(Python_VERSION_MAJOR DIRECTORY ${PROJECT_SOURCE_DIR}/python DEFINITION Python_VERSION_MAJOR)
  get_directory_property(Python_VERSION_MINOR DIRECTORY ${PROJECT_SOURCE_DIR}/python DEFINITION Python_VERSION_MINOR)
  math(EXPR assay_python_next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-assay)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The Python package `assay`: analyses for notebooks, with arrays and tensors in
memory.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), \
python3 (<< ${Python_VERSION_MAJOR}.${assay_python_next}), python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-torch, python3-pandas, python3-matplotlib, python3-tqdm")
endif()

if(ASSAY_SHARED)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libassay${assay_soversion})
  set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Shared libraries.")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
  set(CPACK_COMPONENT_PROGRAM_DEPENDS library)
  set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS library)
  set(CPACK_COMPONENT_PYTHON_DEPENDS library)
endif()
include(CPack)
