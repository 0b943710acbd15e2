# SPDX-License-Identifier: MIT
# Run by `cmake --install` and cpack: lays out the files with packaging/install-tree and copies them.  To install a build with
# another prefix than the configured one: cmake -DTCPSCALER_PROGRAM_PREFIX=... -P cmake_install.cmake.
string(RANDOM LENGTH 12 random) # several may run at once
set(stage ${TCPSCALER_BINARY_DIR}/install-${random})
set(ENV{BUILD} ${TCPSCALER_BINARY_DIR})
foreach(directory BINDIR SBINDIR DATADIR MANDIR DOCDIR)
  set(ENV{${directory}} ${TCPSCALER_${directory}})
endforeach()
execute_process(COMMAND ${TCPSCALER_SOURCE_DIR}/packaging/install-tree ${stage} "${TCPSCALER_PROGRAM_PREFIX}" ${TCPSCALER_PROGRAMS}
                COMMAND_ERROR_IS_FATAL ANY)
if(CMAKE_INSTALL_DO_STRIP)
  foreach(program ${TCPSCALER_PROGRAMS})
    get_filename_component(name ${program} NAME)
    execute_process(COMMAND ${TCPSCALER_STRIP} ${stage}/${TCPSCALER_BINDIR}/${TCPSCALER_PROGRAM_PREFIX}${name}
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()
# One by one: TYPE DIRECTORY would set the modes of directories that exist, such as a private home directory.
file(GLOB_RECURSE paths LIST_DIRECTORIES true RELATIVE ${stage} ${stage}/*)
foreach(path . ${paths}) # sorted: a directory comes before what is in it
  set(directory $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${path})
  if(NOT IS_DIRECTORY ${stage}/${path})
    get_filename_component(parent ${path} DIRECTORY)
    file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/${parent} TYPE FILE USE_SOURCE_PERMISSIONS FILES ${stage}/${path})
  elseif(NOT IS_DIRECTORY ${directory})
    file(MAKE_DIRECTORY ${directory})
    file(CHMOD ${directory} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
file(REMOVE_RECURSE ${stage})
