# SPDX-License-Identifier: Apache-2.0
# Installs Ingot and builds a foreign project against it, or configures that project around the
# checkout. In: WAY (install, subdirectory), BUILD (Ingot's build tree), CHECKOUT, FOLDER, CXX, C,
# GENERATOR. Any failed step fails the test.
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE out)
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(expect pattern)
  if(NOT out MATCHES "${pattern}")
    message(FATAL_ERROR "expected ${pattern}, got:\n${out}")
  endif()
endfunction()

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
  file(GLOB library ${FOLDER}/prefix/lib*/libingot.so ${FOLDER}/prefix/lib/*/libingot.so)
  step(nm -DC --defined-only ${library})
  expect("ingot::compile")
  expect("ingot_compile")
  string(REGEX REPLACE "[0-9a-f]+ [A-Za-z] ([a-z ]*for )?ingot(::|_)[^\n]*\n" "" others "${out}")
  if(others)
    message(FATAL_ERROR "exported beside the public API:\n${others}")
  endif()
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
