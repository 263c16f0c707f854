/* A host in C whose allocator counts: prepared WALK.tgb; a thousand runs of a prepared call allocate nothing. Prints `ok`.
   WALK.tgb has the program walk(g: graph<N>, r: f64[N], steps: i64) -> (out: f64[N]). */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <tiga.h>

#define DEMAND(condition)                                                              \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

enum { NODES = 5000, FEWER = 3000, RUNS = 1000 };

/* What glibc offers to those who bring their own functions. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_int counting;
static atomic_long calls;

static void count(void) {
    if (counting) calls++;
}

void *malloc(size_t bytes) { return count(), __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return count(), __libc_calloc(n, bytes); }
void *realloc(void *memory, size_t bytes) { return count(), __libc_realloc(memory, bytes); }
void *aligned_alloc(size_t align, size_t bytes) { return count(), __libc_memalign(align, bytes); }
void free(void *memory) { count(), __libc_free(memory); }
int posix_memalign(void **out, size_t align, size_t bytes) {
    count();
    *out = __libc_memalign(align, bytes);
    return *out ? 0 : ENOMEM;
}

static double ranks[NODES], out[NODES];

static tiga_graph *ring(int nodes) {
    static int64_t row_ptr[NODES + 1];
    static int32_t col[NODES];
    for (int i = 0; i < nodes; i++) {
        row_ptr[i + 1] = i + 1;
        col[i] = (i + 1) % nodes;
    }
    tiga_graph *graph;
    DEMAND(tiga_graph_from_csr((size_t)nodes, (size_t)nodes, (size_t)nodes, row_ptr, col, TIGA_I32, &graph, NULL) == TIGA_OK);
    return graph;
}

static void bind(tiga_call *call, const tiga_graph *graph, const int64_t *nodes, const int64_t *steps) {
    const tiga_array r = {ranks, TIGA_F64, 1, nodes, NULL}, times = {steps, TIGA_I64, 0, NULL, NULL};
    const tiga_array_mut result = {out, TIGA_F64, 1, nodes, NULL};
    DEMAND(tiga_call_clear(call, NULL) == TIGA_OK);
    DEMAND(tiga_call_graph(call, TIGA_STR("g"), graph, NULL) == TIGA_OK);
    DEMAND(tiga_call_input(call, TIGA_STR("r"), &r, NULL) == TIGA_OK);
    DEMAND(tiga_call_input(call, TIGA_STR("steps"), &times, NULL) == TIGA_OK);
    DEMAND(tiga_call_output(call, TIGA_STR("out"), &result, NULL) == TIGA_OK);
}

static void run_all(const tiga_bundle *bundle, size_t threads) {
    const tiga_context_options options = {.size = sizeof options, .threads = threads};
    const tiga_capacity capacities[] = {{TIGA_STR("N"), NODES}, {TIGA_STR("g.edges"), NODES}};
    const int64_t sizes[2] = {NODES, FEWER}, more = NODES + 1;
    tiga_graph *graphs[2] = {ring(NODES), ring(FEWER)};
    tiga_context *context;
    tiga_call *call;
    DEMAND(tiga_context_new(&options, &context, NULL) == TIGA_OK);
    DEMAND(tiga_call_new(bundle, TIGA_STR("walk"), &call, NULL) == TIGA_OK);
    DEMAND(tiga_call_prepare(call, context, capacities, 1, NULL) == TIGA_UNBOUND);
    DEMAND(tiga_call_prepare(call, context, capacities, 2, NULL) == TIGA_OK);
    int64_t steps = 1;
    bind(call, graphs[0], &sizes[0], &steps);
    DEMAND(tiga_call_run(call, context, NULL) == TIGA_NOT_DERIVED);
    for (int i = 0; i < 2; i++) {
        bind(call, graphs[i], &sizes[i], &steps);
        DEMAND(tiga_call_derive(call, NULL) == TIGA_OK);
    }
    calls = 0;
    for (int run = 0; run < RUNS; run++) {
        const int64_t nodes = sizes[run % 2];
        steps = run % 5;
        for (int i = 0; i < nodes; i++) ranks[i] = run * 7 + i;
        counting = 1;
        bind(call, graphs[run % 2], &nodes, &steps);
        const tiga_status status = tiga_call_run(call, context, NULL);
        counting = 0;
        DEMAND(status == TIGA_OK);
        for (int i = 0; i < nodes; i++) DEMAND(out[i] == run * 7 + (i + steps) % nodes);
    }
    DEMAND(calls == 0);
    counting = 1;
    free(malloc(1));
    counting = 0;
    DEMAND(calls == 2); /* what is counted is counted */
    tiga_error *error;
    DEMAND(tiga_call_clear(call, NULL) == TIGA_OK);
    const tiga_capacity larger = {TIGA_STR("N"), more};
    DEMAND(tiga_call_prepare(call, context, &larger, 1, &error) == TIGA_UNBOUND);
    tiga_error_free(error);
    bind(call, graphs[0], &sizes[0], &steps);
    DEMAND(tiga_call_run(call, context, NULL) == TIGA_OK); /* as an ordinary call */
    const tiga_capacity few[] = {{TIGA_STR("N"), FEWER}, {TIGA_STR("g.edges"), NODES}};
    DEMAND(tiga_call_prepare(call, context, few, 2, NULL) == TIGA_OK);
    bind(call, graphs[0], &sizes[0], &steps);
    DEMAND(tiga_call_run(call, context, &error) == TIGA_PREPARED);
    tiga_error_free(error);
    tiga_call_free(call);
    tiga_graph_free(graphs[0]);
    tiga_graph_free(graphs[1]);
    tiga_context_free(context);
}

int main(int argc, char **argv) {
    DEMAND(argc == 2);
    tiga_bundle *bundle;
    const tiga_str path = {(const uint8_t *)argv[1], 0};
    tiga_str whole = path;
    while (argv[1][whole.len]) whole.len++;
    DEMAND(tiga_bundle_open(whole, &bundle, NULL) == TIGA_OK);
    run_all(bundle, 1);
    run_all(bundle, 2);
    tiga_bundle_free(bundle);
    puts("ok");
}
