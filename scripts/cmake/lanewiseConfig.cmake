# find_package(lanewise): the target lanewise::control, the header of what a program may ask the
# plugin in its process.
include("${CMAKE_CURRENT_LIST_DIR}/lanewiseTargets.cmake")
