/* The sums of a form over few rows and functions, from the rows alone.
 *
 * Where all of it takes a millisecond, most would be Python between one array and the next. These
 * are the steps that Python takes elsewhere, by the same functions: rows are hashed, centers chosen,
 * means taken off, sections filled and multiplied, and matrices made of the products. What is out of
 * the ordinary is left to Python. */

#define FEW_TILE 64
#define EPSILON 2.220446049250313e-16

/* Return how many pivots of a symmetric matrix, whose lower half counts, are above a number.
 *
 * By a root with pivots, the largest first, in place of the matrix, whose rows are a step apart: as
 * LAPACK's dpstrf does, for problems that are done before that begins. */
static int64_t pivots_above(int64_t size, int64_t step, double *M, double least)
{
#define SWAP(a, b)                                                                                 \
    {                                                                                              \
        const double kept = M[a];                                                                  \
        M[a] = M[b];                                                                               \
        M[b] = kept;                                                                               \
    }
    for (int64_t k = 0; k < size; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < size; i++)
            if (M[i * step + i] > M[best * step + best])
                best = i;
        const double pivot = M[best * step + best];
        if (!(pivot > least))
            return k;
        M[best * step + best] = M[k * step + k];
        for (int64_t j = 0; j < k; j++)
            SWAP(k * step + j, best * step + j)
        for (int64_t i = best + 1; i < size; i++)
            SWAP(i * step + k, i * step + best)
        for (int64_t i = k + 1; i < best; i++)
            SWAP(i * step + k, best * step + i)
        const double root = sqrt(pivot);
        for (int64_t i = k + 1; i < size; i++)
            M[i * step + k] /= root;
        for (int64_t i = k + 1; i < size; i++) {
            const double x = M[i * step + k];
            for (int64_t j = k + 1; j <= i; j++)
                M[i * step + j] -= x * M[j * step + k];
        }
    }
    return size;
#undef SWAP
}

/* Take means over rows off values (rows, width), and write them; return whether the values that are
 * left tell enough of the functions apart, in products. M (width, width) is room. */
static int means_suffice(int64_t rows, int64_t size, int64_t width, int64_t enough, double *values,
                         double *means, double *M)
{
    double spread[WIDEST];
    memset(means, 0, (size_t)width * sizeof *means);
    memset(spread, 0, sizeof spread);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < width; j++)
            means[j] += values[r * width + j];
    for (int64_t j = 0; j < width; j++)
        means[j] /= (double)rows;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < width; j++) {
            const double v = values[r * width + j] - means[j];
            values[r * width + j] = v;
            spread[j] += v * v;
        }
    for (int64_t j = 0; j < size; j++) {
        spread[j] = sqrt(spread[j] / (double)rows);
        /* Not where it overflows, nor where it is not a number. */
        if (!(spread[j] > 100 * EPSILON * fabs(means[j]) && spread[j] < INFINITY))
            return 0;
    }
    memset(M, 0, (size_t)(width * width) * sizeof *M);
    add_small_product(rows, width, 1, values, values, M);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j <= i; j++)
            M[i * width + j] /= spread[i] * spread[j];
    return pivots_above(size, width, M, 1e-8 * (double)rows) >= enough;
}

/* What of the products of a fold the matrices of the form are made of: where they are. */
typedef struct {
    double *values, *slopes, *stretched, *sums;
} FoldSums;

/* Write |c_i - c_j|^2 or c_i.c_j (width, width), on and below the diagonal, for the centers over
 * their length scales once more: the vectors of the gradients. */
static void between_centers(const Few *few, const Kernel *f, double *E)
{
    const int64_t width = f->width;
    const int distance = few->kernel != POLYNOMIAL;
    memset(E, 0, (size_t)(width * width) * sizeof *E);
    for (int64_t k = 0; k < few->columns; k++) {
        const double *y = f->centers + k * width, unit = 1 / (few->scale[k] * few->scale[k]);
        for (int64_t i = 0; i < few->size; i++)
            for (int64_t j = 0; j <= i; j++)
                E[i * width + j] += (distance ? (y[i] - y[j]) * (y[i] - y[j]) : y[i] * y[j]) * unit;
    }
}

/* Write the matrices (1 + p, 1 + p) of a fold, the function 1 first, by its products and E. */
static void make_matrices(const Few *few, const Kernel *f, const FoldSums *fold, int shifted,
                          double weight, const double *E, double *L, double *Phi)
{
    const int64_t p = few->size, width = f->width, q = 1 + p;
    const double *V = fold->values, *c = f->offset;
    const double *s = fold->sums + SHIFTED * width, *t = fold->sums + STRETCHED * width;
    const int distance = few->kernel != POLYNOMIAL;
    /* One length scale, where distances count. */
    const double unit = 1 / (few->scale[0] * few->scale[0]);
    L[0] = 0.0;
    Phi[0] = weight;
    for (int64_t i = 0; i < p; i++) {
        L[1 + i] = L[(1 + i) * q] = 0.0;
        Phi[1 + i] = Phi[(1 + i) * q] = s[i];
        for (int64_t j = 0; j <= i; j++) {
            const int64_t here = i * width + j, there = j * width + i;
            double TT, energy;
            if (shifted) {
                /* (V + c)'(V + c) from V'V, and (ST)'(V + c) as well. */
                const double h = s[i] + weight / 2 * c[i], g = s[j] + weight / 2 * c[j];
                TT = V[here] + (h * c[j] + c[i] * g);
            } else
                TT = fold->slopes[here];
            if (distance) {
                double twice = fold->stretched[here] + fold->stretched[there];
                if (shifted)
                    twice += t[i] * c[j] + c[i] * t[j];
                energy = (twice * unit - E[here] * TT) / 2;
            } else
                energy = E[here] * TT;
            L[(1 + i) * q + 1 + j] = L[(1 + j) * q + 1 + i] = energy;
            Phi[(1 + i) * q + 1 + j] = Phi[(1 + j) * q + 1 + i] = V[here];
        }
    }
}

/* Write centers, offsets, and weights, counts and matrices of each fold.
 *
 * The matrices are those of E<grad f, grad g> and of the scalar products. Returns 1 if all was as it
 * should be, 0 where something was not and nothing counts, -1 without memory. */
static int sum_few(const Few *few, const Library *library)
{
    const int64_t n = few->n, d = few->columns, p = few->size, folds = few->folds;
    const int64_t width = (p + 7) / 8 * 8, square = width * width;
    if (width > WIDEST || p < 1 || n < p || few->pilot > FEW_TILE)
        return 0;
    const int distance = few->kernel != POLYNOMIAL;
    for (int64_t i = 0; i < n; i++)
        if (!(few->weight[i] > 0.0))
            return 0;
    double sum = 0.0;
    for (int64_t i = 0; i < n * d; i++)
        /* Zero of each number that is finite. */
        sum += few->X[i] - few->X[i];
    if (sum != 0.0)
        return 0;

    /* Keys, priorities, rows in order, where folds end, and those chosen. */
    const int64_t integers = 3 * n + folds + 1 + FEW_TILE;
    const int64_t doubles = d * width + width + 2 * d + n +
                            ROOM_OF_TILE(FEW_TILE, width) + ROOM_OF_POINTS(FEW_TILE, d, width) +
                            4 * square + SECTIONS * width;
    int64_t *whole = malloc((size_t)integers * sizeof *whole);
    double *room = calloc((size_t)doubles, sizeof *room);
    int result = -1;
    if (whole == NULL || room == NULL)
        goto done;
    uint64_t *keys = (uint64_t *)whole, *priority = keys + n;
    int64_t *order = whole + 2 * n, *ends = order + n, *chosen = ends + folds + 1;
    double *centers = room, *offset = centers + d * width, *frame = offset + width;
    double *weight = frame + 2 * d, *sections = weight + n;
    double *points = sections + ROOM_OF_TILE(FEW_TILE, width);
    double *matrices = points + ROOM_OF_POINTS(FEW_TILE, d, width);

    memset(keys, 0, (size_t)n * sizeof *keys);
    fold_in(n, d, keys, few->X);
    for (int64_t i = 0; i < n; i++)
        priority[i] = mixed(keys[i] ^ few->seed);
    const int64_t wanted = few->pilot > p ? few->pilot : p;
    const int64_t pilot = lowest(n, priority, wanted, chosen);
    if (pilot < 0)
        goto done;
    result = 0;
    if (pilot < p)
        goto done;

    /* The centers, around their mean for kernels of distances, in length scales. */
    double farthest = 0.0;
    for (int64_t c = 0; c < d; c++) {
        double mean = 0.0;
        for (int64_t j = 0; j < p; j++) {
            few->centers[j * d + c] = few->X[chosen[j] * d + c];
            mean += few->centers[j * d + c];
        }
        frame[c] = distance ? mean / (double)p : 0.0;
        frame[d + c] = few->scale[c];
        for (int64_t j = 0; j < p; j++)
            centers[c * width + j] = (few->centers[j * d + c] - frame[c]) / few->scale[c];
    }
    for (int64_t j = 0; j < p; j++) {
        double length = 0.0;
        for (int64_t c = 0; c < d; c++)
            length += centers[c * width + j] * centers[c * width + j];
        farthest = length > farthest ? length : farthest;
    }

    /* Means over the pilot rows. */
    Kernel f = {few->kernel, d, width, centers, offset, few->a, few->b};
    for (int64_t r = 0; r < pilot; r++)
        for (int64_t c = 0; c < d; c++)
            points[r * d + c] = (few->X[chosen[r] * d + c] - frame[c]) / frame[d + c];
    double *out[SECTIONS] = {sections, NULL, NULL, NULL};
    double *unused = matrices + 3 * square;
    fill_double(&f, pilot, NULL, points, out, unused, points + FEW_TILE * d);
    if (!means_suffice(pilot, p, width, few->enough, sections, offset, matrices))
        goto done;
    memcpy(few->offset, offset, (size_t)p * sizeof *offset);

    /* Of the Gaussian kernel values are slopes; less their means, they serve for both, unless it is
     * much narrower than the data, where taking those off and putting them on again is not exact. */
    const int own = few->kernel == GAUSSIAN, shifted = own && 4 * farthest < 100;
    const int64_t slopes = own ? VALUES : SLOPES;
    const int64_t pairs[3][2] = {
        {SHIFTED, SHIFTED},
        {shifted ? STRETCHED : slopes, shifted ? SHIFTED : slopes},
        {STRETCHED, slopes},
    };
    double *E = matrices + 3 * square + SECTIONS * width;
    between_centers(few, &f, E);
    by_remainder(n, folds, keys, order, ends);
    for (int64_t i = 0; i < n; i++)
        weight[i] = few->weight[order[i]];
    double check = 0.0;
    for (int64_t fold = 0; fold < folds; fold++) {
        double *V = matrices, *columns = matrices + 3 * square;
        memset(matrices, 0, (size_t)(3 * square + SECTIONS * width) * sizeof *matrices);
        const int64_t targets[] = {
            (intptr_t)V,
            (intptr_t)(V + square),
            shifted || !distance ? (intptr_t)columns : (intptr_t)(V + 2 * square),
            (intptr_t)columns,
        };
        const Rows rows = {frame, few->X, weight, order, 1, ends + fold};
        const Products products = {
            {!shifted && own, 1, !own, distance},
            shifted || !distance ? 2 : 3,
            &pairs[0][0],
            1,
            FEW_TILE,
            targets,
        };
        add_double(&f, &rows, &products, library, sections, points);
        double total = 0.0;
        for (int64_t i = ends[fold]; i < ends[fold + 1]; i++)
            total += weight[i];
        few->weights[fold] = total;
        few->counts[fold] = ends[fold + 1] - ends[fold];
        const FoldSums sums = {V, V + square, shifted ? V + square : V + 2 * square, columns};
        double *L = few->L + fold * (1 + p) * (1 + p), *Phi = few->Phi + fold * (1 + p) * (1 + p);
        make_matrices(few, &f, &sums, shifted, total, E, L, Phi);
        for (int64_t i = 0; i < (1 + p) * (1 + p); i++)
            check += L[i] + Phi[i];
    }
    /* A sum of all is finite only if each is. */
    result = check - check == 0.0;
done:
    free(whole);
    free(room);
    return result;
}
