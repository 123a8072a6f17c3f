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

# libcsv brings neither a CMake package nor a pkg-config file.
find_path(CSV_INCLUDE_DIR csv.h REQUIRED)
find_library(CSV_LIBRARY csv REQUIRED)
mark_as_advanced(CSV_INCLUDE_DIR CSV_LIBRARY)
if(NOT TARGET csv::csv)
  add_library(csv::csv UNKNOWN IMPORTED)
  set_target_properties(csv::csv PROPERTIES
    IMPORTED_LOCATION ${CSV_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${CSV_INCLUDE_DIR})
endif()

# As that of libzip, Debian's CMake package of XGBoost insists on a program that is packaged apart.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h REQUIRED)
find_library(XGBOOST_LIBRARY xgboost REQUIRED)
mark_as_advanced(XGBOOST_INCLUDE_DIR XGBOOST_LIBRARY)
if(NOT TARGET xgboost::xgboost)
  add_library(xgboost::xgboost UNKNOWN IMPORTED)
  set_target_properties(xgboost::xgboost PROPERTIES
    IMPORTED_LOCATION ${XGBOOST_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${XGBOOST_INCLUDE_DIR})
endif()

if(JEFFREYS_TORCH)
  find_package(Torch REQUIRED)
endif()
if(JEFFREYS_BUILD_PROGRAM)
  find_package(CLI11 2.1 REQUIRED)
  find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
  mark_as_advanced(TOMLPLUSPLUS_INCLUDE_DIR)
endif()
