/* The module ritz.native._c: functions of Python's numbers and arrays around those of compute.h.
 *
 * An array is given as anything that has a buffer without gaps, of the type that is asked for, and of
 * at least the size that follows from the other arguments. Python's lock is released meanwhile. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compute.h"

static const Compute *compute = &compute_baseline;
static Library library;

/* One argument: a number, or an array. */
typedef struct {
    int64_t integer;
    uint64_t hash;
    double real;
    void *at;       /* NULL where None was given */
    int64_t size;   /* how many numbers there are */
    int single;     /* whether they are of float32 */
    Py_buffer buffer;
    int held;
} Argument;

#define MOST 24

static void release(Argument *given, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (given[i].held)
            PyBuffer_Release(&given[i].buffer);
}

/* Return what numbers of a buffer's format are: 'd', 'f', 'q', 'Q', or 0 for others. */
static char type_of(const Py_buffer *buffer)
{
    const char *format = buffer->format == NULL ? "B" : buffer->format;
    if (*format == '@' || *format == '=')
        format++;
    if (strlen(format) != 1)
        return 0;
    if (*format == 'd' || *format == 'f')
        return *format;
    if (buffer->itemsize == 8 && strchr("lqn", *format))
        return 'q';
    if (buffer->itemsize == 8 && strchr("LQN", *format))
        return 'Q';
    return 0;
}

/* Read arguments of some kinds, a letter each: i, h and r are numbers, h up to 2^64, d, q and u arrays of float64,
 * int64 and uint64, x one of float64 or float32; capitals of those are written to.
 *
 * All x have one type, or are None. Returns 0, or -1 and an error. */
static int read_arguments(const char *name, const char *kinds, PyObject *const *args,
                          Py_ssize_t count, Argument *given)
{
    const Py_ssize_t wanted = (Py_ssize_t)strlen(kinds);
    int single = -1;
    memset(given, 0, (size_t)wanted * sizeof *given);
    if (count != wanted) {
        PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Argument *one = given + i;
        const char kind = kinds[i];
        if (kind == 'i') {
            one->integer = PyLong_AsLongLong(args[i]);
            if (one->integer == -1 && PyErr_Occurred())
                goto failed;
            if (one->integer > INT_MAX || one->integer < -1) {
                /* So that products of sizes do not overflow, nor those the library is told. */
                PyErr_Format(PyExc_ValueError, "%s: argument %zd is too large, or negative", name,
                             i + 1);
                goto failed;
            }
            continue;
        }
        if (kind == 'h') {
            one->hash = PyLong_AsUnsignedLongLong(args[i]);
            if (one->hash == (uint64_t)-1 && PyErr_Occurred())
                goto failed;
            continue;
        }
        if (kind == 'r') {
            one->real = PyFloat_AsDouble(args[i]);
            if (one->real == -1.0 && PyErr_Occurred())
                goto failed;
            continue;
        }
        if (args[i] == Py_None)
            continue;
        const int writable = strchr("DQUX", kind) != NULL;
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(args[i], &one->buffer, flags) < 0)
            goto failed;
        one->held = 1;
        const char type = type_of(&one->buffer);
        int right = 0;
        if (strchr("dD", kind))
            right = type == 'd';
        else if (strchr("qQ", kind))
            right = type == 'q';
        else if (strchr("uU", kind))
            right = type == 'Q';
        else {
            one->single = type == 'f';
            right = (type == 'd' || type == 'f') && (single < 0 || single == one->single);
            single = one->single;
        }
        if (!right) {
            PyErr_Format(PyExc_TypeError, "%s: argument %zd has numbers of the wrong type", name,
                         i + 1);
            goto failed;
        }
        if ((uintptr_t)one->buffer.buf % (size_t)one->buffer.itemsize) {
            PyErr_Format(PyExc_ValueError, "%s: argument %zd is not aligned in memory", name, i + 1);
            goto failed;
        }
        one->at = one->buffer.buf;
        one->size = one->buffer.len / one->buffer.itemsize;
    }
    return 0;
failed:
    release(given, count);
    return -1;
}

/* Return whether an argument has room for so many numbers; an error where it has not. */
static int enough(const char *name, const Argument *given, Py_ssize_t place, int64_t size)
{
    if (size >= 0 && given[place].size >= size)
        return 1;
    PyErr_Format(PyExc_ValueError, "%s: argument %zd has %lld numbers, and needs %lld", name,
                 place + 1, (long long)given[place].size, (long long)size);
    return 0;
}

#define ARGUMENTS(name, kinds)                                                                     \
    const char *const own = name;                                                                  \
    Argument given[MOST];                                                                          \
    if (read_arguments(own, kinds, args, count, given) < 0)                                        \
        return NULL;
#define HAS(place, size) enough(own, given, place, size)
#define RETURN_NONE                                                                                \
    release(given, count);                                                                         \
    if (PyErr_Occurred())                                                                          \
        return NULL;                                                                               \
    Py_RETURN_NONE;
#define ONLY_IF(condition)                                                                         \
    if (!(condition)) {                                                                            \
        release(given, count);                                                                     \
        if (!PyErr_Occurred())                                                                     \
            PyErr_Format(PyExc_ValueError, "%s: sizes do not go together", own);                   \
        return NULL;                                                                               \
    }
#define FUNCTION(name)                                                                             \
    static PyObject *native_##name(PyObject *self, PyObject *const *args, Py_ssize_t count)

FUNCTION(fold_in)
{
    (void)self;
    ARGUMENTS("fold_in", "Ud")
    const int64_t n = given[0].size, size = given[1].size;
    ONLY_IF(n == 0 ? size == 0 : size % n == 0)
    Py_BEGIN_ALLOW_THREADS
    if (n)
        compute->fold_in(n, size / n, given[0].at, given[1].at);
    Py_END_ALLOW_THREADS
    RETURN_NONE
}

FUNCTION(lowest)
{
    (void)self;
    ARGUMENTS("lowest", "uiQ")
    const int64_t n = given[0].size, m = given[1].integer;
    ONLY_IF(m >= 0 && HAS(2, m < n ? m : n))
    int64_t found;
    Py_BEGIN_ALLOW_THREADS
    found = compute->lowest(n, given[0].at, m, given[2].at);
    Py_END_ALLOW_THREADS
    release(given, count);
    return found < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(found);
}

FUNCTION(by_remainder)
{
    (void)self;
    ARGUMENTS("by_remainder", "uQQ")
    const int64_t n = given[0].size, folds = given[2].size - 1;
    ONLY_IF(folds >= 1 && HAS(1, n))
    Py_BEGIN_ALLOW_THREADS
    compute->by_remainder(n, folds, given[0].at, given[1].at, given[2].at);
    Py_END_ALLOW_THREADS
    RETURN_NONE
}

FUNCTION(differences)
{
    (void)self;
    ARGUMENTS("differences", "iiddD")
    const int64_t n = given[0].integer, p = given[1].integer;
    ONLY_IF(n >= 0 && p > 0 && given[3].size >= p && given[3].size % p == 0)
    const int64_t d = given[3].size / p;
    ONLY_IF(HAS(2, n * d) && HAS(4, n * p))
    double *room = malloc((size_t)p * sizeof *room);
    if (room == NULL) {
        release(given, count);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    compute->differences(n, d, p, given[2].at, given[3].at, given[4].at, room);
    Py_END_ALLOW_THREADS
    free(room);
    RETURN_NONE
}

FUNCTION(squares)
{
    (void)self;
    ARGUMENTS("squares", "Ddddd")
    const int64_t n = given[3].size, p = given[4].size;
    ONLY_IF(n > 0 && p > 0 && given[1].size % n == 0)
    const int64_t d = given[1].size / n;
    ONLY_IF(HAS(0, n * p) && HAS(2, p * d))
    Py_BEGIN_ALLOW_THREADS
    compute->squares(n, d, p, given[0].at, given[1].at, given[2].at, given[3].at, given[4].at);
    Py_END_ALLOW_THREADS
    RETURN_NONE
}

/* Return whether a kernel has the coefficients it needs. */
static int has_coefficients(const char *own, const Argument *given, int64_t kernel, Py_ssize_t a)
{
    static const int first[KERNELS] = {0, 4, 1}, second[KERNELS] = {0, 3, 1};
    if (kernel < 0 || kernel >= KERNELS)
        return 0;
    return HAS(a, first[kernel]) && HAS(a + 1, second[kernel]);
}

FUNCTION(fill)
{
    (void)self;
    /* kernel, n, d, p; S, X, Y, offset, a, b; values, shifted, slopes, stretched. */
    ARGUMENTS("fill", "iiiiddddddXXXX")
    const int64_t kernel = given[0].integer, n = given[1].integer, d = given[2].integer;
    const int64_t p = given[3].integer;
    ONLY_IF(n >= 0 && d >= 0 && p >= 0)
    ONLY_IF(has_coefficients(own, given, kernel, 8))
    ONLY_IF(given[4].at == NULL ? d > 0 && HAS(5, n * d) && HAS(6, d * p) : HAS(4, n * p))
    ONLY_IF(given[11].at == NULL || HAS(7, p))
    int single = 0;
    for (int place = 10; place < 14; place++) {
        ONLY_IF(given[place].at == NULL || HAS(place, n * p))
        single |= given[place].single;
    }
    double *room = malloc((size_t)((ROOM_OF_PASS(1) + SECTIONS) * p + 1) * sizeof *room);
    if (room == NULL) {
        release(given, count);
        return PyErr_NoMemory();
    }
    const Kernel f = {
        kernel, d, p, given[6].at, given[7].at, given[8].at, given[9].at,
    };
    Py_BEGIN_ALLOW_THREADS
    /* Sums are not asked for. */
    double *sums = room + ROOM_OF_PASS(1) * p;
    memset(sums, 0, (size_t)(SECTIONS * p) * sizeof *sums);
    if (single) {
        float *const out[] = {given[10].at, given[11].at, given[12].at, given[13].at};
        compute->fill_single(&f, n, given[4].at, given[5].at, out, (float *)sums, room);
    } else {
        double *const out[] = {given[10].at, given[11].at, given[12].at, given[13].at};
        compute->fill_double(&f, n, given[4].at, given[5].at, out, sums, room);
    }
    Py_END_ALLOW_THREADS
    free(room);
    RETURN_NONE
}

FUNCTION(room_of)
{
    (void)self;
    ARGUMENTS("room_of", "iii")
    const int64_t tile = given[0].integer, d = given[1].integer, p = given[2].integer;
    return Py_BuildValue("LL", (long long)ROOM_OF_TILE(tile, p),
                         (long long)ROOM_OF_POINTS(tile, d, p));
}

FUNCTION(add_tiles)
{
    (void)self;
    /* kernel, p, tile, halves; Y, offset, a, b, frame; wanted, pairs; room, points;
     * X, rows, weight, ends, targets. */
    ARGUMENTS("add_tiles", "iiiidddddqqXDdqdqq")
    const int64_t kernel = given[0].integer, p = given[1].integer, tile = given[2].integer;
    const int64_t d = given[8].size / 2, products = given[10].size / 2;
    ONLY_IF(p > 0 && tile > 0 && d > 0 && has_coefficients(own, given, kernel, 6))
    ONLY_IF(HAS(4, d * p) && HAS(5, p) && HAS(9, SECTIONS))
    ONLY_IF(HAS(11, ROOM_OF_TILE(tile, p)) && HAS(12, ROOM_OF_POINTS(tile, d, p)))
    const int64_t rows = given[14].size, folds = given[16].size - 1;
    ONLY_IF(folds >= 0 && HAS(15, rows) && HAS(17, folds * (products + 1)))
    const int64_t *number = given[14].at, *ends = given[16].at, n = given[13].size / d;
    for (int64_t f = 0; f < folds; f++)
        ONLY_IF(ends[f] >= 0 && ends[f] <= ends[f + 1] && ends[f + 1] <= rows)
    for (int64_t i = 0; i < rows; i++)
        ONLY_IF(number[i] >= 0 && number[i] < n)
    const int64_t *wanted = given[9].at, *pairs = given[10].at;
    for (int64_t i = 0; i < 2 * products; i++)
        ONLY_IF(pairs[i] >= 0 && pairs[i] < SECTIONS && wanted[pairs[i]])
    const Kernel f = {
        kernel, d, p, given[4].at, given[5].at, given[6].at, given[7].at,
    };
    const Rows data = {given[8].at, given[13].at, given[15].at, number, folds, ends};
    const Products what = {
        {wanted[0] != 0, wanted[1] != 0, wanted[2] != 0, wanted[3] != 0},
        products,
        pairs,
        given[3].integer != 0,
        tile,
        given[17].at,
    };
    Py_BEGIN_ALLOW_THREADS
    if (given[11].single)
        compute->add_single(&f, &data, &what, &library, given[11].at, given[12].at);
    else
        compute->add_double(&f, &data, &what, &library, given[11].at, given[12].at);
    Py_END_ALLOW_THREADS
    RETURN_NONE
}

FUNCTION(add_product)
{
    (void)self;
    /* p, q, factor; C, A, B, or None for A. */
    ARGUMENTS("add_product", "iirXxx")
    int p = (int)given[0].integer, q = (int)given[1].integer;
    ONLY_IF(p > 0 && q > 0 && given[4].size % p == 0 && HAS(3, (int64_t)p * q))
    ONLY_IF(given[4].size / p <= INT_MAX)
    int n = (int)(given[4].size / p);
    const int half = given[5].at == NULL, single = given[3].single;
    ONLY_IF(half ? p == q : HAS(5, (int64_t)n * q))
    void *C = given[3].at, *A = given[4].at, *B = given[5].at;
    double factor = given[2].real, one = 1.0;
    float single_factor = (float)factor, single_one = 1.0f;
    void *by = single ? (void *)&single_factor : (void *)&factor;
    void *as_it_is = single ? (void *)&single_one : (void *)&one;
    Py_BEGIN_ALLOW_THREADS
    /* The library reads rows as columns, so that C' = B' A. */
    if (half)
        (single ? library.ssyrk : library.dsyrk)("U", "N", &p, &n, by, A, &p, as_it_is, C, &p);
    else
        (single ? library.sgemm : library.dgemm)("N", "T", &q, &p, &n, by, B, &q, A, &p, as_it_is,
                                                 C, &q);
    Py_END_ALLOW_THREADS
    RETURN_NONE
}

FUNCTION(empty_into)
{
    (void)self;
    ARGUMENTS("empty_into", "iiXD")
    const int64_t width = given[0].integer, size = given[2].size;
    const int lower = given[1].integer != 0;
    ONLY_IF(width > 0 && size % width == 0 && HAS(3, size))
    ONLY_IF(!lower || size == width * width)
    Py_BEGIN_ALLOW_THREADS
    if (given[2].single)
        compute->empty_single(size, width, lower, given[2].at, given[3].at);
    else
        compute->empty_double(size, width, lower, given[2].at, given[3].at);
    Py_END_ALLOW_THREADS
    RETURN_NONE
}

FUNCTION(join_distances)
{
    (void)self;
    /* unit; V, h, M, s, E, c. */
    ARGUMENTS("join_distances", "rddDddd")
    const int64_t p = given[6].size;
    ONLY_IF(p > 0 && given[2].size % p == 0)
    const int64_t folds = given[2].size / p;
    ONLY_IF(HAS(1, folds * p * p) && HAS(3, folds * p * p) && HAS(4, folds * p) && HAS(5, p * p))
    Py_BEGIN_ALLOW_THREADS
    compute->join(folds, p, given[0].real, given[1].at, given[2].at, given[3].at, given[4].at,
                  given[5].at, given[6].at);
    Py_END_ALLOW_THREADS
    RETURN_NONE
}

FUNCTION(cosines)
{
    (void)self;
    ARGUMENTS("cosines", "dirD")
    const int64_t n = given[0].size;
    ONLY_IF(HAS(3, n))
    Py_BEGIN_ALLOW_THREADS
    compute->cosines(n, given[0].at, given[1].integer, given[2].real, given[3].at);
    Py_END_ALLOW_THREADS
    RETURN_NONE
}

FUNCTION(sum_few)
{
    (void)self;
    /* kernel, pilot rows, directions to tell apart, seed; X, weight, scale, a, b; centers,
     * offset, weights, counts, L, Phi. */
    ARGUMENTS("sum_few", "iiihdddddDDDQDD")
    const int64_t n = given[5].size, d = given[6].size, p = given[10].size, folds = given[11].size;
    const int64_t square = (1 + p) * (1 + p);
    ONLY_IF(n > 0 && d > 0 && p > 0 && folds > 0 && HAS(4, n * d))
    ONLY_IF(has_coefficients(own, given, given[0].integer, 7))
    ONLY_IF(HAS(9, p * d) && HAS(12, folds) && HAS(13, folds * square) && HAS(14, folds * square))
    const Few few = {
        n,
        d,
        folds,
        p,
        given[4].at,
        given[5].at,
        given[6].at,
        given[3].hash,
        given[0].integer,
        given[7].at,
        given[8].at,
        given[1].integer,
        given[2].integer,
        given[9].at,
        given[10].at,
        given[11].at,
        given[12].at,
        given[13].at,
        given[14].at,
    };
    int done;
    Py_BEGIN_ALLOW_THREADS
    done = compute->sum_few(&few, &library);
    Py_END_ALLOW_THREADS
    release(given, count);
    return done < 0 ? PyErr_NoMemory() : PyBool_FromLong(done);
}

FUNCTION(solve_few)
{
    (void)self;
    /* squares, weight; L, Phi, offset; means, values, constants, residuals, coefficients. */
    ARGUMENTS("solve_few", "irdddDDDDD")
    const int64_t p = given[4].size, square = (1 + p) * (1 + p), k = given[6].size;
    ONLY_IF(p > 0 && k > 0 && given[2].size % square == 0 && given[2].size > 0)
    ONLY_IF(HAS(3, given[2].size) && HAS(5, p) && HAS(7, k) && HAS(8, k) && HAS(9, p * k))
    const Problem problem = {
        p,
        given[2].size / square,
        k,
        given[0].integer != 0,
        given[1].real,
        given[2].at,
        given[3].at,
        given[4].at,
        given[5].at,
        given[6].at,
        given[7].at,
        given[8].at,
        given[9].at,
    };
    int64_t rank;
    Py_BEGIN_ALLOW_THREADS
    rank = compute->solve_few(&problem, &library);
    Py_END_ALLOW_THREADS
    release(given, count);
    return rank < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(rank);
}

/* Find a routine of SciPy's linear algebra library; NULL and an error where it is not as it should
 * be. */
static void *routine(PyObject *routines, const char *name)
{
    PyObject *capsule = PyMapping_GetItemString(routines, name);
    if (capsule == NULL)
        return NULL;
    const char *signature = PyCapsule_GetName(capsule);
    void *found = NULL;
    if (signature != NULL) {
        if (strstr(signature, "int64") || !strstr(signature, "int *"))
            PyErr_Format(PyExc_NotImplementedError,
                         "SciPy's linear algebra has 64-bit integers here (%s), which ritz cannot "
                         "call. SciPy from PyPI has those of 32 bits.",
                         signature);
        else
            found = PyCapsule_GetPointer(capsule, signature);
    }
    Py_DECREF(capsule);
    if (found == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_ImportError, "SciPy's linear algebra has no %s", name);
    return found;
}

static int find_library(void)
{
    const struct {
        const char *module, *name;
        void *place; /* of a pointer to a function */
    } wanted[] = {
        {"scipy.linalg.cython_blas", "dgemm", &library.dgemm},
        {"scipy.linalg.cython_blas", "dsyrk", &library.dsyrk},
        {"scipy.linalg.cython_blas", "dgemv", &library.dgemv},
        {"scipy.linalg.cython_blas", "sgemm", &library.sgemm},
        {"scipy.linalg.cython_blas", "ssyrk", &library.ssyrk},
        {"scipy.linalg.cython_blas", "sgemv", &library.sgemv},
        {"scipy.linalg.cython_lapack", "dpotrf", &library.dpotrf},
        {"scipy.linalg.cython_lapack", "dtrtri", &library.dtrtri},
        {"scipy.linalg.cython_lapack", "dsyevd", &library.dsyevd},
        {"scipy.linalg.cython_lapack", "dsygvd", &library.dsygvd},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        PyObject *module = PyImport_ImportModule(wanted[i].module);
        if (module == NULL)
            return -1;
        PyObject *routines = PyObject_GetAttrString(module, "__pyx_capi__");
        Py_DECREF(module);
        if (routines == NULL)
            return -1;
        void *found = routine(routines, wanted[i].name);
        Py_DECREF(routines);
        if (found == NULL)
            return -1;
        memcpy(wanted[i].place, &found, sizeof found);
    }
    return 0;
}

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))native_##name, METH_FASTCALL, NULL}

static PyMethodDef methods[] = {
    METHOD(fold_in),    METHOD(lowest),         METHOD(by_remainder), METHOD(differences),
    METHOD(squares),    METHOD(fill),           METHOD(room_of),      METHOD(add_tiles),
    METHOD(add_product), METHOD(empty_into), METHOD(join_distances), METHOD(cosines),      METHOD(sum_few), METHOD(solve_few),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "ritz.native._c",
    .m_doc = "What is computed in C.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__c(void)
{
    const char *instructions = "baseline";
#ifdef RITZ_AVX2
    /* Only to compare the two. */
    const char *wanted = getenv("RITZ_INSTRUCTIONS");
    const int others = wanted == NULL || strcmp(wanted, "baseline") != 0;
    __builtin_cpu_init();
    if (others && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        compute = &compute_avx2;
        instructions = "avx2";
    }
#endif
    if (find_library() < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL &&
        PyModule_AddStringConstant(module, "INSTRUCTIONS", instructions) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
