/* Sums over rows of products of sections, a tile of rows at a time, for sums of one type.
 *
 * The sections of a tile are still in cache when the linear algebra library multiplies them. */

/* Add A' B to C, for sections (n, width) of one tile. */
static void OF(add_section_product)(const Library *library, int64_t n, int64_t width, int half,
                                    REAL *A, REAL *B, REAL *C)
{
    /* Its two halves are added up in one order, so that a square is symmetric. */
    if (sizeof(REAL) == sizeof(double) && width <= WIDEST && width % 8 == 0) {
        add_small_product(n, width, half, (const double *)A, (const double *)B, (double *)C);
        return;
    }
    int p = (int)width, rows = (int)n;
    REAL one = 1;
    /* The library reads rows as columns, so that C' = B' A. */
    if (half)
        library->SYRK("U", "N", &p, &rows, &one, A, &p, &one, C, &p);
    else
        library->GEMM("N", "T", &p, &p, &rows, &one, B, &p, A, &p, &one, C, &p);
}

/* Add to matrices and sums of columns of some folds what rows give.
 *
 * Of products of a section with itself the lower triangle is added, where halves are enough. Room is
 * of ROOM_OF_TILE and ROOM_OF_POINTS numbers. */
static void OF(add)(const Kernel *f, const Rows *data, const Products *what, const Library *library,
                    REAL *sections, double *points)
{
    const int64_t tile = what->tile, p = f->width, d = f->columns;
    const int64_t products = what->products;
    const double *shift = data->frame, *scale = data->frame + d;
    REAL *roots = sections + SECTIONS * tile * p, *spare = roots + tile + 1;
    double *room = points + tile * d;
    memset(spare, 0, (size_t)(SECTIONS * p) * sizeof *spare);
    REAL *out[SECTIONS];
    for (int place = 0; place < SECTIONS; place++)
        out[place] = what->wanted[place] ? sections + place * tile * p : NULL;
    for (int64_t fold = 0; fold < data->folds; fold++) {
        const int64_t *targets = what->targets + fold * (products + 1);
        REAL *columns = (REAL *)(intptr_t)targets[products];
        const int64_t stop = data->ends[fold + 1];
        int64_t size;
        for (int64_t start = data->ends[fold]; start < stop; start += size) {
            size = stop - start < tile ? stop - start : tile;
            int even = 1;
            for (int64_t r = 0; r < size; r++) {
                const double *row = data->X + data->rows[start + r] * d;
                for (int64_t c = 0; c < d; c++)
                    points[r * d + c] = (row[c] - shift[c]) / scale[c];
                roots[r] = (REAL)sqrt(data->weight[start + r]);
                even &= data->weight[start + r] == 1.0;
            }
            OF(fill)(f, size, NULL, points, out, even ? columns : spare, room);
            for (int place = 0; place < SECTIONS; place++) {
                if (even || out[place] == NULL)
                    continue;
                for (int64_t r = 0; r < size; r++)
                    for (int64_t j = 0; j < p; j++)
                        out[place][r * p + j] *= roots[r];
                int width = (int)p, rows = (int)size, apart = 1;
                REAL one = 1;
                library->GEMV("N", &width, &rows, &one, out[place], &width, roots, &apart, &one,
                              columns + place * p, &apart);
            }
            for (int64_t place = 0; place < products; place++) {
                REAL *A = out[what->pairs[2 * place]], *B = out[what->pairs[2 * place + 1]];
                OF(add_section_product)(library, size, p, A == B && what->halves, A, B,
                                        (REAL *)(intptr_t)targets[place]);
            }
        }
    }
}

/* Add matrices, rows of a width one after the other, to a total, and set them to zero.
 *
 * Of square ones all entries, or those on and below the diagonal. */
static void OF(empty)(int64_t size, int64_t width, int lower, REAL *RESTRICT some,
                      double *RESTRICT total)
{
    for (int64_t row = 0, start = 0; start < size; row++, start += width) {
        const int64_t stop = start + (lower ? row + 1 : width);
        for (int64_t i = start; i < stop; i++) {
            total[i] += some[i];
            some[i] = 0;
        }
    }
}
