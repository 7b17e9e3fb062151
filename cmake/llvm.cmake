# SPDX-License-Identifier: Apache-2.0
# Defines `llvm_support`: the two static archives of LLVM that Ingot uses, and nothing else.
# LLVM's own package file is not used: it asks for z3, zstd, zlib and every tool of the project,
# none of which the parts used here refer to.
set(INGOT_LLVM_ROOT /usr/lib/llvm-19 CACHE PATH "where LLVM 19 is installed")

find_path(INGOT_LLVM_INCLUDE llvm/Support/Error.h PATHS ${INGOT_LLVM_ROOT}/include NO_DEFAULT_PATH)
find_library(INGOT_LLVM_SUPPORT libLLVMSupport.a PATHS ${INGOT_LLVM_ROOT}/lib NO_DEFAULT_PATH)
find_library(INGOT_LLVM_DEMANGLE libLLVMDemangle.a PATHS ${INGOT_LLVM_ROOT}/lib NO_DEFAULT_PATH)
if(NOT INGOT_LLVM_INCLUDE OR NOT INGOT_LLVM_SUPPORT OR NOT INGOT_LLVM_DEMANGLE)
  message(FATAL_ERROR "LLVM 19's headers and libLLVMSupport.a are not under ${INGOT_LLVM_ROOT}: run "
    "`./dev setup`, or pass -DINGOT_LLVM_ROOT=<prefix>")
endif()
file(STRINGS ${INGOT_LLVM_INCLUDE}/llvm/Config/llvm-config.h version_line
  REGEX "define LLVM_VERSION_MAJOR ")
if(NOT version_line MATCHES " 19$")
  message(FATAL_ERROR "LLVM 19 is needed, but ${INGOT_LLVM_INCLUDE} has: ${version_line}")
endif()

add_library(llvm_support INTERFACE)
target_include_directories(llvm_support SYSTEM INTERFACE ${INGOT_LLVM_INCLUDE})
add_library(ingot_arc4random STATIC cmake/arc4random.cpp)
target_compile_options(ingot_arc4random PRIVATE -fno-exceptions -fvisibility=hidden)
target_link_libraries(llvm_support INTERFACE ${INGOT_LLVM_SUPPORT} ${INGOT_LLVM_DEMANGLE}
  ingot_arc4random Threads::Threads ${CMAKE_DL_LIBS})

set(INGOT_FILECHECK ${INGOT_LLVM_ROOT}/bin/FileCheck)
set(INGOT_LIT ${INGOT_LLVM_ROOT}/build/utils/lit/lit.py)
