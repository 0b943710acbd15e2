# SPDX-License-Identifier: MIT
# Makes absolute installation directories, such as -DCMAKE_INSTALL_BINDIR=/opt/bin, relative to the prefix, as
# packaging/install-tree needs them.
foreach(directory BINDIR SBINDIR DATADIR MANDIR DOCDIR)
  set(name CMAKE_INSTALL_${directory})
  if(IS_ABSOLUTE "${${name}}")
    file(RELATIVE_PATH ${name} "${CMAKE_INSTALL_PREFIX}" "${${name}}")
  endif()
  if(${name} MATCHES "^\\.\\.(/|$)")
    message(FATAL_ERROR "${name} must be below CMAKE_INSTALL_PREFIX, ${CMAKE_INSTALL_PREFIX}")
  endif()
endforeach()
