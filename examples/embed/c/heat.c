/* Runs the program `heat` of a bundle on a graph of three nodes: heat BUNDLE.tgb */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiga.h>

/* Takes a pointer to the error: C may read the error itself before it makes the call that writes it. */
static void check(tiga_status status, tiga_error **error) {
    if (status == TIGA_OK) return;
    tiga_str message = tiga_error_message(*error), name = tiga_status_name(status);
    fprintf(stderr, "%.*s: %.*s\n", (int)name.len, (const char *)name.data, (int)message.len,
            (const char *)message.data);
    tiga_error_free(*error);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    tiga_error *error;
    tiga_bundle *bundle;
    tiga_str path = {(const uint8_t *)argv[1], strlen(argv[1])};
    check(tiga_bundle_open(path, &bundle, &error), &error);

    /* Row i holds the edges into node i. */
    const int64_t row_ptr[] = {0, 2, 3, 5};
    const int32_t col[] = {0, 2, 1, 0, 1};
    tiga_graph *graph;
    check(tiga_graph_from_csr(3, 3, 5, row_ptr, col, TIGA_I32, &graph, &error), &error);

    const float temperature[] = {1, 2, 3}, source[] = {.1f, .2f, .3f}, conductance[] = {2, 3, 4, 5, 6};
    float out[3];
    const int64_t nodes = 3, edges = 5;
    const tiga_array T = {temperature, TIGA_F32, 1, &nodes, NULL};
    const tiga_array b = {source, TIGA_F32, 1, &nodes, NULL};
    const tiga_array c = {conductance, TIGA_F32, 1, &edges, NULL};
    const tiga_array_mut result = {out, TIGA_F32, 1, &nodes, NULL};
    tiga_call *call;
    check(tiga_call_new(bundle, TIGA_STR("heat"), &call, &error), &error);
    check(tiga_call_graph(call, TIGA_STR("g"), graph, &error), &error);
    check(tiga_call_input(call, TIGA_STR("T"), &T, &error), &error);
    check(tiga_call_input(call, TIGA_STR("b"), &b, &error), &error);
    check(tiga_call_input(call, TIGA_STR("c"), &c, &error), &error);
    check(tiga_call_output(call, TIGA_STR("out"), &result, &error), &error);

    tiga_context *context;
    check(tiga_context_new(NULL, &context, &error), &error);
    check(tiga_call_run(call, context, &error), &error);
    printf("%.1f %.1f %.1f\n", out[0], out[1], out[2]);

    tiga_call_free(call);
    tiga_context_free(context);
    tiga_graph_free(graph);
    tiga_bundle_free(bundle);
    return 0;
}
