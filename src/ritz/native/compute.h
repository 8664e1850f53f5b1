/* What is computed in C: from rows and centers to sums, without Python in between.
 *
 * The same source is compiled for each set of instructions (see compute.inc.h); a table of functions
 * is chosen when the module is loaded. Nothing here looks at sizes: module.c does.
 */
#ifndef RITZ_COMPUTE_H
#define RITZ_COMPUTE_H

#include <stddef.h>
#include <stdint.h>

/* What a kernel yields at a row: values, values less an offset, slopes, and slopes times squared
 * distances. */
enum { VALUES, SHIFTED, SLOPES, STRETCHED, SECTIONS };

enum { GAUSSIAN, MATERN, POLYNOMIAL, KERNELS };

/* A kernel at centers. */
typedef struct {
    int64_t kernel;
    int64_t columns;       /* coordinates */
    int64_t width;         /* centers */
    const double *centers; /* (columns, width) */
    const double *offset;  /* (width), or NULL where it is not needed */
    const double *a, *b;   /* coefficients of the kernel */
} Kernel;

/* Rows to be added up, fold after fold. */
typedef struct {
    const double *frame;  /* what to take off the rows and to divide them by (2, columns) */
    const double *X;      /* (n, columns) */
    const double *weight; /* of the rows to be added, in their order */
    const int64_t *rows;  /* their numbers */
    int64_t folds;
    const int64_t *ends; /* those of fold f are from ends[f] to ends[f + 1] */
} Rows;

/* Which sections to multiply, and where to add the products. */
typedef struct {
    int wanted[SECTIONS];
    int64_t products;
    const int64_t *pairs; /* (products, 2) */
    int halves;           /* whether of squares the lower triangle is enough */
    int64_t tile;         /* how many rows at once */
    /* Of each fold the addresses of its products, and of its sums of columns (SECTIONS, width). */
    const int64_t *targets;
} Products;

/* A few rows, and the sums of a form over them: see few.inc.h. */
typedef struct {
    int64_t n, columns, folds, size; /* rows, coordinates, folds, and functions */
    const double *X, *weight, *scale;
    uint64_t seed; /* mixed into hashes of rows, for the choice of centers */
    int64_t kernel;
    const double *a, *b;
    int64_t pilot, enough;
    double *centers, *offset; /* (size, columns) and (size) */
    double *weights;          /* (folds) */
    int64_t *counts;          /* (folds) */
    double *L, *Phi;          /* (folds, 1 + size, 1 + size) */
} Few;

/* The eigenvalue problem of few functions, and its solution: see solve.inc.h. */
typedef struct {
    int64_t size, folds, k;
    int squares;           /* whether sums are of squares, none taken off */
    double weight;         /* of all rows */
    const double *L, *Phi; /* sums (folds, 1 + size, 1 + size) */
    const double *offset;  /* (size), what was taken off the functions before */
    double *means;         /* (size) */
    double *values, *constants, *residuals; /* (k) */
    double *coefficients;                   /* (size, k) */
} Problem;

/* What of the linear algebra library is used. All arguments are addresses, integers of 32 bits. */
typedef const char *Letter;
typedef const int *Int;
typedef const void *Reals;
typedef void (*Gemm)(Letter, Letter, Int, Int, Int, Reals, Reals, Int, Reals, Int, Reals, void *, Int);
typedef void (*Syrk)(Letter, Letter, Int, Int, Reals, Reals, Int, Reals, void *, Int);
typedef void (*Gemv)(Letter, Int, Int, Reals, Reals, Int, Reals, Int, Reals, void *, Int);
typedef void (*Potrf)(Letter, Int, double *, Int, int *);
typedef void (*Trtri)(Letter, Letter, Int, double *, Int, int *);
typedef void (*Syevd)(Letter, Letter, Int, double *, Int, double *, double *, Int, int *, Int,
                      int *);
typedef void (*Sygvd)(Int, Letter, Letter, Int, double *, Int, double *, Int, double *, double *,
                      Int, int *, Int, int *);
typedef struct {
    Gemm dgemm, sgemm;
    Syrk dsyrk, ssyrk;
    Gemv dgemv, sgemv;
    Potrf dpotrf;
    Trtri dtrtri;
    Syevd dsyevd;
    Sygvd dsygvd;
} Library;

/* Room that a tile of rows takes, in numbers of the type of the sums, and in doubles. */
#define ROOM_OF_TILE(tile, width) ((SECTIONS * (tile) + SECTIONS) * (width) + (tile) + 1)
#define ROOM_OF_POINTS(tile, columns, width) ((tile) * (columns) + ROOM_OF_PASS(width))
#define ROOM_OF_PASS(width) (8 * (width))

typedef struct {
    void (*fill_double)(const Kernel *, int64_t n, const double *S, const double *X,
                        double *const out[SECTIONS], double *sums, double *room);
    void (*fill_single)(const Kernel *, int64_t n, const double *S, const double *X,
                        float *const out[SECTIONS], float *sums, double *room);
    void (*add_double)(const Kernel *, const Rows *, const Products *, const Library *,
                       double *sections, double *points);
    void (*add_single)(const Kernel *, const Rows *, const Products *, const Library *,
                       float *sections, double *points);
    void (*empty_double)(int64_t size, int64_t width, int lower, double *some, double *total);
    void (*empty_single)(int64_t size, int64_t width, int lower, float *some, double *total);
    void (*differences)(int64_t n, int64_t d, int64_t p, const double *X, const double *Y,
                        double *S, double *room);
    void (*squares)(int64_t n, int64_t d, int64_t p, double *G, const double *X, const double *Y,
                    const double *x2, const double *y2);
    void (*join)(int64_t folds, int64_t p, double unit, const double *V, const double *h, double *M,
                 const double *s, const double *E, const double *c);
    void (*cosines)(int64_t n, const double *angles, int64_t turns, double scale, double *result);
    void (*fold_in)(int64_t n, int64_t d, uint64_t *keys, const double *numbers);
    int64_t (*lowest)(int64_t n, const uint64_t *priority, int64_t m, int64_t *places);
    void (*by_remainder)(int64_t n, int64_t folds, const uint64_t *keys, int64_t *order,
                         int64_t *ends);
    int (*sum_few)(const Few *, const Library *);
    int64_t (*solve_few)(const Problem *, const Library *);
} Compute;

extern const Compute compute_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
#define RITZ_AVX2 1
extern const Compute compute_avx2;
#endif

#endif
