/*
 * Stands in for the tracer and for the audit library of the simulated GPU: it is
 * loaded, and that is all the launcher has to bring about.
 */
#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned int la_version(unsigned int version);

EXPORT unsigned int la_version(unsigned int version)
{
	return version;
}
