/* A library to be loaded with RTLD_LOCAL: what it exports is in nobody's scope. */
__attribute__((visibility("default"))) unsigned pyframes_only_here(unsigned (*call)(void));

unsigned pyframes_only_here(unsigned (*call)(void))
{
	unsigned result = call();

	/* Not a tail call: this function has to stay on the stack. */
	__asm__ volatile("");
	return result;
}
