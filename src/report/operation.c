#include "report/operation.h"

#include "report/demangle.h"

struct text operation_of(struct text symbol)
{
	static const char start[] = "_ZN5torch8autograd";
	struct text class = {0}, part;

	if (!text_begins(symbol, start))
		return class;
	symbol.bytes += sizeof(start) - 1;
	symbol.size -= sizeof(start) - 1;
	while (demangle_part(&symbol, &part)) {
		if (text_is(part, "apply"))
			return class;
		class = part;
	}
	return (struct text){0};
}
