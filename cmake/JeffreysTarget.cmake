# Highway's instruction sets: AVX3 (AVX-512), AVX2, SSE4 and the portable EMU128, which is also the
# baseline, so the library runs on any CPU. SSSE3 is dropped (a CPU that stops there takes the
# baseline), and so is AVX3_DL, which adds only integer instructions. Vectors without a fixed size (SVE,
# RVV) are dropped because the matrix kernels keep vectors in arrays; on ARM, NEON remains.
set(JEFFREYS_HIGHWAY_DEFINITIONS
  HWY_COMPILE_ALL_ATTAINABLE
  "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")
# Highway replaces EMU128 by the slower, incomplete SCALAR when GCC is older than 12.3, because of GCC
# bug 106322, which does not occur on x86-64.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  list(APPEND JEFFREYS_HIGHWAY_DEFINITIONS HWY_BROKEN_EMU128=0)
endif()
# Sanitizers make the unrolled kernels take minutes to compile for each instruction set.
if(JEFFREYS_FEW_INSTRUCTION_SETS)
  set(JEFFREYS_HIGHWAY_DEFINITIONS
    "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")
endif()

# For every target compiled from this tree.
function(jeffreys_set_compile_options target)
  # No -ffast-math: NaN in a row has to reach that row's result.
  target_compile_options(${target} PRIVATE
    -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    # GCC 12 warns without cause about std::string + std::string (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # Without cause where a unit includes several sources: their local types are nobody else's.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
    $<$<BOOL:${JEFFREYS_WARNINGS_AS_ERRORS}>:-Werror>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# For the library and for what may see its private headers. All of them get the same instruction sets,
# so that tests and benchmarks name those that the kernels were compiled for.
function(jeffreys_open_internals target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE ${JEFFREYS_HIGHWAY_DEFINITIONS})
endfunction()

# Most of the time of a build goes into parsing and instantiating what all sources include. With
# UNITY_BUILD_MODE GROUP, so many of these sources are compiled together, and none with another room's.
function(jeffreys_group_units room size)
  set(place 0)
  foreach(source IN LISTS ARGN)
    math(EXPR unit "${place} / ${size}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${unit})
    math(EXPR place "${place} + 1")
  endforeach()
endfunction()
