# SPDX-License-Identifier: Apache-2.0
# The files of `cmake --install`, in two components. runtime: libingot.so.0.1 and the command line.
# devel: the headers, libingot.so, ingot.pc and the package that gives the target ingot::ingot to
# `find_package(ingot)` and `find_package(Ingot)`, whose files in lower case CMake takes for both.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ingot)
install(TARGETS ingot_shared EXPORT ingot-targets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT devel)
install(DIRECTORY ${ingot_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT devel)
install(EXPORT ingot-targets NAMESPACE ingot:: DESTINATION ${package_folder} COMPONENT devel)
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(${ingot_BINARY_DIR}/ingot-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/ingot-config.cmake ${ingot_BINARY_DIR}/ingot-config-version.cmake
  DESTINATION ${package_folder} COMPONENT devel)

# Relative to the folder of ingot.pc, so that the tree may be moved.
set(pc_folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pc_folder} OUTPUT_VARIABLE pc_prefix)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE pc_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE pc_includedir)
configure_file(cmake/ingot.pc.in ${ingot_BINARY_DIR}/ingot.pc @ONLY)
install(FILES ${ingot_BINARY_DIR}/ingot.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT devel)

# The licence, under the name that Debian gives it.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ingot RENAME copyright
  COMPONENT runtime)
