# Finds the headers of the CUDA runtime (12 or 13) and of CUPTI: in a toolkit, or in NVIDIA's Python
# packages as scripts/setup.sh unpacks them.
#
#   find_package(CudaHeaders REQUIRED)
#   target_link_libraries(mine PRIVATE CUDA::headers)	# SYSTEM includes, nothing to link
#
# Sets CudaHeaders_INCLUDE_DIRS and CudaHeaders_VERSION (13.0). -DCudaHeaders_ROOT=DIR, or CUDA_HOME
# or CUDA_PATH in the environment, is looked at first. `cmake -P cmake/FindCudaHeaders.cmake` prints
# the folder, or fails.

cmake_minimum_required(VERSION 3.22)

function(cuda_headers_candidates out)
  set(found "")
  foreach(named IN ITEMS "${CudaHeaders_ROOT}" "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}")
    if(named)
      list(APPEND found "${named}")
    endif()
  endforeach()
  find_program(nvcc nvcc NO_CACHE)
  if(nvcc)
    get_filename_component(nvcc "${nvcc}" REALPATH)
    get_filename_component(nvcc "${nvcc}" DIRECTORY)
    get_filename_component(nvcc "${nvcc}" DIRECTORY)
    list(APPEND found "${nvcc}")
  endif()
  list(APPEND found /usr/local/cuda /usr/lib/cuda /usr)
  if(DEFINED ENV{XDG_CACHE_HOME})
    list(APPEND found "$ENV{XDG_CACHE_HOME}/gpuleak/cuda-headers")
  endif()
  list(APPEND found "$ENV{HOME}/.cache/gpuleak/cuda-headers")
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# The version and the folders of the headers under `root`; empty when they are not all there or
# older than CUDA 12.
function(cuda_headers_look root out_version out_folders)
  set(${out_version} "" PARENT_SCOPE)
  set(folder "${root}/include")
  if(NOT EXISTS "${folder}/cuda_runtime_api.h" OR NOT EXISTS "${folder}/crt/host_defines.h")
    return()
  endif()
  set(folders "${folder}")
  if(NOT EXISTS "${folder}/cupti.h")
    if(NOT EXISTS "${root}/extras/CUPTI/include/cupti.h")
      return()
    endif()
    list(APPEND folders "${root}/extras/CUPTI/include")
  endif()
  file(STRINGS "${folder}/cuda_runtime_api.h" line
    REGEX "#define +CUDART_VERSION +[0-9]+" LIMIT_COUNT 1)
  if(NOT line MATCHES "CUDART_VERSION +([0-9]+)" OR CMAKE_MATCH_1 LESS 12000)
    return()
  endif()
  math(EXPR major "${CMAKE_MATCH_1} / 1000")
  math(EXPR minor "${CMAKE_MATCH_1} % 1000 / 10")
  set(${out_version} "${major}.${minor}" PARENT_SCOPE)
  set(${out_folders} "${folders}" PARENT_SCOPE)
endfunction()

set(CudaHeaders_VERSION "")
set(CudaHeaders_INCLUDE_DIRS "")
cuda_headers_candidates(cuda_headers_roots)
foreach(root IN LISTS cuda_headers_roots)
  cuda_headers_look("${root}" CudaHeaders_VERSION CudaHeaders_INCLUDE_DIRS)
  if(CudaHeaders_VERSION)
    break()
  endif()
endforeach()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  if(NOT CudaHeaders_VERSION)
    message(FATAL_ERROR "no CUDA headers")
  endif()
  message("CUDA ${CudaHeaders_VERSION} headers in ${CudaHeaders_INCLUDE_DIRS}")
  return()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CudaHeaders
  REQUIRED_VARS CudaHeaders_INCLUDE_DIRS VERSION_VAR CudaHeaders_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup.sh, or set CUDA_HOME to a CUDA 12 or 13 toolkit")

if(CudaHeaders_FOUND AND NOT TARGET CUDA::headers)
  add_library(CUDA::headers INTERFACE IMPORTED)
  set_target_properties(CUDA::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${CudaHeaders_INCLUDE_DIRS}")
endif()
