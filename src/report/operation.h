/*
 * The operation of a backward pass that a native stack runs, as PyTorch's graph calls
 * it: "ConvolutionBackward0".  Each is a class torch::autograd::generated::... whose
 * apply() the engine calls (torch/csrc/autograd/engine.cpp, call_function()).
 */
#ifndef GPULEAK_REPORT_OPERATION_H
#define GPULEAK_REPORT_OPERATION_H

#include "report/names.h"

/* Of a function's raw name; empty when it is no operation's. */
struct text operation_of(struct text symbol);

#endif
