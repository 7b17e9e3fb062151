# SPDX-License-Identifier: Apache-2.0
# Functions of this folder's scripts. Any failed step fails the test. In: BUILD (Ingot's build
# tree), CHECKOUT, FOLDER (the test's own), CXX, C, GENERATOR.
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE out)
  set(out "${out}" PARENT_SCOPE)
endfunction()

# The last step printed this.
function(expect pattern)
  if(NOT out MATCHES "${pattern}")
    message(FATAL_ERROR "expected ${pattern}, got:\n${out}")
  endif()
endfunction()

# expect_files(PREFIX files...): these, relative to the prefix, and no others but headers.
function(expect_files prefix)
  file(GLOB_RECURSE files RELATIVE ${prefix} ${prefix}/*)
  list(FILTER files EXCLUDE REGEX "^include/ingot/[a-z_]+\\.h$")
  set(expected ${ARGN})
  list(SORT files)
  list(SORT expected)
  if(NOT files STREQUAL expected)
    message(FATAL_ERROR "expected in ${prefix}: ${expected}\ngot: ${files}")
  endif()
endfunction()

# Builds and runs the C example by pkg-config alone, or says that it was not.
function(use_by_pkg_config libdir)
  find_program(PKG_CONFIG NAMES pkg-config pkgconf)
  if(NOT PKG_CONFIG)
    message("[skip] no pkg-config")
    return()
  endif()
  set(pkg_config ${CMAKE_COMMAND} -E env PKG_CONFIG_LIBDIR=${libdir}/pkgconfig ${PKG_CONFIG})
  step(${pkg_config} --modversion ingot)
  expect("^[0-9]+\\.[0-9]+\\.[0-9]+\n$")
  step(${pkg_config} --cflags --libs ingot)
  separate_arguments(flags UNIX_COMMAND "${out}")
  step(${C} -std=c99 -Wall -Wextra -Wpedantic -Werror ${CHECKOUT}/examples/linear.c ${flags}
    -o ${FOLDER}/linear)
  step(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libdir} ${FOLDER}/linear)
  expect("launched: ")
endfunction()

# Builds and runs the C example in a CMake project of C alone.
function(use_from_c prefix)
  step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/c -B ${FOLDER}/build_c -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${C} -DEXAMPLE=${CHECKOUT}/examples/linear.c -DCMAKE_PREFIX_PATH=${prefix})
  step(${CMAKE_COMMAND} --build ${FOLDER}/build_c)
  step(${FOLDER}/build_c/app_c)
  expect("launched: ")
endfunction()
