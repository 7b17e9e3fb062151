# SPDX-License-Identifier: Apache-2.0
# Makes the bundle of examples/embed.c and runs the example on it with NVRTC out of reach. In: INGOT,
# EMBED, FOLDER. The test shows the example's output.
set(spec "graph embed(x: f32[4, 32], param w: f32[64, 32]) { return y = relu(linear(x, w)) }\n")
file(WRITE ${FOLDER}/embed.ingot "${spec}")
execute_process(COMMAND ${INGOT} compile ${FOLDER}/embed.ingot --emit=bundle
  -o ${FOLDER}/embed.ingotb COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env INGOT_NVRTC_PATH=/nowhere INGOT_CACHE_DIR=/nowhere
  ${EMBED} ${FOLDER}/embed.ingotb COMMAND_ERROR_IS_FATAL ANY)
