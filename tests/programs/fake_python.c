/* Preloaded into Python: it says that it is a version that nobody knows yet. */
__attribute__((visibility("default"))) const char *Py_GetVersion(void);

const char *Py_GetVersion(void)
{
	return "3.99.1 (made up, Jan  1 2042, 00:00:00) [GCC 42.1.0]";
}
