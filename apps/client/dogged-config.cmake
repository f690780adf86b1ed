# Target dogged::dogged: libdogged with its headers; dogged::kernels: the header
# for kernels of one's own. The prefix may be moved.
include(${CMAKE_CURRENT_LIST_DIR}/dogged-targets.cmake)
