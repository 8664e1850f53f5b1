/* The eigenvalue problem of few functions: means taken off, whitened, solved.
 *
 * The steps, and the numbers that decide, are those of the Python modules spectrum.centering and
 * solve, which say why; they serve where something is out of the ordinary. Vectors are rows here. */

#define CUT 30
#define LEAST 1e-280

/* C (m, n) = A B, or A B' where that is turned, for A (m, k), by the library. */
static void multiply(const Library *library, int turned, int64_t m, int64_t n, int64_t k,
                     const double *A, const double *B, double *C)
{
    int rows = (int)m, columns = (int)n, inner = (int)k;
    double one = 1.0, zero = 0.0;
    /* It reads rows as columns, so that C' = B' A'. */
    library->dgemm(turned ? "T" : "N", "N", &columns, &rows, &inner, &one, B,
                   turned ? &inner : &columns, A, &inner, &zero, C, &columns);
}

/* Write the eigenvalues of a symmetric matrix, ascending, and its vectors in its place. */
static int eigenvectors(const Library *library, int64_t size, double *M, double *values,
                        double *work)
{
    int n = (int)size, length = 1 + 6 * n + 2 * n * n, integers = 3 + 5 * n, failed;
    int numbers[3 + 5 * WIDEST];
    library->dsyevd("V", "L", &n, M, &n, values, work, &length, numbers, &integers, &failed);
    return failed == 0;
}

/* Write the averages over all folds of sums (folds, q, q), exactly symmetric. */
static void average(int64_t folds, int64_t q, double weight, const double *sums, double *room,
                    double *M)
{
    memcpy(room, sums, (size_t)(q * q) * sizeof *room);
    for (int64_t f = 1; f < folds; f++)
        for (int64_t i = 0; i < q * q; i++)
            room[i] += sums[f * q * q + i];
    for (int64_t i = 0; i < q; i++)
        for (int64_t j = 0; j < q; j++)
            M[i * q + j] = (room[i * q + j] / weight + room[j * q + i] / weight) / 2;
}

/* Return the middle of the functions' own quotients, by sorting them. */
static double shift_of(int64_t p, const double *L, const double *Phi, double *quotients)
{
    for (int64_t i = 0; i < p; i++) {
        const double one = fabs(L[i * p + i]) / Phi[i * p + i];
        int64_t j = i;
        for (; j > 0 && quotients[j - 1] > one; j--)
            quotients[j] = quotients[j - 1];
        quotients[j] = one;
    }
    return (quotients[p / 2] + quotients[p - 1 - p / 2]) / 2;
}

/* Return whether a symmetric matrix is positive but for rounding, whatever its units, of which noise
 * is the share of a function that may be rounding. Room is of p^2 numbers. */
static int is_positive(const Library *library, int64_t p, const double *M, double noise, double *room)
{
    int n = (int)p, failed;
    double D[WIDEST];
    for (int64_t i = 0; i < p; i++) {
        if (!(M[i * p + i] > 0.0))
            return 0;
        D[i] = 1 / sqrt(M[i * p + i]);
    }
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < p; j++)
            room[i * p + j] = M[i * p + j] * D[i] * D[j];
    for (int64_t i = 0; i < p; i++)
        room[i * p + i] += 1e3 * (double)p * EPSILON + noise;
    library->dpotrf("U", &n, room, &n, &failed);
    return !failed;
}

/* Whiten B = D^-1 S D^-1 by a root of S, if all its directions are clearly above the cut: write
 * W (p, p) with W B W' = I. Room is of p^2 numbers. */
static int whiten_by_root(const Library *library, int64_t p, const double *S, const double *D,
                          double highest, double *W, double *room)
{
    int n = (int)p, failed;
    double norm = 0.0, inverse = 0.0;
    for (int64_t i = 0; i < p * p; i++)
        norm += S[i] * S[i];
    const double cut = 2 * (CUT * (double)p * EPSILON * sqrt(norm));
    const double least = cut > highest ? cut : highest;
    memcpy(W, S, (size_t)(p * p) * sizeof *W);
    library->dpotrf("U", &n, W, &n, &failed);
    if (failed)
        return 0;
    library->dtrtri("U", "N", &n, W, &n, &failed);
    if (failed)
        return 0;
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < p; j++) {
            W[i * p + j] = j <= i ? W[i * p + j] : 0.0;
            inverse += W[i * p + j] * W[i * p + j];
        }
    if (!(least * inverse < 1)) {
        memcpy(room, S, (size_t)(p * p) * sizeof *room);
        for (int64_t i = 0; i < p; i++)
            room[i * p + i] -= least;
        library->dpotrf("U", &n, room, &n, &failed);
        if (failed)
            return 0;
    }
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j <= i; j++)
            W[i * p + j] *= D[j];
    return 1;
}

/* Whiten B = D^-1 S D^-1 on the directions above the cut: write W (r, p) with W B W' = I.
 *
 * Returns r, or -1 where the library fails. Work is as eigenvectors needs it. */
static int64_t whiten_by_eigenvalues(const Library *library, int64_t p, const double *S,
                                     const double *D, const double *floor, double *W, double *work)
{
    double values[WIDEST];
    memcpy(W, S, (size_t)(p * p) * sizeof *W);
    if (!eigenvectors(library, p, W, values, work))
        return -1;
    const double cut = CUT * (double)p * EPSILON * values[p - 1];
    int64_t r = 0;
    for (int64_t i = 0; i < p; i++) {
        double noise = 0.0;
        for (int64_t j = 0; j < p; j++)
            noise += floor[j] * W[i * p + j] * W[i * p + j];
        if (!(values[i] > cut && values[i] > noise))
            continue;
        for (int64_t j = 0; j < p; j++)
            W[r * p + j] = D[j] * W[i * p + j] / sqrt(values[i]);
        r++;
    }
    return r;
}

/* Find the k lowest eigenvalues of a form without the function 1, of its sums over folds.
 *
 * Writes the means (p) of the functions, values (k), the constant's among them, the function 1's
 * coefficients (k), those (p, k) of the functions less their means, and residuals (k). Returns the
 * rank, 0 where something is out of the ordinary and nothing counts, -1 without memory. */
static int64_t solve_few(const Problem *problem, const Library *library)
{
    const int64_t p = problem->size, q = 1 + p, k = problem->k, square = q * q;
    if (p < 1 || p > WIDEST || k < 1 || k > q)
        return 0;
    const int64_t work_size = 1 + 6 * q + 2 * square;
    double *room = malloc((size_t)(10 * square + work_size) * sizeof *room);
    if (room == NULL)
        return -1;
    double *full = room, *other = full + square, *L = other + square, *Phi = L + square;
    double *S = Phi + square, *W = S + square, *N = W + square, *A = N + square;
    double *LA = A + square, *PA = LA + square, *work = PA + square;
    double D[WIDEST], floor[WIDEST], nu[WIDEST];
    int64_t result = 0;

    average(problem->folds, q, problem->weight, problem->L, other, full);
    for (int64_t j = 0; j < q; j++)
        if (full[j] != 0.0 || full[j * q] != 0.0)
            goto done;
    for (int64_t i = 0; i < p; i++)
        memcpy(L + i * p, full + (1 + i) * q + 1, (size_t)p * sizeof *L);
    average(problem->folds, q, problem->weight, problem->Phi, other, full);
    const double one = full[0];
    double *means = problem->means, highest = 0.0;
    for (int64_t i = 0; i < p; i++)
        means[i] = full[1 + i] / one;
    for (int64_t i = 0; i < p; i++) {
        for (int64_t j = 0; j < p; j++)
            Phi[i * p + j] = full[(1 + i) * q + 1 + j] / one - means[i] * means[j];
        const double variance = Phi[i * p + i], mean = fabs(means[i]);
        const double rounded = 4 * EPSILON * (fabs(problem->offset[i]) + mean);
        const double noise = 100 * (rounded * rounded + 4 * EPSILON * mean * mean);
        if (!(variance > noise))
            goto done;
        floor[i] = noise / variance;
        highest = floor[i] > highest ? floor[i] : highest;
        D[i] = 1 / sqrt(variance);
    }
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < p; j++)
            S[i * p + j] = Phi[i * p + j] * D[i] * D[j];
    int64_t rank = pivots_above(p, p, S, CUT * (double)q * EPSILON);
    const double s = shift_of(p, L, Phi, nu);
    if (!(s >= LEAST && s < INFINITY) || rank < 1)
        goto done;
    const double noise = highest + (double)q * EPSILON;
    if (!problem->squares && rank < p && !is_positive(library, p, Phi, noise, N))
        goto done;

    for (int64_t i = 0; i < p; i++) {
        const double size = L[i * p + i] + s * Phi[i * p + i];
        if (!(size > 0.0))
            goto done;
        D[i] = 1 / sqrt(size);
    }
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < p; j++)
            S[i * p + j] = (L[i * p + j] + s * Phi[i * p + j]) * D[i] * D[j];
    const int rooted = rank == p && whiten_by_root(library, p, S, D, highest, W, N);
    const int64_t r = rooted ? p : whiten_by_eigenvalues(library, p, S, D, floor, W, work);
    if (r < 1)
        goto done;
    if (!problem->squares && !rooted) {
        for (int64_t i = 0; i < p * p; i++)
            A[i] = L[i] + s / 2 * Phi[i];
        if (!is_positive(library, p, A, highest, N))
            goto done;
    }
    multiply(library, 0, r, p, p, W, Phi, A);
    multiply(library, 1, r, r, p, A, W, N);
    if (!eigenvectors(library, r, N, nu, work))
        goto done;
    /* As many as are wanted, the largest first, but for rounding. An eigenvalue near -s, which is
     * none of a positive form, would have been cut. */
    const double smallest = 10 * (double)p * EPSILON / s;
    int64_t some = 0, most = k < rank ? k : rank;
    while (some < most && some < r && nu[r - 1 - some] > smallest)
        some++;
    if (!some || some + 1 < k || (rooted && nu[r - 1] * s > 2))
        goto done;
    rank = rank < r ? rank : r;
    for (int64_t i = 0; i < some; i++)
        memcpy(other + i * r, N + (r - 1 - i) * r, (size_t)r * sizeof *other);
    multiply(library, 0, some, p, r, other, W, A);

    /* The same problem in the span of those, for the last digits. */
    multiply(library, 0, some, p, p, A, Phi, PA);
    for (int64_t i = 0; i < some; i++) {
        double size = 0.0;
        for (int64_t j = 0; j < p; j++)
            size += A[i * p + j] * PA[i * p + j];
        for (int64_t j = 0; j < p; j++) {
            A[i * p + j] /= sqrt(size);
            PA[i * p + j] /= sqrt(size);
        }
    }
    multiply(library, 0, some, p, p, A, L, LA);
    multiply(library, 1, some, some, p, A, LA, N);
    multiply(library, 1, some, some, p, A, PA, S);
    int n = (int)some, kind = 1, length = (int)work_size, integers = 3 + 5 * n, failed = 0;
    int numbers[3 + 5 * WIDEST];
    library->dsygvd(&kind, "V", "U", &n, N, &n, S, &n, nu, work, &length, numbers, &integers,
                    &failed);
    if (failed)
        goto done;
    multiply(library, 0, some, p, some, N, A, full);
    multiply(library, 0, some, p, some, N, LA, A);
    multiply(library, 0, some, p, some, N, PA, LA);
    /* W B W' = I, so |W x| is the norm of x dual to B. */
    multiply(library, 1, some, r, p, A, W, PA);
    multiply(library, 1, some, r, p, LA, W, N);
    memset(problem->coefficients, 0, (size_t)(k * p) * sizeof(double));
    memset(problem->constants, 0, (size_t)k * sizeof(double));
    problem->values[0] = problem->residuals[0] = 0.0;
    problem->constants[0] = 1.0;
    for (int64_t i = 0; i + 1 < k; i++) {
        double rest = 0.0, whole = 0.0;
        for (int64_t j = 0; j < r; j++) {
            const double left = PA[i * r + j], right = N[i * r + j];
            rest += (left - right * nu[i]) * (left - right * nu[i]);
            whole += (left + right * s) * (left + right * s);
        }
        problem->residuals[1 + i] = sqrt(rest) / (whole > 0 ? sqrt(whole) : 1.0);
        problem->values[1 + i] = nu[i] > 0.0 ? nu[i] : 0.0;
        /* The largest correlation with a function, by size, is positive. */
        double high = 0.0, low = 0.0;
        for (int64_t j = 0; j < p; j++) {
            /* Phi times the vector, scaled as before. */
            const double correlation = LA[i * p + j];
            high = correlation > high ? correlation : high;
            low = correlation < low ? correlation : low;
        }
        const double sign = high >= -low ? 1.0 : -1.0;
        for (int64_t j = 0; j < p; j++)
            problem->coefficients[j * k + 1 + i] = sign * full[i * p + j];
    }
    result = 1 + rank;
done:
    free(room);
    return result;
}
