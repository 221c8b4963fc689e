/*
 * Which of the jumps that trainings make a finding is.
 */
#ifndef GPULEAK_REPORT_OCCASION_H
#define GPULEAK_REPORT_OCCASION_H

#include "report/findings.h"
#include "report/snapshot.h"

/* "made by the first optimizer step"; NULL where nothing tells, or it is no JUMP. */
const char *occasion_text(const struct finding *finding, const struct snapshot *snapshot);

#endif
