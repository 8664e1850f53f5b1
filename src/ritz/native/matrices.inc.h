/* Small steps of making matrices of products. */

#define JOINED 32

/* Write (u (M + M' + s c' + c s') - E * (V + h c' + c h')) / 2 in place of M, for each fold.
 *
 * V and M are (folds, p, p), h and s (folds, p), E (p, p), c (p); V and E are symmetric, and so is
 * the result. */
static void join(int64_t folds, int64_t p, double unit, const double *V, const double *h, double *M,
                 const double *s, const double *E, const double *c)
{
    for (int64_t f = 0; f < folds; f++, V += p * p, M += p * p, h += p, s += p)
        /* By tiles that stay in cache with their mirror images. */
        for (int64_t top = 0; top < p; top += JOINED)
            for (int64_t left = 0; left <= top; left += JOINED)
                for (int64_t i = top; i < top + JOINED && i < p; i++)
                    for (int64_t j = left; j < left + JOINED && j <= i; j++) {
                        const int64_t here = i * p + j, there = j * p + i;
                        const double T = V[here] + (h[i] * c[j] + c[i] * h[j]);
                        const double twice = M[here] + M[there] + (s[i] * c[j] + c[i] * s[j]);
                        M[here] = M[there] = (twice * unit - E[here] * T) / 2;
                    }
}

/* The most columns of matrices that are multiplied here. */
#define WIDEST 32

/* Add A' B to C (width, width) for A and B (n, width), a multiple of eight columns, up to 32; or,
 * where only that is wanted, what is on and below the diagonal, and a little more.
 *
 * The library takes as long to begin with matrices as small as these as they take to multiply. */
static void add_small_product(int64_t n, int64_t width, int lower, const double *A,
                              const double *B, double *C)
{
    for (int64_t i = 0; i < width; i += 4)
        for (int64_t j = 0; j < (lower ? i + 4 : width); j += 8) {
            const double *a = A + i, *b = B + j;
#if defined(__GNUC__)
            Four sums[4][2];
            for (int k = 0; k < 4; k++)
                for (int l = 0; l < 2; l++)
                    sums[k][l] = *(const Four *)(C + (i + k) * width + j + 4 * l);
            for (int64_t r = 0; r < n; r++, a += width, b += width) {
                const Four b0 = *(const Four *)b, b1 = *(const Four *)(b + 4);
                for (int k = 0; k < 4; k++) {
                    const Four x = {a[k], a[k], a[k], a[k]};
                    sums[k][0] += x * b0;
                    sums[k][1] += x * b1;
                }
            }
            for (int k = 0; k < 4; k++)
                for (int l = 0; l < 2; l++)
                    *(Four *)(C + (i + k) * width + j + 4 * l) = sums[k][l];
#else
            for (int64_t r = 0; r < n; r++, a += width, b += width)
                for (int k = 0; k < 4; k++)
                    for (int l = 0; l < 8; l++)
                        C[(i + k) * width + j + l] += a[k] * b[l];
#endif
        }
}
