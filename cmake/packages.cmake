# SPDX-License-Identifier: Apache-2.0
# Packages by `cpack`: `-G TGZ` an archive, `-G DEB` a Debian package. Both hold the runtime and the
# files for building against it.
set(CPACK_PACKAGE_NAME ingot)
set(CPACK_PACKAGE_VENDOR "Ingot developers")
set(CPACK_PACKAGE_CONTACT "Ingot developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${ingot_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Ingot takes a small graph of tensor operations, fuses it into a few
CUDA kernels, compiles them with NVRTC, caches the result and launches it. This package holds the
library, its C and C++ headers, and the command line. CUDA's libraries are opened when they are
first needed: NVRTC to compile, the driver to launch.")
set(CPACK_RESOURCE_FILE_LICENSE ${ingot_SOURCE_DIR}/LICENSE)
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" package_system)
set(CPACK_PACKAGE_FILE_NAME ingot-${ingot_VERSION}-${package_system})
set(CPACK_GENERATOR TGZ)
set(CPACK_SOURCE_GENERATOR "")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_MONOLITHIC_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# Reads from the binaries which versions of the C library they run with.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcuda1, cuda-nvrtc-13-0 | cuda-nvrtc-12-9")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
