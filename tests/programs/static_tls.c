/*
 * A library that must have its thread-local variables in the memory that every thread has from its
 * start, and as many of them as jemalloc 5.3 has.
 */
static _Thread_local char variables[2632] __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) char *static_tls_variables(void);

char *static_tls_variables(void)
{
	return variables;
}
