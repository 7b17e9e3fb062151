# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` copies: libingot.so, its headers and its package, so that
# `find_package(Ingot)` gives the target ingot::ingot.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Ingot)
install(TARGETS ingot_shared EXPORT IngotTargets LIBRARY)
install(DIRECTORY ${ingot_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT IngotTargets NAMESPACE ingot:: DESTINATION ${package_folder}
  FILE IngotConfig.cmake)
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(${ingot_BINARY_DIR}/IngotConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${ingot_BINARY_DIR}/IngotConfigVersion.cmake DESTINATION ${package_folder})
