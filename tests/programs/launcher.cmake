# The launcher, with stand-ins for the parts that it starts.
add_library(launcher_stand_in MODULE "${CMAKE_CURRENT_LIST_DIR}/launcher_stand_in.c")
target_link_libraries(launcher_stand_in PRIVATE gpuleak_build)
add_library(static_tls MODULE "${CMAKE_CURRENT_LIST_DIR}/static_tls.c")
target_link_libraries(static_tls PRIVATE gpuleak_build)

find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)
foreach(name run signals)
  add_test(NAME launcher.${name}
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/launcher_${name}.py"
      "$<TARGET_FILE:gpuleak_launcher>" "$<TARGET_FILE:launcher_stand_in>")
  set_tests_properties(launcher.${name} PROPERTIES LABELS launcher TIMEOUT 300)
endforeach()

# Options, variables, functions: the code, --help and the man pages name the same.
add_test(NAME launcher.help_agrees
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/help_agrees.py"
    --source "${PROJECT_SOURCE_DIR}"
    --launcher "$<TARGET_FILE:gpuleak_launcher>"
    --report "${CMAKE_BINARY_DIR}/gpuleak-report")
set_tests_properties(launcher.help_agrees PROPERTIES LABELS launcher TIMEOUT 300)

# The launcher with the real parts, on real PyTorch; 77 where that isn't there.
set(launcher_python "")
if(GPULEAK_PYTHON)
  set(launcher_python --python "${GPULEAK_PYTHON}")
endif()
foreach(name leak no_leak suppressions baseline program_that_fails program_that_is_killed
    yesterdays_trace_and_no_gpu_today memory_and_devices several_processes without_the_tracer
    program_that_changes_its_folder program_started_elsewhere
    stand_ins_by_preload preloaded_library_with_many_variables build_folder_with_a_space check)
  add_test(NAME launcher.${name}
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/launcher_training.py"
      --build "${CMAKE_BINARY_DIR}" ${launcher_python} ${name})
  set_tests_properties(launcher.${name} PROPERTIES
    LABELS launcher TIMEOUT 300 SKIP_RETURN_CODE 77)
endforeach()

# README.md shows what the demo prints.
add_test(NAME launcher.readme
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/readme_agrees.py"
    --build "${CMAKE_BINARY_DIR}" ${launcher_python})
set_tests_properties(launcher.readme PROPERTIES LABELS launcher TIMEOUT 300 SKIP_RETURN_CODE 77)


# docs/verdicts.md shows what the report says of each of its examples.
add_test(NAME launcher.verdicts
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/verdicts_agree.py"
    --build "${CMAKE_BINARY_DIR}" ${launcher_python})
set_tests_properties(launcher.verdicts PROPERTIES
  LABELS launcher TIMEOUT 300 SKIP_RETURN_CODE 77)
