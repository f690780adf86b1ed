# Target dogged::dogged: libdogged with its headers. The prefix may be moved.
include(${CMAKE_CURRENT_LIST_DIR}/dogged-targets.cmake)
