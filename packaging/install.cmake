# SPDX-License-Identifier: MIT
# Run by `cmake --install` and cpack: lays out the files with packaging/install-tree and copies them.  To install a build with
# another prefix than the configured one: cmake -DTCPSCALER_PROGRAM_PREFIX=... -P cmake_install.cmake.
string(RANDOM LENGTH 12 random) # several may run at once
set(stage ${TCPSCALER_BINARY_DIR}/install-${random})
set(ENV{BUILD} ${TCPSCALER_BINARY_DIR})
foreach(directory BINDIR SBINDIR DATADIR MANDIR DOCDIR)
  set(ENV{${directory}} ${TCPSCALER_${directory}})
endforeach()
macro(check_that_it_worked)
  if(failed)
    file(REMOVE_RECURSE ${stage})
    message(FATAL_ERROR "installation failed: ${failed}")
  endif()
endmacro()

execute_process(COMMAND ${TCPSCALER_SOURCE_DIR}/packaging/install-tree ${stage} "${TCPSCALER_PROGRAM_PREFIX}" ${TCPSCALER_PROGRAMS}
                RESULT_VARIABLE failed)
check_that_it_worked()
if(CMAKE_INSTALL_DO_STRIP)
  foreach(program ${TCPSCALER_PROGRAMS})
    get_filename_component(name ${program} NAME)
    execute_process(COMMAND ${TCPSCALER_STRIP} ${stage}/${TCPSCALER_BINDIR}/${TCPSCALER_PROGRAM_PREFIX}${name}
                    RESULT_VARIABLE failed)
    check_that_it_worked()
  endforeach()
endif()
# a process of its own: a copy that fails is the end of the script
execute_process(COMMAND ${CMAKE_COMMAND} -DSTAGE=${stage} -DCMAKE_INSTALL_PREFIX=${CMAKE_INSTALL_PREFIX}
                        -P ${CMAKE_CURRENT_LIST_DIR}/install-copy.cmake
                RESULT_VARIABLE failed)
check_that_it_worked()
file(GLOB_RECURSE paths RELATIVE ${stage} ${stage}/*)
list(TRANSFORM paths PREPEND ${CMAKE_INSTALL_PREFIX}/)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${paths})
file(REMOVE_RECURSE ${stage})
