# What `cmake --install` installs: the command, its modules, programs and pages.
# All are found relative to the command (apps/dogged/process/module_folder.cc),
# so a prefix may be moved, and folders have no options.

# Components `dev`, what compilers need, and `python` are packages of their own
# (cmake/package.cmake).
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dogged)

get_property(DOGGED_MODULES GLOBAL PROPERTY DOGGED_MODULES)
install(TARGETS dogged RUNTIME DESTINATION bin)
install(TARGETS dogged_fabric dogged_rocksdb ${DOGGED_MODULES}
  LIBRARY DESTINATION lib/dogged NAMELINK_SKIP)
# The library for C and C++, which finds the command relative to itself, too
# (apps/client/client_process.cc), and what find_package() and pkg-config read.
install(TARGETS dogged_client dogged_kernels EXPORT dogged
  LIBRARY DESTINATION lib NAMELINK_COMPONENT dev)
install(FILES apps/client/dogged.h apps/client/dogged.hpp
  apps/client/dogged_builder.hpp apps/client/dogged_error.hpp
  apps/client/dogged_graph.hpp
  apps/client/dogged_kernel.hpp DESTINATION include COMPONENT dev)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dogged-config-version.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(apps/client/dogged.pc.in dogged.pc @ONLY)
install(EXPORT dogged FILE dogged-targets.cmake NAMESPACE dogged::
  DESTINATION lib/cmake/dogged COMPONENT dev)
install(FILES apps/client/dogged-config.cmake
  ${CMAKE_BINARY_DIR}/dogged-config-version.cmake
  DESTINATION lib/cmake/dogged COMPONENT dev)
install(FILES ${CMAKE_BINARY_DIR}/dogged.pc DESTINATION lib/pkgconfig
  COMPONENT dev)
# The README's commands run in share/dogged.
install(DIRECTORY apps DESTINATION share/dogged
  FILES_MATCHING PATTERN "*.dog"
  PATTERN "dogged" EXCLUDE PATTERN "dogged_bench" EXCLUDE
  PATTERN "client" EXCLUDE PATTERN "output" EXCLUDE PATTERN "tiles" EXCLUDE
  PATTERN "verify" EXCLUDE PATTERN "python" EXCLUDE)
# Where each Python 3 of Debian looks. It finds the command relative to itself,
# too (apps/python/dogged/_door.py).
install(DIRECTORY apps/python/dogged DESTINATION lib/python3/dist-packages
  COMPONENT python FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
  PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY docs DESTINATION share/doc/dogged)
install(FILES README.md DESTINATION share/doc/dogged)
install(FILES LICENSE DESTINATION share/doc/dogged RENAME copyright)

# Man pages and completions come from the command itself.
set(pages ${CMAKE_BINARY_DIR}/pages)
add_custom_command(OUTPUT ${pages}/man/man1/dogged.1
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
  COMMAND dogged pages ${pages}
  DEPENDS dogged VERBATIM)
add_custom_target(dogged_pages ALL DEPENDS ${pages}/man/man1/dogged.1)
add_dependencies(dogged_pages dogged_client)
install(DIRECTORY ${pages}/ DESTINATION share)
