/* All that is computed, for one set of instructions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute.h"

#if defined(_MSC_VER)
#define RESTRICT __restrict
#else
#define RESTRICT restrict
#endif

#if defined(__GNUC__)
/* Four numbers at once, wherever they are; two and two where registers are shorter. */
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
#endif

/* Before a loop none of whose steps needs what another one wrote. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

#include "rows.inc.h"

#include "profiles.inc.h"

#include "matrices.inc.h"

#define REAL double
#define OF(name) name##_double
#define GEMM dgemm
#define SYRK dsyrk
#define GEMV dgemv
#include "sections.inc.h"
#include "tiles.inc.h"
#undef REAL
#undef OF
#undef GEMM
#undef SYRK
#undef GEMV

#define REAL float
#define OF(name) name##_single
#define GEMM sgemm
#define SYRK ssyrk
#define GEMV sgemv
#include "sections.inc.h"
#include "tiles.inc.h"
#undef REAL
#undef OF
#undef GEMM
#undef SYRK
#undef GEMV

#include "few.inc.h"
#include "solve.inc.h"

const Compute COMPUTE = {
    fill_double, fill_single, add_double, add_single, empty_double, empty_single, differences,
    squares,     join,        cosines,    fold_in,    lowest,       by_remainder, sum_few,
    solve_few,
};
