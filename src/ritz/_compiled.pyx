# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Compiled loops over rows: kernel sections at centers, and hashes of rows."""

from libc.stdint cimport int64_t, uint64_t

cdef extern from "_sections.h" nogil:
    void fill_rows(
        int is_matern, int64_t n, int64_t d, int64_t p, const double *X, const double *Y,
        const double *S, const double *offset, const double *a, const double *b,
        double *values, double *slopes, double *stretched, double *work)
    void hash_columns(int64_t n, int64_t d, const double *rows, uint64_t *keys)


cdef double *output(double[:, ::1] array, int64_t n, int64_t p) except? NULL:
    """Return where an output (n, p) begins, or NULL where it is not wanted."""
    if array is None:
        return NULL
    if array.shape[0] != n or array.shape[1] != p:
        raise ValueError("An output has the wrong shape.")
    return &array[0, 0]


def fill(
    bint is_matern, const double[:, ::1] X, const double[:, :, ::1] Y, const double[:, ::1] S,
    const double[::1] offset, const double[::1] a, const double[::1] b,
    double[:, ::1] values, double[:, ::1] slopes, double[:, ::1] stretched, double[::1] work,
):
    """Write kernel sections (n, p): values less an offset, slopes and stretched slopes.

    Either the rows X (n, d) and the centers Y (groups, d, 8) are given, or the squared distances S
    (n, p), and None for the others. Outputs that are None are not computed.
    """
    cdef int64_t p = offset.shape[0], n, d = 0
    if a.shape[0] != 4 or b.shape[0] != 3:
        raise ValueError("The coefficients must be 4 and 3 numbers.")
    if S is None:
        n, d = X.shape[0], X.shape[1]
        if Y.shape[0] != (p + 7) // 8 or Y.shape[1] != d or Y.shape[2] != 8:
            raise ValueError("The centers must have the shape (groups, d, 8).")
    else:
        n = S.shape[0]
        if S.shape[1] != p:
            raise ValueError("The distances must have the shape (n, p).")
    if work.shape[0] < 2 * 8 * ((p + 7) // 8):
        raise ValueError("The work array must have room for two rows.")
    if n == 0 or p == 0:
        return
    cdef double *v = output(values, n, p)
    cdef double *t = output(slopes, n, p)
    cdef double *st = output(stretched, n, p)
    cdef const double *x = NULL
    cdef const double *y = NULL
    cdef const double *s = NULL
    if S is None:
        x, y = (&X[0, 0] if d else NULL), (&Y[0, 0, 0] if d else NULL)
    else:
        s = &S[0, 0]
    with nogil:
        fill_rows(is_matern, n, d, p, x, y, s, &offset[0], &a[0], &b[0], v, t, st, &work[0])


def hash_into(uint64_t[::1] keys, const double[:, ::1] rows):
    """Combine each key (n,) with the bits of a row (n, d), in place."""
    if rows.shape[0] != keys.shape[0]:
        raise ValueError("There must be as many keys as rows.")
    if rows.shape[0] == 0 or rows.shape[1] == 0:
        return
    with nogil:
        hash_columns(rows.shape[0], rows.shape[1], &rows[0, 0], &keys[0])
