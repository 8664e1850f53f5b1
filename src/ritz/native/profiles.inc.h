/* Squared distances and scalar products, and functions of them whose loops become vectors. */

/* Rounds to an integer, which then fills the last bits, when added to a number below 2^51. */
#define SHIFTER 6755399441055744.0
#define LOG2_E 1.4426950408889634
#define LN2_HIGH 0.693147180369123816490
#define LN2_LOW 1.90821492927058770002e-10
#define HIGHEST 708.0

static inline uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* exp(-x) for x >= 0 within two units of the last place, zero beyond 708.
 *
 * A polynomial of degree 11 on |r| <= ln 2 / 2 (Taylor's up to r^2, the rest interpolated at
 * Chebyshev's points, 3e-17) times a power of two put into the exponent's bits: no branch, no call,
 * so that loops over it become vector instructions. */
static inline double decay(double x)
{
    const double y = x < HIGHEST ? -x : -HIGHEST;
    const double t = y * LOG2_E + SHIFTER;
    const double k = t - SHIFTER;
    const double r = (y - k * LN2_HIGH) - k * LN2_LOW;
    /* By pairs, as Estrin does, so that few steps wait for the one before. */
    const double r2 = r * r, r4 = r2 * r2;
    const double low = (1.0 + r) + r2 * (0.5 + r * 0.16666666666666666);
    const double middle = (0.041666666666651364 + r * 0.008333333333332157) +
                          r2 * (0.0013888888905871442 + r * 0.00019841269854330845);
    const double high = (2.4801536408869822e-05 + r * 2.755728008253529e-06) +
                        r2 * (2.7613795662346626e-07 + r * 2.5095546064622e-08);
    const double q = low + r4 * (middle + r4 * high);
    const double result = number_of(bits_of(q) + (bits_of(t) << 52));
    return x <= HIGHEST ? result : 0.0;
}

/* Write into s (p) and t (p) what coordinates of centers y (d, p) and of two rows x and z add up
 * to, step by step, or copy it where it is known: two rows at once, for centers that are loaded once,
 * and a few centers at once, whose sums stay in registers. */
#if defined(__GNUC__)
#define TOGETHER 8
#define SUM_TOGETHER(STEP)                                                                         \
    while (j < p && p >= TOGETHER) {                                                               \
        /* The last of them end with the last center, and some are computed twice. */              \
        j = j + TOGETHER <= p ? j : p - TOGETHER;                                                  \
        Four s0 = {0}, s1 = {0}, t0 = {0}, t1 = {0};                                               \
        for (int64_t c = 0; c < d; c++) {                                                          \
            const Four y0 = *(const Four *)(Y + c * p + j), y1 = *(const Four *)(Y + c * p + j + 4);\
            const Four u = {x[c], x[c], x[c], x[c]}, v = {z[c], z[c], z[c], z[c]};                 \
            STEP(s0, u, y0) STEP(s1, u, y1) STEP(t0, v, y0) STEP(t1, v, y1)                        \
        }                                                                                          \
        *(Four *)(s + j) = s0;                                                                     \
        *(Four *)(s + j + 4) = s1;                                                                 \
        *(Four *)(t + j) = t0;                                                                     \
        *(Four *)(t + j + 4) = t1;                                                                 \
        j += TOGETHER;                                                                             \
    }
#else
#define SUM_TOGETHER(STEP)
#endif
#define SUM_ROWS(STEP, NUMBER)                                                                     \
    if (S != NULL) {                                                                               \
        memcpy(s, S, (size_t)p * sizeof *s);                                                       \
        memcpy(t, T, (size_t)p * sizeof *t);                                                       \
        return;                                                                                    \
    }                                                                                              \
    int64_t j = 0;                                                                                 \
    SUM_TOGETHER(STEP)                                                                             \
    for (; j < p; j++) {                                                                           \
        double one = 0.0, other = 0.0;                                                             \
        for (int64_t c = 0; c < d; c++) {                                                          \
            NUMBER(one, x[c], Y[c * p + j]) NUMBER(other, z[c], Y[c * p + j])                      \
        }                                                                                          \
        s[j] = one;                                                                                \
        t[j] = other;                                                                              \
    }
#define SQUARED_STEP(sum, x, y)                                                                    \
    {                                                                                              \
        const Four e = x - y;                                                                      \
        sum += e * e;                                                                              \
    }
#define SQUARED_NUMBER(sum, x, y)                                                                  \
    {                                                                                              \
        const double e = x - y;                                                                    \
        sum += e * e;                                                                              \
    }
#define PRODUCT(sum, x, y) sum += x * y;

/* |x - y_j|^2 and |z - y_j|^2. */
static inline void squared_rows(int64_t d, int64_t p, const double *S, const double *T,
                                const double *x, const double *z, const double *RESTRICT Y,
                                double *RESTRICT s, double *RESTRICT t)
{
    SUM_ROWS(SQUARED_STEP, SQUARED_NUMBER)
}

/* x.y_j and z.y_j. */
static inline void product_rows(int64_t d, int64_t p, const double *S, const double *T,
                                const double *x, const double *z, const double *RESTRICT Y,
                                double *RESTRICT s, double *RESTRICT t)
{
    SUM_ROWS(PRODUCT, PRODUCT)
}

/* Write S = |x - y|^2 (n, p) by differences of coordinates. */
static void differences(int64_t n, int64_t d, int64_t p, const double *X, const double *Y,
                        double *S, double *room)
{
    for (int64_t i = 0; i < n; i += 2) {
        const int both = i + 1 < n;
        const double *x = X + i * d;
        squared_rows(d, p, NULL, NULL, x, both ? x + d : x, Y, S + i * p,
                     both ? S + (i + 1) * p : room);
    }
}

/* Turn G = -2 x.y (n, p) into |x - y|^2, in place; close pairs from differences.
 *
 * Where |x|^2 < |y|^2 / 4 the expansion cancels nothing, so |x|^2 alone sets the scale. */
static void squares(int64_t n, int64_t d, int64_t p, double *G, const double *X, const double *Y,
                    const double *RESTRICT x2, const double *RESTRICT y2)
{
    for (int64_t i = 0; i < n; i++) {
        double *RESTRICT row = G + i * p;
        const double own = x2[i], near = 2e-3 * own;
        int64_t count = 0;
        for (int64_t j = 0; j < p; j++) {
            double v = own + y2[j] + row[j];
            v = v > 0.0 ? v : (v <= 0.0 ? 0.0 : v);
            /* Not a number where lengths overflow. */
            v = v < INFINITY ? v : INFINITY;
            count += v < near;
            row[j] = v;
        }
        if (!count)
            continue;
        for (int64_t j = 0; j < p; j++)
            if (row[j] < near) {
                double v = 0.0;
                for (int64_t c = 0; c < d; c++) {
                    const double e = X[i * d + c] - Y[j * d + c];
                    v += e * e;
                }
                row[j] = v;
            }
    }
}

/* Of pi / 2 the first 33 bits, the next 33, and the rest: multiples of the former are exact. */
#define TWO_OVER_PI 0.6366197723675814
#define RIGHT_HIGH 1.57079632673412561417e00
#define RIGHT_MIDDLE 6.07710050630396597660e-11
#define RIGHT_LOW 2.0222662487959506e-21

/* Write scale cos(angle + turns pi / 2).
 *
 * Both polynomials of |r| <= pi / 4 (those of Sun's mathematical library) are evaluated, and bits
 * choose: no branch, so that the loop becomes vector instructions. */
static void cosines(int64_t n, const double *RESTRICT angles, int64_t turns, double scale,
                    double *RESTRICT result)
{
    for (int64_t j = 0; j < n; j++) {
        const double x = angles[j];
        const double t = x * TWO_OVER_PI + SHIFTER, k = t - SHIFTER;
        const double r = ((x - k * RIGHT_HIGH) - k * RIGHT_MIDDLE) - k * RIGHT_LOW;
        const double z = r * r;
        double odd = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10;
        odd = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * odd);
        odd = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * odd);
        const double sine = r + (r * z) * odd;
        double even = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11;
        even = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * even);
        even = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * even);
        const double cosine = (1.0 - 0.5 * z) + (z * z) * even;
        const uint64_t quarter = bits_of(t) + (uint64_t)turns;
        const double wave = scale * ((quarter & 1) ? sine : cosine);
        result[j] = number_of(bits_of(wave) ^ (((quarter + 1) & 2) << 62));
    }
}
