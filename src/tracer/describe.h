/*
 * What the agent knows of the run, written into the trace.
 */
#ifndef GPULEAK_TRACER_DESCRIBE_H
#define GPULEAK_TRACER_DESCRIBE_H

/* One fact by its name in agent.py; unknown names are ignored.  Any thread. */
void describe_put(const char *name, const char *text);

/* What the process itself tells: pid, host, arguments, folder.  Once, before recording. */
void describe_process(void);

#endif
