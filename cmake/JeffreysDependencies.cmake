find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(hwy 1.0.3 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)

# Debian's CMake package of libzip insists on command line tools that are packaged apart.
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
mark_as_advanced(RANDOM123_INCLUDE_DIR)
if(NOT TARGET Random123::Random123)
  add_library(Random123::Random123 INTERFACE IMPORTED)
  target_include_directories(Random123::Random123 INTERFACE ${RANDOM123_INCLUDE_DIR})
endif()

find_package(FastFloat REQUIRED)
# Headers alone: distribution functions of Boost.Math.
find_path(BOOST_INCLUDE_DIR boost/math/distributions/students_t.hpp REQUIRED)
mark_as_advanced(BOOST_INCLUDE_DIR)

# NAME::NAME for a library that has no usable CMake package: libcsv and xxHash bring none at all, and
# that of XGBoost in Debian, like libzip's, insists on a program that is packaged apart.
function(jeffreys_find_library name header)
  string(TOUPPER ${name} prefix)
  find_path(${prefix}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${prefix}_LIBRARY ${name} REQUIRED)
  mark_as_advanced(${prefix}_INCLUDE_DIR ${prefix}_LIBRARY)
  if(NOT TARGET ${name}::${name})
    add_library(${name}::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(${name}::${name} PROPERTIES
      IMPORTED_LOCATION ${${prefix}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${${prefix}_INCLUDE_DIR})
  endif()
endfunction()
jeffreys_find_library(csv csv.h)
jeffreys_find_library(xgboost xgboost/c_api.h)
jeffreys_find_library(xxhash xxhash.h)
jeffreys_find_library(jpeg jpeglib.h)
find_package(PNG REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
mark_as_advanced(TOMLPLUSPLUS_INCLUDE_DIR)

if(JEFFREYS_TORCH)
  find_package(Torch REQUIRED)
endif()
if(JEFFREYS_BUILD_PROGRAM)
  find_package(CLI11 2.1 REQUIRED)
endif()
