/*
 * Native frames as the trace has them: module, offset and build id at once, the function's
 * name later.
 */
#ifndef GPULEAK_TRACER_NATIVE_NAMES_H
#define GPULEAK_TRACER_NATIVE_NAMES_H

#include "trace/format.h"

/* All but its name.  Takes loader_lock and intern_lock; keeps errno. */
void native_names_frame(const void *address, struct gpuleak_frame *frame);

/*
 * Give at most `most` frames of the trace their functions' names.  One whose library is gone
 * stays without, whatever lies there now.  Slow: never in a torch hook.
 */
void native_names_give(unsigned most);

#endif
