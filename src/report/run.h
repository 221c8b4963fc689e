/*
 * The whole program but its start: from the command line to the exit code.
 */
#ifndef GPULEAK_REPORT_RUN_H
#define GPULEAK_REPORT_RUN_H

/* Print the report, on stdout, and what is wrong, on stderr.  Returns the exit code. */
int report_run(int argc, char **argv);

#endif
