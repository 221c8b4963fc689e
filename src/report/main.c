/*
 * gpuleak-report: reads traces, says what they mean.
 */
#include "report/run.h"

int main(int argc, char **argv)
{
	return report_run(argc, argv);
}
