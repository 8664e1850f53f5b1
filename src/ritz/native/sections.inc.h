/* The sections of kernels, for results of one type.
 *
 * Each pass goes over two rows at a time, x and z, and adds what it writes to the sums of columns
 * (SECTIONS, p). Of an odd number of rows the last is z too, which is then written to a spare row
 * and not added. */

/* Begin with rows i and i + 1. */
#define TWO_ROWS                                                                                   \
    const int both = i + 1 < n;                                                                    \
    const double more = both ? 1.0 : 0.0;                                                          \
    const double *x = X + i * d, *z = both ? x + d : x;                                            \
    const double *above = S ? S + i * p : NULL, *below = both && S ? above + p : above;

/* Write V and W, which may depend on j, to the rows of a section, where it is wanted. */
#define WRITE(section, V, W)                                                                       \
    if (out[section]) {                                                                            \
        REAL *RESTRICT first = out[section] + i * p;                                               \
        REAL *RESTRICT second = both ? out[section] + (i + 1) * p : spare;                         \
        REAL *RESTRICT total = sums + section * p;                                                 \
        INDEPENDENT                                                                                \
        for (int64_t j = 0; j < p; j++) {                                                          \
            const double one = V, other = W;                                                       \
            first[j] = (REAL)one;                                                                  \
            second[j] = (REAL)other;                                                               \
            total[j] = (REAL)(total[j] + (one + more * other));                                    \
        }                                                                                          \
    }

/* Write exp(-|x - y|^2 / 2), the same less an offset, and |x - y|^2 times it. */
static void OF(gaussian)(const Kernel *f, int64_t n, const double *S, const double *X,
                         REAL *const out[SECTIONS], REAL *sums, double *room)
{
    const int64_t p = f->width, d = f->columns;
    const double *RESTRICT offset = f->offset;
    double *RESTRICT s = room, *RESTRICT t = room + p;
    double *RESTRICT e = room + 2 * p, *RESTRICT g = room + 3 * p;
    REAL *spare = (REAL *)(room + 6 * p);
    for (int64_t i = 0; i < n; i += 2) {
        TWO_ROWS
        squared_rows(d, p, above, below, x, z, f->centers, s, t);
        if (out[SHIFTED] && out[STRETCHED] && !out[VALUES]) {
            /* What sums want, as a rule: both at once. */
            REAL *RESTRICT first = out[SHIFTED] + i * p, *RESTRICT far = out[STRETCHED] + i * p;
            REAL *RESTRICT second = both ? out[SHIFTED] + (i + 1) * p : spare;
            REAL *RESTRICT farther = both ? out[STRETCHED] + (i + 1) * p : spare + p;
            REAL *RESTRICT total = sums + SHIFTED * p, *RESTRICT stretched = sums + STRETCHED * p;
            INDEPENDENT
            for (int64_t j = 0; j < p; j++) {
                const double k = decay(0.5 * s[j]), l = decay(0.5 * t[j]);
                const double v = k - offset[j], w = l - offset[j];
                first[j] = (REAL)v;
                second[j] = (REAL)w;
                total[j] = (REAL)(total[j] + (v + more * w));
                far[j] = (REAL)(s[j] * k);
                farther[j] = (REAL)(t[j] * l);
                stretched[j] = (REAL)(stretched[j] + (s[j] * k + more * (t[j] * l)));
            }
            continue;
        }
        if (!out[VALUES] + !out[SHIFTED] + !out[STRETCHED] == 2) {
            WRITE(VALUES, decay(0.5 * s[j]), decay(0.5 * t[j]))
            WRITE(SHIFTED, decay(0.5 * s[j]) - offset[j], decay(0.5 * t[j]) - offset[j])
            WRITE(STRETCHED, s[j] * decay(0.5 * s[j]), t[j] * decay(0.5 * t[j]))
            continue;
        }
        for (int64_t j = 0; j < p; j++) {
            e[j] = decay(0.5 * s[j]);
            g[j] = decay(0.5 * t[j]);
        }
        WRITE(VALUES, e[j], g[j])
        WRITE(SHIFTED, e[j] - offset[j], g[j] - offset[j])
        WRITE(STRETCHED, s[j] * e[j], t[j] * g[j])
    }
}

/* Write (a_0 + a_1 r + a_2 r^2) exp(-r), r = a_3 |x - y|, and the same less an offset.
 *
 * Then (b_0 + b_1 r + b_2 / r) exp(-r), without the last term at the center, and |x - y|^2 times
 * it. */
static void OF(matern)(const Kernel *f, int64_t n, const double *S, const double *X,
                       REAL *const out[SECTIONS], REAL *sums, double *room)
{
    const int64_t p = f->width, d = f->columns;
    const double *RESTRICT offset = f->offset;
    const double a0 = f->a[0], a1 = f->a[1], a2 = f->a[2], rate = f->a[3];
    const double b0 = f->b[0], b1 = f->b[1], b2 = f->b[2];
    double *RESTRICT s = room, *RESTRICT t = room + p;
    double *RESTRICT u = room + 2 * p, *RESTRICT v = room + 3 * p;
    double *RESTRICT e = room + 4 * p, *RESTRICT g = room + 5 * p;
    REAL *spare = (REAL *)(room + 6 * p);
    for (int64_t i = 0; i < n; i += 2) {
        TWO_ROWS
        squared_rows(d, p, above, below, x, z, f->centers, s, t);
        for (int64_t j = 0; j < p; j++) {
            /* Beyond 800 the exponential is zero, whatever it is multiplied by. */
            const double q = rate * sqrt(s[j]), r = rate * sqrt(t[j]);
            u[j] = q < 800.0 ? q : 800.0;
            v[j] = r < 800.0 ? r : 800.0;
        }
        for (int64_t j = 0; j < p; j++) {
            e[j] = decay(u[j]);
            g[j] = decay(v[j]);
        }
#define MATERN_VALUE(r, e) ((a0 + (r) * (a1 + (r) * a2)) * (e))
        WRITE(VALUES, MATERN_VALUE(u[j], e[j]), MATERN_VALUE(v[j], g[j]))
        WRITE(SHIFTED, MATERN_VALUE(u[j], e[j]) - offset[j], MATERN_VALUE(v[j], g[j]) - offset[j])
#undef MATERN_VALUE
        if (!out[SLOPES] && !out[STRETCHED])
            continue;
        if (b2 == 0.0)
            for (int64_t j = 0; j < p; j++) {
                e[j] *= b0 + u[j] * b1;
                g[j] *= b0 + v[j] * b1;
            }
        else
            for (int64_t j = 0; j < p; j++) {
                const double q = u[j] > 1e-125 ? b2 / u[j] : 0.0;
                const double r = v[j] > 1e-125 ? b2 / v[j] : 0.0;
                e[j] *= b0 + u[j] * b1 + q;
                g[j] *= b0 + v[j] * b1 + r;
            }
        WRITE(SLOPES, e[j], g[j])
        WRITE(STRETCHED, s[j] * e[j], t[j] * g[j])
    }
}

/* Write (a_0 + x.y)^b_0, the same less an offset, and b_0 (a_0 + x.y)^(b_0 - 1). */
static void OF(polynomial)(const Kernel *f, int64_t n, const double *S, const double *X,
                           REAL *const out[SECTIONS], REAL *sums, double *room)
{
    const int64_t p = f->width, d = f->columns;
    const double *RESTRICT offset = f->offset;
    const double start = f->a[0], degree = f->b[0];
    double *RESTRICT u = room, *RESTRICT v = room + p;
    double *RESTRICT e = room + 2 * p, *RESTRICT g = room + 3 * p;
    REAL *spare = (REAL *)(room + 6 * p);
    for (int64_t i = 0; i < n; i += 2) {
        TWO_ROWS
        product_rows(d, p, above, below, x, z, f->centers, u, v);
        for (int64_t j = 0; j < p; j++) {
            u[j] += start;
            v[j] += start;
            e[j] = 1.0;
            g[j] = 1.0;
        }
        for (int64_t power = 1; power < (int64_t)degree; power++)
            for (int64_t j = 0; j < p; j++) {
                e[j] *= u[j];
                g[j] *= v[j];
            }
        WRITE(VALUES, e[j] * u[j], g[j] * v[j])
        WRITE(SHIFTED, e[j] * u[j] - offset[j], g[j] * v[j] - offset[j])
        WRITE(SLOPES, degree * e[j], degree * g[j])
    }
}

#undef TWO_ROWS
#undef WRITE

/* Write the sections of rows X (n, d), those that have a place to go to.
 *
 * Squared distances, or scalar products, are those in S (n, p), where it is not NULL. */
static void OF(fill)(const Kernel *f, int64_t n, const double *S, const double *X,
                     REAL *const out[SECTIONS], REAL *sums, double *room)
{
    switch (f->kernel) {
    case GAUSSIAN:
        OF(gaussian)(f, n, S, X, out, sums, room);
        break;
    case MATERN:
        OF(matern)(f, n, S, X, out, sums, room);
        break;
    case POLYNOMIAL:
        OF(polynomial)(f, n, S, X, out, sums, room);
        break;
    }
}
