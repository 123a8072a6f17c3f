# `cmake --preset tidy && cmake --build --preset tidy --target tidy`: clang-tidy on what has changed
# since it last passed.
# Not on the kernels: with Highway's headers, once for every instruction set, they take too long.
find_program(JEFFREYS_CLANG_TIDY clang-tidy-16)
mark_as_advanced(JEFFREYS_CLANG_TIDY)
if(NOT JEFFREYS_CLANG_TIDY)
  return()
endif()

file(GLOB_RECURSE private_headers CONFIGURE_DEPENDS src/*.h cli/*.h)
file(GLOB cli_sources CONFIGURE_DEPENDS cli/*.cc)
set(tidy_sources ${sources} ${cli_sources})
list(REMOVE_ITEM tidy_sources ${kernels_sources})
foreach(source IN LISTS tidy_sources)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
  set(passed ${PROJECT_BINARY_DIR}/tidy/${name}.passed)
  cmake_path(GET passed PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  # Its stderr only counts the warnings in other people's headers.
  add_custom_command(OUTPUT ${passed}
    COMMAND ${JEFFREYS_CLANG_TIDY} --quiet --extra-arg=-Wno-unknown-warning-option
      -p ${PROJECT_BINARY_DIR} ${source} 2>${passed}.log
    COMMAND ${CMAKE_COMMAND} -E touch ${passed}
    DEPENDS ${source} ${headers} ${private_headers} .clang-tidy
    COMMENT "clang-tidy ${name}")
  list(APPEND tidy_passed ${passed})
endforeach()
add_custom_target(tidy DEPENDS ${tidy_passed})
