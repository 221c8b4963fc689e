# The tracer's modules, each by itself.
set(tracer "${PROJECT_SOURCE_DIR}/src/tracer")

gpuleak_unit_test(tracer_blocks tracer_blocks.c ${tracer}/blocks.c ${tracer}/memory.c)
gpuleak_unit_test(tracer_ring tracer_ring.c ${tracer}/ring.c)
gpuleak_unit_test(tracer_lock tracer_lock.c ${tracer}/lock.c)
gpuleak_unit_test(tracer_map tracer_map.c ${tracer}/map.c ${tracer}/memory.c)
gpuleak_unit_test(tracer_clock tracer_clock.c ${tracer}/clock.c ${tracer}/map.c ${tracer}/memory.c)
gpuleak_unit_test(tracer_turns tracer_turns.c ${tracer}/turns.c ${tracer}/turns_leading.c
  ${tracer}/lock.c)
gpuleak_unit_test(tracer_timeline tracer_timeline.c ${tracer}/timeline.c)
gpuleak_unit_test(tracer_evidence tracer_evidence.c ${tracer}/evidence.c)
gpuleak_unit_test(tracer_teeth tracer_teeth.c ${tracer}/teeth.c)
gpuleak_unit_test(tracer_claim tracer_claim.c ${tracer}/output_claim.c ${tracer}/output_folder.c
  ${tracer}/output_name.c
  ${tracer}/settings.c)
gpuleak_unit_test(trace_layout trace_layout.c LIBS gpuleak_trace)
gpuleak_unit_test(trace_sound trace_sound.c LIBS gpuleak_trace)

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  gpuleak_unit_test(native_walk native_walk.c ${tracer}/native_walk.c ${tracer}/native_memo.c ${tracer}/native_bytes.c ${tracer}/native_cfi.c
    ${tracer}/native_loader.c ${tracer}/native_modules.c ${tracer}/native_symbols.c ${tracer}/native_elf.c
    ${tracer}/python_probe.c ${tracer}/memory.c LIBS ${CMAKE_DL_LIBS})
endif()
