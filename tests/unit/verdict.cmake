# The verdict engine and the statistics it lives on.
gpuleak_unit_test(verdict_evidence verdict_evidence.c "${PROJECT_SOURCE_DIR}/src/tracer/evidence.c")
