include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/jeffreys)

install(TARGETS jeffreys EXPORT jeffreysTargets FILE_SET HEADERS)
install(EXPORT jeffreysTargets NAMESPACE jeffreys:: DESTINATION ${package_dir})

configure_package_config_file(cmake/jeffreysConfig.cmake.in jeffreysConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break its callers.
write_basic_package_version_file(jeffreysConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/jeffreysConfig.cmake ${PROJECT_BINARY_DIR}/jeffreysConfigVersion.cmake
  DESTINATION ${package_dir})
