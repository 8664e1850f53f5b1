/* Rows by their numbers: hashes of them, the lowest of those, and folds. */

#define MINUS_ZERO (UINT64_C(1) << 63)

/* The finalizer of splitmix64. */
static inline uint64_t mixed(uint64_t key)
{
    key = (key ^ (key >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94D049BB133111EB);
    return key ^ (key >> 31);
}

/* Fold numbers (n, d) into keys (n), by their bits; -0 counts as 0. */
static void fold_in(int64_t n, int64_t d, uint64_t *RESTRICT keys, const double *RESTRICT numbers)
{
    /* By columns: the steps of one row wait for one another, those of several do not. */
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = 0; i < n; i++) {
            uint64_t bits;
            memcpy(&bits, numbers + i * d + j, sizeof bits);
            bits = bits == MINUS_ZERO ? 0 : bits;
            keys[i] = mixed((keys[i] ^ bits) + UINT64_C(0x9E3779B97F4A7C15));
        }
}

typedef struct {
    uint64_t priority;
    int64_t place;
} Candidate;

/* Sort candidates below a limit by priority, those of one priority by place, as they come.
 *
 * Hashes are spread evenly: there is about one to a bucket, and what is left to sort there is next
 * to nothing. Of many equal ones none has to move. */
static int sort_candidates(Candidate *list, int64_t count, uint64_t limit)
{
    int shift = 0;
    while ((limit >> shift) > (uint64_t)count)
        shift++;
    const int64_t buckets = (int64_t)(limit >> shift) + 1;
    Candidate *sorted = malloc((size_t)count * sizeof *sorted + 1);
    int64_t *next = calloc((size_t)buckets + 1, sizeof *next);
    if (sorted == NULL || next == NULL) {
        free(sorted);
        free(next);
        return -1;
    }
    for (int64_t i = 0; i < count; i++)
        next[(list[i].priority >> shift) + 1]++;
    for (int64_t b = 0; b < buckets; b++)
        next[b + 1] += next[b];
    for (int64_t i = 0; i < count; i++)
        sorted[next[list[i].priority >> shift]++] = list[i];
    for (int64_t i = 1; i < count; i++) {
        const Candidate one = sorted[i];
        int64_t j = i;
        for (; j > 0 && sorted[j - 1].priority > one.priority; j--)
            sorted[j] = sorted[j - 1];
        sorted[j] = one;
    }
    memcpy(list, sorted, (size_t)count * sizeof *list);
    free(sorted);
    free(next);
    return 0;
}

/* Write the places of the m lowest different priorities (n), ascending, the first of each.
 *
 * Returns how many there are, or -1 without memory. */
static int64_t lowest(int64_t n, const uint64_t *priority, int64_t m, int64_t *places)
{
    m = m < n ? m : n;
    if (m <= 0)
        return 0;
    Candidate *list = malloc((size_t)n * sizeof *list);
    if (list == NULL)
        return -1;
    /* Of hashes of different rows as many as wanted are below this limit, as a rule. */
    const double share = ((double)m + 8 * sqrt((double)m)) / (double)n;
    uint64_t limit = share < 0.5 ? (uint64_t)(share * 18446744073709551616.0) : UINT64_MAX;
    int64_t found;
    for (;;) {
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++) {
            list[count].priority = priority[i];
            list[count].place = i;
            count += priority[i] <= limit;
        }
        found = 0;
        if (count >= m || limit == UINT64_MAX) {
            if (sort_candidates(list, count, limit) < 0) {
                free(list);
                return -1;
            }
            for (int64_t i = 0; i < count && found < m; i++)
                if (i == 0 || list[i].priority != list[i - 1].priority)
                    places[found++] = list[i].place;
        }
        if (found == m || limit == UINT64_MAX)
            break;
        limit = UINT64_MAX;
    }
    free(list);
    return found;
}

/* Write rows in the order of their folds, key modulo folds, and where those of each end. */
static void by_remainder(int64_t n, int64_t folds, const uint64_t *keys, int64_t *order,
                         int64_t *ends)
{
    /* A remainder by a power of two takes a tenth of the time. */
    const uint64_t modulus = (uint64_t)folds, mask = folds & (folds - 1) ? 0 : modulus - 1;
#define FOLD(key) (mask || modulus == 1 ? (key) & mask : (key) % modulus)
    memset(ends, 0, (size_t)(folds + 1) * sizeof *ends);
    for (int64_t i = 0; i < n; i++)
        ends[FOLD(keys[i]) + 1]++;
    for (int64_t f = 0; f < folds; f++)
        ends[f + 1] += ends[f];
    /* Each fold is written from its start, which ends up where the next one begins. */
    for (int64_t i = 0; i < n; i++)
        order[ends[FOLD(keys[i])]++] = i;
    for (int64_t f = folds; f > 0; f--)
        ends[f] = ends[f - 1];
    ends[0] = 0;
#undef FOLD
}
