/* agent.py as text, generated at build time.  Ends in a NUL. */
#ifndef GPULEAK_TRACER_AGENT_TEXT_H
#define GPULEAK_TRACER_AGENT_TEXT_H

extern const char agent_text[];

#endif
