# In a build with sanitizers: programs that have the tracer in them instead of having it preloaded, since a
# sanitizer's run-time doesn't belong into the preloaded library.  Their hooks stand before the
# stand-ins' functions all the same.
if(NOT GPULEAK_SANITIZE)
  return()
endif()

find_package(CudaHeaders REQUIRED)
set(tracer_folder "${PROJECT_SOURCE_DIR}/src/tracer")
get_directory_property(checked_sources DIRECTORY "${tracer_folder}" DEFINITION tracer_sources)
get_directory_property(checked_stack DIRECTORY "${tracer_folder}" DEFINITION stack_sources)
get_directory_property(checked_agent DIRECTORY "${tracer_folder}" DEFINITION agent_c)
list(APPEND checked_sources ${checked_stack})
list(TRANSFORM checked_sources PREPEND "${tracer_folder}/")
set_source_files_properties("${checked_agent}" PROPERTIES GENERATED TRUE)
add_library(gpuleak_checked_tracer OBJECT ${checked_sources} "${checked_agent}")
add_dependencies(gpuleak_checked_tracer gpuleak_agent_text)
target_link_libraries(gpuleak_checked_tracer PRIVATE gpuleak_build gpuleak_checked CUDA::headers)
target_compile_definitions(gpuleak_checked_tracer PRIVATE SLOTS_FINISH_MS=30000)

# gpuleak_checked_target(NAME source...): as target_NAME.
function(gpuleak_checked_target name)
  get_target_property(libraries target_${name} LINK_LIBRARIES)
  add_executable(checked_${name} ${ARGN} $<TARGET_OBJECTS:gpuleak_checked_tracer>)
  target_link_libraries(checked_${name} PRIVATE gpuleak_checked ${libraries} ${CMAKE_DL_LIBS})
  set_target_properties(checked_${name} PROPERTIES
    OUTPUT_NAME ${name} ENABLE_EXPORTS ON
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/checked")
  add_dependencies(unit_tests checked_${name} gpuleak-report)
endfunction()

gpuleak_checked_target(replay replay.c replay_sizes.c leaf_calls.c site_stack.c)
gpuleak_checked_target(passing passing.c)
gpuleak_checked_target(threads threads.c site_stack.c)

# gpuleak_checked_test(FILE writer test...)
function(gpuleak_checked_test file writer)
  add_test(NAME tracer.checked.${writer}_${file}
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/${file}.py"
      --build "${CMAKE_BINARY_DIR}" --writer ${writer} --checked ${ARGN})
  set_tests_properties(tracer.checked.${writer}_${file} PROPERTIES
    LABELS "unit;tracer" TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT
    "TSAN_OPTIONS=history_size=7:suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tsan.txt;UBSAN_OPTIONS=print_stacktrace=1")
endfunction()

foreach(writer mapped slots)
  gpuleak_checked_test(books ${writer})
  gpuleak_checked_test(limits ${writer})
  gpuleak_checked_test(harmless ${writer}
    calls_pass_through threads threads_and_devices)
endforeach()
