# The stack walkers: native ones in C, Python's on each interpreter of this machine.
get_directory_property(walker_sources DIRECTORY "${PROJECT_SOURCE_DIR}/src/tracer" DEFINITION stack_sources)
list(APPEND walker_sources memory.c)
list(TRANSFORM walker_sources PREPEND "${PROJECT_SOURCE_DIR}/src/tracer/")

# As they are in the tracer, and with the sanitizer of the build, if it has one.
add_library(walkers OBJECT ${walker_sources})
target_link_libraries(walkers PRIVATE gpuleak_build)
set(checked_walkers $<TARGET_OBJECTS:walkers>)
if(GPULEAK_SANITIZE)
  add_library(walkers_checked OBJECT ${walker_sources})
  target_link_libraries(walkers_checked PRIVATE gpuleak_build gpuleak_checked)
  set(checked_walkers $<TARGET_OBJECTS:walkers_checked>)
endif()

add_library(pyframes_library MODULE "${CMAKE_CURRENT_SOURCE_DIR}/pyframes_library.c")
target_link_libraries(pyframes_library PRIVATE gpuleak_build)

gpuleak_unit_test(pyframes_native "${CMAKE_CURRENT_SOURCE_DIR}/pyframes_native.c" ${checked_walkers}
  LIBS ${CMAKE_DL_LIBS})
target_compile_definitions(test_pyframes_native PRIVATE
  PYFRAMES_LIBRARY="$<TARGET_FILE:pyframes_library>")
set_target_properties(test_pyframes_native PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(test_pyframes_native pyframes_library)

gpuleak_unit_test(pyframes_parts "${CMAKE_CURRENT_SOURCE_DIR}/pyframes_parts.c" ${checked_walkers}
  LIBS ${CMAKE_DL_LIBS})

gpuleak_unit_test(pyframes_fake "${CMAKE_CURRENT_SOURCE_DIR}/pyframes_fake.c"
  "${CMAKE_CURRENT_SOURCE_DIR}/pyframes_interpreter.c" ${checked_walkers}
  LIBS ${CMAKE_DL_LIBS})
set_target_properties(test_pyframes_fake PROPERTIES ENABLE_EXPORTS ON)

# The rest are programs and unmodified interpreters without a sanitizer's run-time.
if(GPULEAK_SANITIZE)
  return()
endif()

add_executable(test_pyframes_embed "${CMAKE_CURRENT_SOURCE_DIR}/pyframes_embed.c"
  $<TARGET_OBJECTS:walkers>)
target_link_libraries(test_pyframes_embed PRIVATE gpuleak_build ${CMAKE_DL_LIBS})
target_include_directories(test_pyframes_embed PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")

# Printed, never judged: run by hand, as pyframes_bench.py is.
add_executable(pyframes_native_bench "${CMAKE_CURRENT_SOURCE_DIR}/pyframes_native_bench.c"
  $<TARGET_OBJECTS:walkers>)
target_link_libraries(pyframes_native_bench PRIVATE gpuleak_build ${CMAKE_DL_LIBS})
target_include_directories(pyframes_native_bench PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")

add_library(pyframes_hook MODULE "${CMAKE_CURRENT_SOURCE_DIR}/pyframes_hook.c"
  $<TARGET_OBJECTS:walkers>)
target_link_libraries(pyframes_hook PRIVATE gpuleak_build)

# By default pyenv's, whose names on PATH run the chosen version alone.
file(GLOB pyenv_pythons "$ENV{HOME}/.pyenv/versions/3.*/bin/python3")
list(FILTER pyenv_pythons INCLUDE REGEX "/3\\.([89]|[1-9][0-9])\\.[0-9]+/")
set(GPULEAK_PYFRAMES_PYTHONS "${pyenv_pythons}" CACHE STRING
  "More interpreters to test the Python stacks and the agent on")
set(interpreters ${GPULEAK_PYFRAMES_PYTHONS})
foreach(name python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 python3.15)
  find_program(PYFRAMES_${name} ${name})
  mark_as_advanced(PYFRAMES_${name})
  if(PYFRAMES_${name})
    list(APPEND interpreters "${PYFRAMES_${name}}")
  endif()
endforeach()

# One test for each version that runs; a name on PATH may be an empty promise.
set(seen "")
set(ask_python "
import ctypes, os, platform, sys, sysconfig
print(platform.python_version(), sys.base_prefix,
  os.path.join(sysconfig.get_config_var('LIBDIR'), sysconfig.get_config_var('INSTSONAME')), sep=';')")
foreach(interpreter IN LISTS interpreters)
  execute_process(COMMAND "${interpreter}" -c "${ask_python}"
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    continue()
  endif()
  list(GET answer 0 version)
  list(GET answer 1 home)
  list(GET answer 2 libpython)
  if(version IN_LIST seen)
    continue()
  endif()
  list(APPEND seen "${version}")
  foreach(part check code collect exit)
    add_test(NAME unit.pyframes_${part}_${version} COMMAND "${interpreter}"
      "${CMAKE_CURRENT_SOURCE_DIR}/pyframes_${part}.py" "$<TARGET_FILE:pyframes_hook>")
    set_tests_properties(unit.pyframes_${part}_${version} PROPERTIES
      LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77)
  endforeach()
  if(libpython MATCHES "\\.so" AND EXISTS "${libpython}")
    add_test(NAME unit.pyframes_embed_${version} COMMAND test_pyframes_embed "${libpython}")
    set_tests_properties(unit.pyframes_embed_${version} PROPERTIES
      LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT "PYTHONHOME=${home}")
  endif()
endforeach()
if(NOT seen)
  add_test(NAME unit.pyframes COMMAND sh -c "echo no Python here; exit 77")
  set_tests_properties(unit.pyframes PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
endif()
