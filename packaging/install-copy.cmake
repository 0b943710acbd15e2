# SPDX-License-Identifier: MIT
# Part of install.cmake: copies the files below STAGE.
# One by one: TYPE DIRECTORY would set the modes of directories that exist, such as a private home directory.
file(GLOB_RECURSE paths LIST_DIRECTORIES true RELATIVE ${STAGE} ${STAGE}/*)
foreach(path . ${paths}) # sorted: a directory comes before what is in it
  set(directory $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${path})
  if(NOT IS_DIRECTORY ${STAGE}/${path})
    get_filename_component(parent ${path} DIRECTORY)
    file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/${parent} TYPE FILE USE_SOURCE_PERMISSIONS FILES ${STAGE}/${path})
  elseif(NOT IS_DIRECTORY ${directory})
    file(MAKE_DIRECTORY ${directory})
    file(CHMOD ${directory} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
