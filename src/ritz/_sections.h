/* Kernel sections and hashes of rows, written so that compilers vectorize the loops. */
#ifndef RITZ_SECTIONS_H
#define RITZ_SECTIONS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* GCC compiles each function marked so twice and chooses when the module is loaded. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && defined(__linux__)
#define RITZ_DISPATCH __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define RITZ_DISPATCH
#endif
#if defined(_MSC_VER)
#define restrict __restrict
#endif

/* Adding this number rounds to an integer, which then occupies the lowest bits of the sum. */
#define SHIFTER 6755399441055744.0
#define LOG2_E 1.4426950408889634
#define LN2_HIGH 0.693147180369123816490
#define LN2_LOW 1.90821492927058770002e-10
#define UNDERFLOW_AT 708.0

static inline uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* exp(-x) for x >= 0 within two units in the last place, and zero beyond 708.
 *
 * exp(-x) = 2^k exp(r) with |r| <= ln 2 / 2, where exp(r) is a polynomial of degree 11 (relative error
 * 3e-17) and k is added to the exponent bits. There is no branch and no call, so loops vectorize. */
static inline double exp_minus(double x)
{
    const double y = x < UNDERFLOW_AT ? -x : -UNDERFLOW_AT;
    const double t = y * LOG2_E + SHIFTER;
    const double k = t - SHIFTER;
    const double r = (y - k * LN2_HIGH) - k * LN2_LOW;
    const double r2 = r * r, r4 = r2 * r2;
    const double low = (1.0 + r) + r2 * (0.5 + r * 0.16666666666666666);
    const double middle = (0.041666666666651364 + r * 0.008333333333332157) +
                          r2 * (0.0013888888905871442 + r * 0.00019841269854330845);
    const double high = (2.4801536408869822e-05 + r * 2.755728008253529e-06) +
                        r2 * (2.7613795662346626e-07 + r * 2.5095546064622e-08);
    const double q = low + r4 * (middle + r4 * high);
    const double result = double_of(bits_of(q) + (bits_of(t) << 52));
    return x <= UNDERFLOW_AT ? result : 0.0;
}

#if defined(__GNUC__)
/* Four numbers, which GCC and clang keep in one register, or in two shorter ones. */
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
#endif

/* Write |x - y_j|^2 for the centers y_j, which are stored as (groups, d, 8). */
static inline void squared_distances(int64_t d, int64_t groups, const double *restrict x,
                                     const double *restrict Y, double *restrict S)
{
    for (int64_t g = 0; g < groups; g++, Y += 8 * d, S += 8) {
#if defined(__GNUC__)
        Four low = {0}, high = {0};
        for (int64_t c = 0; c < d; c++) {
            const Four e = x[c] - *(const Four *)(Y + 8 * c);
            const Four f = x[c] - *(const Four *)(Y + 8 * c + 4);
            low += e * e;
            high += f * f;
        }
        *(Four *)S = low;
        *(Four *)(S + 4) = high;
#else
        double sums[8] = {0};
        for (int64_t c = 0; c < d; c++)
            for (int64_t k = 0; k < 8; k++) {
                const double e = x[c] - Y[8 * c + k];
                sums[k] += e * e;
            }
        memcpy(S, sums, sizeof sums);
#endif
    }
}

/* Where one row of each output goes: values q(u) less the offset, slopes q'(u), and stretched slopes
 * |x - y|^2 q'(u). An output that is not wanted goes to a scratch row, so that loops have no branch. */
typedef struct {
    double *restrict values, *restrict slopes, *restrict stretched;
} Row;

/* q = exp(-s / 2) and q' = -q, for s = |x - y|^2. */
static inline void gaussian_row(int64_t p, const double *restrict s, const double *restrict offset,
                                Row out)
{
    for (int64_t j = 0; j < p; j++) {
        const double q = exp_minus(0.5 * s[j]);
        out.values[j] = q - offset[j];
        out.slopes[j] = -q;
        out.stretched[j] = -s[j] * q;
    }
}

/* q = (a0 + a1 z + a2 z^2) exp(-z) and q' = (b0 + b1 z + b2 / z) exp(-z), for z = a3 |x - y|.
 *
 * The last term of q' is zero at the center itself. Beyond z = 800 the exponential is zero. */
static inline void matern_row(int64_t p, int has_kink, const double *restrict s,
                              const double *restrict offset, const double *restrict a,
                              const double *restrict b, Row out)
{
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], b0 = b[0], b1 = b[1], b2 = b[2];
    for (int64_t j = 0; j < p; j++) {
        const double root = a3 * sqrt(s[j]), z = root < 800.0 ? root : 800.0;
        const double decay = exp_minus(z);
        double slope = b0 + z * b1;
        if (has_kink)
            slope += z > 1e-125 ? b2 / z : 0.0;
        slope *= decay;
        out.values[j] = (a0 + z * (a1 + z * a2)) * decay - offset[j];
        out.slopes[j] = slope;
        out.stretched[j] = s[j] * slope;
    }
}

/* Write the sections of n rows, from squared distances S (n, p) or, where S is NULL, from the
 * coordinates of the rows X (n, d) and of the centers Y (groups, d, 8). Outputs may be NULL. The work
 * array has room for two rows of 8 * groups numbers. */
RITZ_DISPATCH
static void fill_rows(int is_matern, int64_t n, int64_t d, int64_t p, const double *X, const double *Y,
                      const double *S, const double *offset, const double *a, const double *b,
                      double *values, double *slopes, double *stretched, double *work)
{
    const int64_t groups = (p + 7) / 8;
    double *scratch = work + 8 * groups;
    for (int64_t i = 0; i < n; i++) {
        const double *s = S ? S + i * p : work;
        const Row out = {values ? values + i * p : scratch, slopes ? slopes + i * p : scratch,
                         stretched ? stretched + i * p : scratch};
        if (!S)
            squared_distances(d, groups, X + i * d, Y, work);
        if (!is_matern)
            gaussian_row(p, s, offset, out);
        else if (b[2] != 0.0)
            matern_row(p, 1, s, offset, a, b, out);
        else
            matern_row(p, 0, s, offset, a, b, out);
    }
}

/* Combine each key with the bits of one row (n, d) after the other; -0 counts as 0. */
RITZ_DISPATCH
static void hash_columns(int64_t n, int64_t d, const double *restrict rows, uint64_t *restrict keys)
{
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = 0; i < n; i++) {
            const uint64_t bits = bits_of(rows[i * d + j] + 0.0);
            uint64_t key = (keys[i] ^ bits) + UINT64_C(0x9E3779B97F4A7C15);
            /* The finalizer of splitmix64. */
            key = (key ^ (key >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
            key = (key ^ (key >> 27)) * UINT64_C(0x94D049BB133111EB);
            keys[i] = key ^ (key >> 31);
        }
}

#endif
