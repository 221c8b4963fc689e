/*
 * What a library in somebody else's process must not call doesn't compile.
 * Included last, after the system's headers.
 */
#ifndef GPULEAK_TRACER_BANNED_H
#define GPULEAK_TRACER_BANNED_H

#pragma GCC poison abort exit _exit quick_exit assert
#pragma GCC poison printf fprintf vfprintf puts fputs fopen fwrite perror
#pragma GCC poison malloc calloc realloc strdup
#pragma GCC poison strcpy strcat sprintf
#ifndef GPULEAK_LOOKS_UP
#pragma GCC poison dlopen dlsym dladdr /* but in the files that look up, at a safe moment */
#endif

#endif
