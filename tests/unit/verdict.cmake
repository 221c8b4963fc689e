# The verdict engine and the statistics it lives on.
set(evidence "${PROJECT_SOURCE_DIR}/src/tracer/evidence.c")
gpuleak_unit_test(verdict_evidence verdict_evidence.c ${evidence})
if(TARGET gpuleak_reader)
  gpuleak_unit_test(verdict_site verdict_site.c ${evidence} LIBS gpuleak_reader)
  gpuleak_unit_test(verdict_device verdict_device.c ${evidence} LIBS gpuleak_reader)
  gpuleak_unit_test(verdict_host verdict_host.c LIBS gpuleak_reader m)
  gpuleak_unit_test(verdict_bytes verdict_bytes.c ${evidence} LIBS gpuleak_reader m)
endif()
