/* For those with four doubles to a register, and products and sums in one instruction. */
#include "compute.h"

#ifdef RITZ_AVX2
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define COMPUTE compute_avx2
#include "compute.inc.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int nothing_here;
#endif
