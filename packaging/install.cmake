# SPDX-License-Identifier: MIT
# Run by `cmake --install` and cpack: lays out the files with packaging/install-tree and copies them.  To install a build with
# another prefix than the configured one: cmake -DTCPSCALER_PROGRAM_PREFIX=... -P cmake_install.cmake.
string(RANDOM LENGTH 12 random) # several may run at once
set(stage ${TCPSCALER_BINARY_DIR}/install-${random})
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
file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX} TYPE DIRECTORY USE_SOURCE_PERMISSIONS FILES ${stage}/)
file(REMOVE_RECURSE ${stage})
