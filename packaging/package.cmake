# SPDX-License-Identifier: MIT
# The packages: `cpack` in the build directory, or `cmake --build DIR --target package`.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "the tcpscaler maintainers")
set(CPACK_PACKAGE_CONTACT ${TCPSCALER_MAINTAINER})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/generator.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gawk, gnuplot-nox, iproute2")
if(NOT TCPSCALER_PROGRAM_PREFIX) # they have a tcpserver and a tcpclient, too
  set(CPACK_DEBIAN_PACKAGE_CONFLICTS "ucspi-tcp, ucspi-tcp-ipv6")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/prerm ${CMAKE_CURRENT_BINARY_DIR}/packaging/prerm @ONLY)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/packaging/prerm ${CMAKE_CURRENT_LIST_DIR}/postinst)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "tcpclient opens thousands to millions of TCP connections to one server, sends
DNS queries, pings or echoes at a fixed rate and measures each response;
tcpserver answers them; tcpreport merges, compares and plots the results.")
include(CPack)
