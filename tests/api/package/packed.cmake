# SPDX-License-Identifier: Apache-2.0
# Makes a package, unpacks it somewhere, and builds the C example against the unpacked files. In:
# WAY (TGZ, DEB) and the variables of steps.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

find_program(DPKG_DEB dpkg-deb)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(WAY STREQUAL "DEB" AND NOT (DPKG_DEB AND DPKG_SHLIBDEPS))
  message("[skip] no dpkg-deb and dpkg-shlibdeps, which Debian's package dpkg-dev has")
  return()
endif()
file(REMOVE_RECURSE ${FOLDER})
get_filename_component(tools ${CMAKE_COMMAND} DIRECTORY)
step(${tools}/cpack -G ${WAY} -B ${FOLDER}/made --config ${BUILD}/CPackConfig.cmake)

if(WAY STREQUAL "TGZ")
  file(GLOB made RELATIVE ${FOLDER}/made ${FOLDER}/made/*.tar.gz)
  set(out "${made}")
  expect("^ingot-[0-9]+\\.[0-9]+\\.[0-9]+-linux-[a-z0-9_]+\\.tar\\.gz$")
  file(ARCHIVE_EXTRACT INPUT ${FOLDER}/made/${made} DESTINATION ${FOLDER}/unpacked)
  string(REGEX REPLACE "\\.tar\\.gz$" "" root "${made}")
  set(prefix ${FOLDER}/unpacked/${root})
else()
  file(GLOB made RELATIVE ${FOLDER}/made ${FOLDER}/made/*.deb)
  set(out "${made}")
  expect("^ingot_[0-9]+\\.[0-9]+\\.[0-9]+_[a-z0-9]+\\.deb$")
  step(${DPKG_DEB} --field ${FOLDER}/made/${made})
  foreach(field "Package: ingot\n" "Version: [0-9.]+\n" "Architecture: [a-z0-9]+\n"
      "Maintainer: Ingot developers\n" "Depends: [^\n]*libc6 \\(>= 2[.][0-9]+\\)"
      "Suggests: [^\n]*libcuda1[^\n]*cuda-nvrtc-" "Description: JIT compiler[^\n]*\n Ingot takes")
    expect("${field}")
  endforeach()
  step(${DPKG_DEB} --extract ${FOLDER}/made/${made} ${FOLDER}/unpacked)
  set(prefix ${FOLDER}/unpacked/usr)
endif()

file(GLOB_RECURSE library ${prefix}/lib*/libingot.so)
cmake_path(GET library PARENT_PATH libdir)
cmake_path(RELATIVE_PATH libdir BASE_DIRECTORY ${prefix} OUTPUT_VARIABLE lib)
file(GLOB targets RELATIVE ${prefix} ${libdir}/cmake/ingot/ingot-targets*.cmake)
expect_files(${prefix} bin/ingot ${lib}/libingot.so ${lib}/libingot.so.0.1
  ${lib}/libingot.so.0.1.0 ${targets} ${lib}/cmake/ingot/ingot-config.cmake
  ${lib}/cmake/ingot/ingot-config-version.cmake ${lib}/pkgconfig/ingot.pc
  share/doc/ingot/copyright)
step(${prefix}/bin/ingot version)
expect("^ingot [0-9.]+\n$")
use_from_c(${prefix})
use_by_pkg_config(${libdir})
