# SPDX-License-Identifier: Apache-2.0
# Installs Ingot and builds foreign projects against it, or configures one around the checkout. In:
# WAY (install, subdirectory) and what steps.cmake reads.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

file(REMOVE_RECURSE ${FOLDER})
set(configure ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${FOLDER}/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${C} -DEXAMPLES=${CHECKOUT}/examples)

if(WAY STREQUAL "install")
  step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)
  step(${configure} -DCMAKE_PREFIX_PATH=${FOLDER}/prefix)
  step(${CMAKE_COMMAND} --build ${FOLDER}/build)
  step(${FOLDER}/build/app)
  expect("extern \"C\" __global__")
  step(${FOLDER}/build/app_linear)
  expect("launched: ")
  execute_process(COMMAND ${FOLDER}/build/app_embed ${FOLDER}/none.ingotb ERROR_VARIABLE out)
  expect("embed: io_error: cannot read '[^\n]*none.ingotb': No such file or directory")
  step(${FOLDER}/prefix/bin/ingot version)
  expect("^ingot [0-9.]+\n$")
  # Only the public API leaves the library: the process may have an LLVM and a fmt of its own.
  file(GLOB_RECURSE library ${FOLDER}/prefix/lib*/libingot.so)
  step(nm -DC --defined-only ${library})
  expect("ingot::compile")
  expect("ingot_compile")
  string(REGEX REPLACE "[0-9a-f]+ [A-Za-z] ([a-z ]*for )?ingot(::|_)[^\n]*\n" "" others "${out}")
  if(others)
    message(FATAL_ERROR "exported beside the public API:\n${others}")
  endif()
  # A program asks for the minor version: before 1.0 the next may change the API.
  step(${CMAKE_COMMAND} -E env LC_ALL=C objdump -p ${library})
  expect("SONAME +libingot\\.so\\.0\\.1\n")
  # What glibc had not yet in Ubuntu 22.04, where LLVM's archive asks for it.
  step(nm -D --undefined-only ${library})
  if(out MATCHES "arc4random")
    message(FATAL_ERROR "libingot.so needs arc4random, which came with glibc 2.36")
  endif()
  use_from_c(${FOLDER}/prefix)
  cmake_path(GET library PARENT_PATH libdir)
  use_by_pkg_config(${libdir})
else()
  # Building all of Ingot again would show nothing new: its targets must be there, the program must
  # compile, and neither tests nor the install rules of Ingot may reach the project.
  step(${configure} -DINGOT_CHECKOUT=${CHECKOUT} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
  step(${CMAKE_COMMAND} --build ${FOLDER}/build --target help)
  expect("ingot_shared")
  if(out MATCHES "ingot_unit_tests")
    message(FATAL_ERROR "Ingot's tests are targets of the foreign project")
  endif()
  step(${CXX} -std=c++20 -fsyntax-only -I ${CHECKOUT}/include ${CMAKE_CURRENT_LIST_DIR}/main.cpp)
  file(READ ${FOLDER}/build/compile_commands.json out)
  expect("-I${CHECKOUT}/include[^\n]*main.cpp")
endif()
