# SPDX-License-Identifier: Apache-2.0
# The target ingot::ingot, in projects of C, C++ or both.
include(${CMAKE_CURRENT_LIST_DIR}/ingot-targets.cmake)
# A project without C++ must not be asked for one of its standards.
get_property(ingot_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("CXX" IN_LIST ingot_languages)
  set_property(TARGET ingot::ingot APPEND PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()
unset(ingot_languages)
