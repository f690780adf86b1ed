# The Debian packages, made by scripts/package: dogged, libdogged-dev for what is
# compiled against its library, and python3-dogged. Each release of Debian has its
# own: the libraries that a package depends on are those that it was linked with.
set(release 1)
if(EXISTS /etc/os-release)
  file(STRINGS /etc/os-release id REGEX "^VERSION_ID=")
  string(REGEX REPLACE "[^0-9.]" "" id "${id}")
  if(id)
    set(release 1~deb${id})
  endif()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dogged)
set(CPACK_PACKAGE_CONTACT "dogged maintainers <dogged@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Dataflow runtime that survives its agents")
set(CPACK_COMPONENTS_ALL dogged dev python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENT_DOGGED_DESCRIPTION
  "Runs stencils and tiled factorisations on agents that come and go: no
 checkpoints, no head node, and results with the bits of a serial run.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_version.cmake)
set(CPACK_DOGGED_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_pages.cmake)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DOGGED_PACKAGE_NAME dogged)
# Each of the three is of no use with another release's dogged.
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libdogged-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEV_DEPENDS dogged)
set(CPACK_COMPONENT_DEV_DESCRIPTION
  "Programs, jobs and results of dogged from C and C++ (headers and CMake files)
 CLIENT.md among the pages of dogged shows them at work.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-dogged)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_PYTHON_DEPENDS dogged)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "python3 (>= 3.9), python3-numpy (>= 1:1.20)")
# Python's bytecode is made and removed by these.
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/cmake/python3-dogged/postinst
  ${PROJECT_SOURCE_DIR}/cmake/python3-dogged/prerm)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION
  "Programs, jobs and results of dogged from Python, as NumPy arrays
 PYTHON.md among the pages of dogged shows them at work.")
# OpenBLAS is loaded by name (apps/tiles/blas.cc), so that no tool sees it.
set(CPACK_DEBIAN_DOGGED_PACKAGE_DEPENDS "libopenblas0-pthread | libopenblas0")
# Without a compiler kernels are interpreted: slower, the same bits.
set(CPACK_DEBIAN_DOGGED_PACKAGE_RECOMMENDS "gcc | c-compiler, libc6-dev")
set(CPACK_DEBIAN_DOGGED_PACKAGE_SUGGESTS "python3-dogged")
include(CPack)
