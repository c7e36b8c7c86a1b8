# What is installed beside the programs: header, CMake package, pkg-config file, licence and readme;
# how a Debian package is made of it; and the target `uninstall`.
include(CMakePackageConfigHelpers)

set(lanewise_cmake ${CMAKE_INSTALL_LIBDIR}/cmake/lanewise)
set_target_properties(lanewise_control PROPERTIES EXPORT_NAME control)
install(TARGETS lanewise_control EXPORT lanewise)
install(EXPORT lanewise NAMESPACE lanewise:: FILE lanewiseTargets.cmake DESTINATION ${lanewise_cmake})
install(FILES ${PROJECT_SOURCE_DIR}/include/lanewise/control.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lanewise)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lanewiseConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/lanewiseConfig.cmake
  ${PROJECT_BINARY_DIR}/lanewiseConfigVersion.cmake DESTINATION ${lanewise_cmake})

# Found from the file itself, so that an installation can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE LANEWISE_PREFIX_FROM_PC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/lanewise.pc.in ${PROJECT_BINARY_DIR}/lanewise.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lanewise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/lanewise)

install(FILES ${PROJECT_SOURCE_DIR}/scripts/completion/lanewise.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lanewise)

add_custom_target(uninstall VERBATIM COMMAND ${CMAKE_COMMAND}
  -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake ${PROJECT_BINARY_DIR}/install_manifest.txt)

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_CONTACT "the Lanewise authors")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Fast small all-reduces on PCIe GPUs: a tuner plugin for NCCL")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libs)
  include(CPack)
endif()
