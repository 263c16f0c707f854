/* A host in C that asks the library for everything it promises: checks CHECK WALK.tgb; prints `ok`, or where it failed.
   WALK.tgb has the program walk(g: graph<N>, r: f64[N], steps: i64) -> (out: f64[N]). */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tiga.h>

#define DEMAND(condition)                                                              \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

enum { NODES = 2000, THREADS = 8 };

static tiga_bundle *bundle;
static tiga_graph *ring;
static double ranks[NODES];

static void ok(tiga_status status, tiga_error **error) {
    if (status == TIGA_OK) {
        DEMAND(*error == NULL);
        return;
    }
    tiga_str message = tiga_error_message(*error);
    fprintf(stderr, "error %d: %.*s\n", status, (int)message.len, (const char *)message.data);
    exit(1);
}

/* Whether a call failed with a number, said in words. */
static void fails(tiga_status status, tiga_status expected, tiga_error **error) {
    if (status != expected) fprintf(stderr, "status %d, expected %d\n", status, expected);
    DEMAND(status == expected && tiga_error_status(*error) == expected && tiga_error_message(*error).len > 0);
    tiga_error_free(*error);
    *error = NULL;
}

static int is(tiga_str text, const char *expected) {
    return text.len == strlen(expected) && !memcmp(text.data, expected, text.len);
}

static void make_ring(void) {
    tiga_error *error;
    static int64_t row_ptr[NODES + 1];
    static int32_t col[NODES];
    for (int i = 0; i < NODES; i++) {
        row_ptr[i + 1] = i + 1;
        col[i] = (i + 1) % NODES;
        ranks[i] = i;
    }
    ok(tiga_graph_from_csr(NODES, NODES, NODES, row_ptr, col, TIGA_I32, &ring, &error), &error);
    memset(col, 0xff, sizeof col); /* copied: the host may do what it likes */
    DEMAND(tiga_graph_num_src(ring) == NODES && tiga_graph_num_edges(ring) == NODES);
}

/* A call of walk, bound. */
static tiga_call *walk(const int64_t *steps, double *out) {
    const int64_t nodes = NODES;
    const tiga_array r = {ranks, TIGA_F64, 1, &nodes, NULL}, count = {steps, TIGA_I64, 0, NULL, NULL};
    const tiga_array_mut result = {out, TIGA_F64, 1, &nodes, NULL};
    tiga_error *error;
    tiga_call *call;
    ok(tiga_call_new(bundle, TIGA_STR("walk"), &call, &error), &error);
    ok(tiga_call_graph(call, TIGA_STR("g"), ring, &error), &error);
    ok(tiga_call_input(call, TIGA_STR("r"), &r, &error), &error);
    ok(tiga_call_input(call, TIGA_STR("steps"), &count, &error), &error);
    ok(tiga_call_output(call, TIGA_STR("out"), &result, &error), &error);
    return call;
}

static tiga_context *context_of(size_t threads, int caller) {
    tiga_context_options options = {.size = sizeof options, .threads = threads, .caller_thread = caller};
    tiga_error *error;
    tiga_context *context;
    ok(tiga_context_new(&options, &context, &error), &error);
    return context;
}

/* Runs walk on a context and looks at every number. */
static void walk_right(const tiga_context *context, int64_t steps) {
    double *out = malloc(NODES * sizeof *out);
    tiga_error *error;
    tiga_call *call = walk(&steps, out);
    ok(tiga_call_run(call, context, &error), &error);
    for (int i = 0; i < NODES; i++) DEMAND(out[i] == (i + steps) % NODES);
    tiga_call_free(call);
    free(out);
}

/* The bundle opened from a copy in memory, which goes before it is used. */
static void check_memory(const char *path) {
    FILE *file = fopen(path, "rb");
    DEMAND(file);
    static uint8_t bytes[1 << 20];
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    tiga_error *error;
    tiga_bundle_free(bundle);
    ok(tiga_bundle_from_memory(bytes, len, &bundle, &error), &error);
    memset(bytes, 0, sizeof bytes);
    tiga_context *context = context_of(0, 0);
    walk_right(context, 3);
    tiga_context_free(context);
}

static void *many_walks(void *context) {
    for (int64_t steps = 0; steps < 10; steps++) walk_right(context, steps);
    return NULL;
}

/* Two contexts at work at once, one of them without threads. */
static void check_contexts(void) {
    tiga_context *contexts[2] = {context_of(2, 0), context_of(0, 1)};
    DEMAND(tiga_context_threads(contexts[0]) == 2 && tiga_context_threads(contexts[1]) == 1);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) DEMAND(!pthread_create(&threads[i], NULL, many_walks, contexts[i]));
    for (int i = 0; i < 2; i++) DEMAND(!pthread_join(threads[i], NULL));
    for (int i = 0; i < 2; i++) tiga_context_free(contexts[i]);
}

static void *own_context(void *unused) {
    (void)unused;
    tiga_context *context = context_of(0, 1);
    many_walks(context);
    tiga_context_free(context);
    return NULL;
}

/* Eight threads share a bundle and a graph, each on its own context. What is derived from the graph is there before them:
   helgrind knows the locks of pthreads only, and not those of Rust under which one thread would make it for the others. */
static void check_threads(void) {
    pthread_t threads[THREADS];
    own_context(NULL);
    for (int i = 0; i < THREADS; i++) DEMAND(!pthread_create(&threads[i], NULL, own_context, NULL));
    for (int i = 0; i < THREADS; i++) DEMAND(!pthread_join(threads[i], NULL));
}

static void *ask_soon(void *cancel) {
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    tiga_cancel_request(cancel);
    return NULL;
}

/* A loop of 2^62 rounds ends because another thread asks. */
static void check_cancel(void) {
    tiga_error *error;
    tiga_cancel *cancel;
    ok(tiga_cancel_new(&cancel, &error), &error);
    DEMAND(!tiga_cancel_requested(cancel));
    static double out[NODES];
    const int64_t steps = INT64_C(1) << 62;
    tiga_call *call = walk(&steps, out);
    ok(tiga_call_cancelled_by(call, cancel, &error), &error);
    tiga_context *context = context_of(2, 0);
    pthread_t thread;
    DEMAND(!pthread_create(&thread, NULL, ask_soon, cancel));
    fails(tiga_call_run(call, context, &error), TIGA_CANCELLED, &error);
    DEMAND(!pthread_join(thread, NULL) && tiga_cancel_requested(cancel));
    tiga_call_free(call);
    tiga_cancel_free(cancel);
    walk_right(context, 5);
    tiga_context_free(context);
}

static void on_log(void *lines, int32_t level, tiga_str line) {
    DEMAND(level == TIGA_LOG_INFO && line.len > 0);
    ++*(int *)lines;
}

static void on_progress(void *last, tiga_str task, uint64_t done, uint64_t at_most) {
    DEMAND(task.len > 0 && done == *(uint64_t *)last + 1 && at_most == 0);
    *(uint64_t *)last = done;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *give(void *balance, size_t bytes, size_t align) {
    pthread_mutex_lock(&lock);
    *(int64_t *)balance += (int64_t)bytes;
    pthread_mutex_unlock(&lock);
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void take(void *balance, void *memory, size_t bytes) {
    pthread_mutex_lock(&lock);
    *(int64_t *)balance -= (int64_t)bytes;
    pthread_mutex_unlock(&lock);
    free(memory);
}

static void *give_nothing(void *unused, size_t bytes, size_t align) {
    (void)unused, (void)bytes, (void)align;
    return NULL;
}

/* Log lines, progress, and memory of the host. */
static void check_hooks(void) {
    int lines = 0;
    uint64_t done = 0;
    int64_t balance = 0;
    tiga_error *error;
    tiga_context_options options = {.size = sizeof options, .threads = 2, .log_level = TIGA_LOG_INFO, .log = on_log};
    options.log_data = &lines, options.allocate = give, options.release = take, options.allocator_data = &balance;
    tiga_context *context;
    ok(tiga_context_new(&options, &context, &error), &error);
    static double out[NODES];
    const int64_t steps = 4;
    tiga_call *call = walk(&steps, out);
    ok(tiga_call_on_progress(call, on_progress, &done, &error), &error);
    ok(tiga_call_run(call, context, &error), &error);
    DEMAND(lines == 2 && done > 4 && balance == 0 && out[0] == 4);
    tiga_context_free(context);
    options.allocate = give_nothing;
    ok(tiga_context_new(&options, &context, &error), &error);
    done = 0;
    fails(tiga_call_run(call, context, &error), TIGA_ALLOCATOR, &error);
    tiga_context_free(context);
    options.release = NULL;
    fails(tiga_context_new(&options, &context, &error), TIGA_ARGUMENT, &error);
    DEMAND(context == NULL);
    tiga_call_free(call);
}

/* What is wrong is said, and nothing else happens. */
static void check_errors(void) {
    tiga_error *error = NULL;
    tiga_bundle *no_bundle;
    tiga_graph *no_graph;
    tiga_call *call;
    fails(tiga_bundle_open(TIGA_STR("no/such/file"), &no_bundle, &error), TIGA_FILE, &error);
    fails(tiga_bundle_from_memory((const uint8_t *)"x", 1, &no_bundle, &error), TIGA_BUNDLE, &error);
    fails(tiga_bundle_from_memory(NULL, 1, &no_bundle, &error), TIGA_NULL, &error);
    fails(tiga_bundle_from_memory((const uint8_t *)"x", SIZE_MAX, &no_bundle, &error), TIGA_ARGUMENT, &error);
    fails(tiga_bundle_open(TIGA_STR("x"), NULL, &error), TIGA_NULL, &error);
    DEMAND(tiga_bundle_open(TIGA_STR("x"), NULL, NULL) == TIGA_NULL);
    fails(tiga_call_new(bundle, TIGA_STR("run"), &call, &error), TIGA_NO_PROGRAM, &error);
    fails(tiga_call_new(NULL, TIGA_STR("walk"), &call, &error), TIGA_NULL, &error);
    const int64_t row_ptr[] = {0, 1}, far = 7;
    fails(tiga_graph_from_csr(1, 1, 1, row_ptr, &far, TIGA_I64, &no_graph, &error), TIGA_GRAPH, &error);
    fails(tiga_graph_from_csr(1, 1, 1, row_ptr, &far, TIGA_F64, &no_graph, &error), TIGA_ARGUMENT, &error);
    fails(tiga_graph_from_csr(1, SIZE_MAX, 1, row_ptr, &far, TIGA_I64, &no_graph, &error), TIGA_ARGUMENT, &error);
    fails(tiga_graph_from_csr(1, 1, 1, row_ptr, NULL, TIGA_I64, &no_graph, &error), TIGA_NULL, &error);

    static double out[2 * NODES];
    const int64_t nodes = NODES, negative = -1, two = 2, huge = INT64_MAX, steps = 1;
    tiga_array array = {ranks, TIGA_F64, 1, &nodes, NULL};
    ok(tiga_call_new(bundle, TIGA_STR("walk"), &call, &error), &error);
    fails(tiga_call_input(call, TIGA_STR("x"), &array, &error), TIGA_NO_PARAMETER, &error);
    fails(tiga_call_input(call, TIGA_STR("g"), &array, &error), TIGA_KIND, &error);
    tiga_call_free(call);
    struct {
        tiga_array array;
        tiga_status status;
    } wrong[] = {
        {{ranks, 99, 1, &nodes, NULL}, TIGA_ARGUMENT},      {{ranks, TIGA_F64, -1, &nodes, NULL}, TIGA_ARGUMENT},
        {{ranks, TIGA_F64, 1, &negative, NULL}, TIGA_ARGUMENT}, {{ranks, TIGA_F64, 1, &huge, NULL}, TIGA_ARGUMENT},
        {{NULL, TIGA_F64, 1, &nodes, NULL}, TIGA_NULL},     {{ranks, TIGA_F64, 1, NULL, NULL}, TIGA_NULL},
        {{ranks, TIGA_F32, 1, &nodes, NULL}, TIGA_DTYPE},   {{ranks, TIGA_F64, 0, NULL, NULL}, TIGA_RANK},
        {{ranks, TIGA_F64, 1, &nodes, &two}, TIGA_STRIDES},
        {{(char *)ranks + 4, TIGA_F64, 1, &two, NULL}, TIGA_ALIGNMENT},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ok(tiga_call_new(bundle, TIGA_STR("walk"), &call, &error), &error);
        fails(tiga_call_input(call, TIGA_STR("r"), &wrong[i].array, &error), wrong[i].status, &error);
        tiga_call_free(call);
    }
    tiga_array nowhere = {NULL, TIGA_F64, 1, &nodes, NULL};
    ok(tiga_call_new(bundle, TIGA_STR("walk"), &call, &error), &error);
    DEMAND(tiga_call_input(call, TIGA_STR("r"), &nowhere, &error) == TIGA_NULL);
    DEMAND(is(tiga_error_message(error), "`r`: `data` is null"));
    tiga_error_free(error), tiga_call_free(call);
    tiga_context *context = context_of(0, 1);
    call = walk(&steps, out);
    fails(tiga_call_input(call, TIGA_STR("r"), &array, &error), TIGA_BOUND_TWICE, &error);
    tiga_call_free(call);
    ok(tiga_call_new(bundle, TIGA_STR("walk"), &call, &error), &error);
    fails(tiga_call_run(call, context, &error), TIGA_MISSING, &error);
    const tiga_array_mut same = {ranks, TIGA_F64, 1, &nodes, NULL};
    ok(tiga_call_input(call, TIGA_STR("r"), &array, &error), &error);
    fails(tiga_call_output(call, TIGA_STR("out"), &same, &error), TIGA_OVERLAP, &error);
    fails(tiga_call_dim(call, TIGA_STR("N"), 5, &error), TIGA_CONFLICT, &error);
    fails(tiga_call_run(NULL, context, &error), TIGA_NULL, &error);
    tiga_call_free(call);
    tiga_context_free(context);
    tiga_bundle_free(NULL), tiga_call_free(NULL), tiga_graph_free(NULL), tiga_context_free(NULL);
    tiga_cancel_free(NULL), tiga_error_free(NULL), tiga_cancel_request(NULL);
    DEMAND(tiga_error_status(NULL) == TIGA_OK && tiga_bundle_programs(NULL) == 0 && tiga_status_name(9).len == 0);
}

/* A result shares memory with an input or another result in no order of binding. */
static void check_overlap(void) {
    static double both[NODES + 1];
    const int64_t nodes = NODES;
    const tiga_array input = {both + 1, TIGA_F64, 1, &nodes, NULL};
    const tiga_array_mut result = {both, TIGA_F64, 1, &nodes, NULL};
    tiga_error *error;
    tiga_call *call;
    ok(tiga_call_new(bundle, TIGA_STR("walk"), &call, &error), &error);
    ok(tiga_call_output(call, TIGA_STR("out"), &result, &error), &error);
    fails(tiga_call_input(call, TIGA_STR("r"), &input, &error), TIGA_OVERLAP, &error);
    tiga_call_free(call);
    ok(tiga_call_new(bundle, TIGA_STR("walk"), &call, &error), &error);
    ok(tiga_call_input(call, TIGA_STR("r"), &input, &error), &error);
    fails(tiga_call_output(call, TIGA_STR("out"), &result, &error), TIGA_OVERLAP, &error);
    tiga_call_free(call);
}

/* What a bundle says of itself, and the shape of a result. */
static void check_inspect(void) {
    tiga_error *error;
    DEMAND(tiga_bundle_programs(bundle) == 1 && tiga_bundle_target(bundle).len > 0);
    tiga_program_info program = {.size = sizeof program};
    ok(tiga_bundle_program(bundle, 0, &program, &error), &error);
    DEMAND(is(program.name, "walk") && program.inputs == 3 && program.results == 1 && program.sizes == 2);
    tiga_param_info param = {.size = sizeof param};
    ok(tiga_bundle_input(bundle, 0, 0, &param, &error), &error);
    DEMAND(is(param.name, "g") && param.dtype == 0 && param.rank == 3);
    ok(tiga_bundle_result(bundle, 0, 0, &param, &error), &error);
    DEMAND(is(param.name, "out") && param.dtype == TIGA_F64 && param.rank == 1);
    DEMAND(is(tiga_bundle_extent(bundle, 0, 1, 0), "N") && is(tiga_bundle_extent(bundle, 0, 1, 1), ""));
    tiga_size_info size = {.size = sizeof size};
    ok(tiga_bundle_size(bundle, 0, 0, &size, &error), &error);
    DEMAND(is(size.name, "N") && size.kind == 0);
    ok(tiga_bundle_size(bundle, 0, 1, &size, &error), &error);
    DEMAND(is(size.name, "g.edges") && size.kind == 1);
    /* As a host knows it that was compiled for a later version, which appended to it. */
    struct {
        tiga_program_info known;
        size_t later;
    } larger = {.known.size = sizeof larger, .later = 7};
    ok(tiga_bundle_program(bundle, 0, &larger.known, &error), &error);
    DEMAND(is(larger.known.name, "walk") && larger.known.size == sizeof larger && larger.later == 7);
    fails(tiga_bundle_program(bundle, 1, &program, &error), TIGA_ARGUMENT, &error);
    fails(tiga_bundle_input(bundle, 0, 3, &param, &error), TIGA_ARGUMENT, &error);
    program.size = 8;
    fails(tiga_bundle_program(bundle, 0, &program, &error), TIGA_ARGUMENT, &error);
    static double out[NODES];
    const int64_t steps = 1;
    tiga_call *call = walk(&steps, out);
    int64_t shape = 0;
    size_t rank = 0;
    int32_t dtype = 0;
    ok(tiga_call_result_shape(call, TIGA_STR("out"), &shape, 1, &rank, &dtype, &error), &error);
    DEMAND(shape == NODES && rank == 1 && dtype == TIGA_F64);
    fails(tiga_call_result_shape(call, TIGA_STR("in"), &shape, 1, &rank, NULL, &error), TIGA_NO_PARAMETER, &error);
    tiga_call_free(call);
}

/* Each target of the bundle in turn. */
static void check_targets(void) {
    const char *const targets[] = {"x86-64-v2", "x86-64-v3"};
    tiga_error *error;
    tiga_bundle *const whole = bundle;
    tiga_context *context = context_of(0, 1);
    DEMAND(is(tiga_bundle_target(whole), "x86-64-v3"));
    for (int i = 0; i < 2; i++) {
        const tiga_str target = {(const uint8_t *)targets[i], strlen(targets[i])};
        ok(tiga_bundle_with_target(whole, target, &bundle, &error), &error);
        DEMAND(is(tiga_bundle_target(bundle), targets[i]));
        walk_right(context, 3);
        tiga_bundle_free(bundle);
    }
    bundle = whole;
    tiga_bundle *none;
    fails(tiga_bundle_with_target(bundle, TIGA_STR("native"), &none, &error), TIGA_TARGET, &error);
    fails(tiga_bundle_with_target(NULL, TIGA_STR("native"), &none, &error), TIGA_NULL, &error);
    DEMAND(!none);
    tiga_context_free(context);
}

/* Edges in any order; the order in which the graph has them comes back. */
static void check_coo(void) {
    const int64_t src[] = {2, 0, 1}, dst[] = {1, 0, 1};
    int64_t order[3];
    tiga_error *error;
    tiga_graph *graph;
    ok(tiga_graph_from_coo(3, 2, 3, src, dst, TIGA_I64, order, &graph, &error), &error);
    DEMAND(order[0] == 1 && order[1] == 0 && order[2] == 2);
    DEMAND(tiga_graph_num_src(graph) == 3 && tiga_graph_num_dst(graph) == 2 && tiga_graph_num_edges(graph) == 3);
    tiga_graph_free(graph);
}

int main(int argc, char **argv) {
    DEMAND(argc == 3 && tiga_abi_version() >> 16 == TIGA_ABI_MAJOR);
    tiga_error *error;
    tiga_str path = {(const uint8_t *)argv[2], strlen(argv[2])};
    ok(tiga_bundle_open(path, &bundle, &error), &error);
    make_ring();
    const char *check = argv[1];
    int all = !strcmp(check, "all"), known = 0;
#define CHECK(name, call) \
    if (all || !strcmp(check, #name)) known = 1, check_##name call
    CHECK(inspect, ());
    CHECK(targets, ());
    CHECK(errors, ());
    CHECK(overlap, ());
    CHECK(coo, ());
    CHECK(memory, (argv[2]));
    CHECK(hooks, ());
    CHECK(contexts, ());
    CHECK(threads, ());
    CHECK(cancel, ());
    DEMAND(known);
    tiga_graph_free(ring);
    tiga_bundle_free(bundle);
    puts("ok");
    return 0;
}
