/* What a programmer writes by hand for one width: a row at a time, its features in registers, the next rows asked for. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Lines of the cache that are asked for ahead; `col` has as many numbers behind its end. */
enum { LINES = 64 };
/* Edges of a block that has one sum. */
enum { BLOCK = 8192 };

#define SPMM(F)                                                                                                       \
    void spmm_##F(int64_t rows, const int64_t *row_ptr, const int32_t *col, const float *w, const float *restrict x,  \
                  float *restrict out) {                                                                              \
        _Pragma("omp parallel for schedule(dynamic, 512)") for (int64_t d = 0; d < rows; d++) {                       \
            float sums[F] = {0};                                                                                      \
            for (int64_t e = row_ptr[d]; e < row_ptr[d + 1]; e++) {                                                   \
                const float *source = x + (int64_t)col[e] * F;                                                        \
                for (int k = 0; k < F; k += 16) __builtin_prefetch(x + (int64_t)col[e + LINES / (F / 16)] * F + k);              \
                for (int k = 0; k < F; k++) sums[k] += w[e] * source[k];                                              \
            }                                                                                                         \
            memcpy(out + d * F, sums, sizeof sums);                                                                   \
        }                                                                                                             \
    }                                                                                                                 \
    /* What no product by rows goes below: it reads what `spmm_F` reads, and knows no rows. */                        \
    void gathers_##F(int64_t edges, const int32_t *col, const float *w, const float *restrict x,                      \
                     float *restrict out) {                                                                           \
        _Pragma("omp parallel for schedule(dynamic, 1)") for (int64_t from = 0; from < edges; from += BLOCK) {        \
            float sums[F] = {0};                                                                                      \
            int64_t to = from + BLOCK < edges ? from + BLOCK : edges;                                                 \
            for (int64_t e = from; e < to; e++) {                                                                     \
                const float *source = x + (int64_t)col[e] * F;                                                        \
                for (int k = 0; k < F; k += 16) __builtin_prefetch(x + (int64_t)col[e + LINES / (F / 16)] * F + k);   \
                for (int k = 0; k < F; k++) sums[k] += w[e] * source[k];                                              \
            }                                                                                                         \
            memcpy(out + from / BLOCK * F, sums, sizeof sums);                                                        \
        }                                                                                                             \
    }

SPMM(16)
SPMM(32)
SPMM(64)

void spmm_1(int64_t rows, const int64_t *row_ptr, const int32_t *col, const float *w, const float *restrict x,
            float *restrict out) {
    _Pragma("omp parallel for schedule(dynamic, 512)") for (int64_t d = 0; d < rows; d++) {
        float sum = 0;
        for (int64_t e = row_ptr[d]; e < row_ptr[d + 1]; e++) sum += w[e] * x[col[e]];
        out[d] = sum;
    }
}

void gathers_1(int64_t edges, const int32_t *col, const float *w, const float *restrict x, float *restrict out) {
    _Pragma("omp parallel for schedule(dynamic, 1)") for (int64_t from = 0; from < edges; from += BLOCK) {
        float sum = 0;
        int64_t to = from + BLOCK < edges ? from + BLOCK : edges;
        for (int64_t e = from; e < to; e++) sum += w[e] * x[col[e]];
        out[from / BLOCK] = sum;
    }
}

/* For the bandwidth of the machine. */
void copy(int64_t count, const float *restrict from, float *restrict to) {
    _Pragma("omp parallel for schedule(static)") for (int64_t i = 0; i < count; i++) to[i] = from[i];
}

/* Asks for pages of 2 MB. */
int large_pages(void *address, size_t bytes) { return madvise(address, bytes, MADV_HUGEPAGE); }
