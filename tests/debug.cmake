# SPDX-License-Identifier: Apache-2.0
# The unit tests without optimisation, where every inline function and destructor is the linker's
# choice of one definition: configures BUILD/debug by the debug preset, builds and runs them alone.
# A second run builds only the changed files.
cmake_host_system_information(RESULT jobs QUERY NUMBER_OF_LOGICAL_CORES)
set(folder ${BUILD}/debug)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${CHECKOUT} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

# No debug information: it doubles the time, and a test reads none.
run(${CMAKE_COMMAND} --preset debug -B ${folder} -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DINGOT_WERROR=${WERROR})
run(${CMAKE_COMMAND} --build ${folder} --target ingot_unit_tests -j ${jobs})
run(${CMAKE_CTEST_COMMAND} --test-dir ${folder} -L "^unit$" -j ${jobs} --output-on-failure
  --no-tests=error)
