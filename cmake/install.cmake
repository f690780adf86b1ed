# What `cmake --install` installs: the command, its modules, programs and pages.
# All are found relative to the command (apps/dogged/process/module_folder.cc),
# so a prefix may be moved, and folders have no options.

get_property(DOGGED_MODULES GLOBAL PROPERTY DOGGED_MODULES)
install(TARGETS dogged RUNTIME DESTINATION bin)
install(TARGETS dogged_fabric dogged_rocksdb ${DOGGED_MODULES}
  LIBRARY DESTINATION lib/dogged NAMELINK_SKIP)
# The README's commands run in share/dogged.
install(DIRECTORY apps DESTINATION share/dogged
  FILES_MATCHING PATTERN "*.dog"
  PATTERN "dogged" EXCLUDE PATTERN "dogged_bench" EXCLUDE
  PATTERN "output" EXCLUDE PATTERN "tiles" EXCLUDE PATTERN "verify" EXCLUDE
  PATTERN "python" EXCLUDE)
# Where each Python 3 of Debian looks. It finds the command relative to itself,
# too (apps/python/dogged/_door.py).
install(DIRECTORY apps/python/dogged DESTINATION lib/python3/dist-packages
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
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
install(DIRECTORY ${pages}/ DESTINATION share)
