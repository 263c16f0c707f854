/* A host in C that passes f16 and bf16 as their bits, none of its arrays aligned to more than two bytes: halves
   HALVES.tgb has the program halves(g: graph<N>, x: f16[N], w: bf16[g.edges], k: f16) -> (y: f16[N], z: bf16[N]). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiga.h>

enum { NODES = 5 };

static void check(tiga_status status, tiga_error **error) {
    if (status == TIGA_OK) return;
    tiga_str message = tiga_error_message(*error);
    fprintf(stderr, "error %d: %.*s\n", status, (int)message.len, (const char *)message.data);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    tiga_error *error;
    tiga_bundle *bundle;
    tiga_str path = {(const uint8_t *)argv[1], strlen(argv[1])};
    check(tiga_bundle_open(path, &bundle, &error), &error);

    const int64_t row_ptr[] = {0, 1, 2, 3, 4, 5}, nodes = NODES;
    const int32_t col[] = {1, 2, 3, 4, 0};
    tiga_graph *graph;
    check(tiga_graph_from_csr(NODES, NODES, NODES, row_ptr, col, TIGA_I32, &graph, &error), &error);

    /* 1 to 5, 2 everywhere, 1/2; each array begins behind one more element. */
    _Alignas(8) uint16_t x[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500};
    _Alignas(8) uint16_t w[] = {0, 0x4000, 0x4000, 0x4000, 0x4000, 0x4000}, k[] = {0, 0x3800};
    _Alignas(8) uint16_t y[NODES + 2] = {0}, z[NODES + 2] = {0};
    const tiga_array features = {x + 1, TIGA_F16, 1, &nodes, NULL}, weights = {w + 1, TIGA_BF16, 1, &nodes, NULL};
    const tiga_array factor = {k + 1, TIGA_F16, 0, NULL, NULL};
    const tiga_array_mut of_y = {y + 1, TIGA_F16, 1, &nodes, NULL}, of_z = {z + 1, TIGA_BF16, 1, &nodes, NULL};
    tiga_call *call;
    check(tiga_call_new(bundle, TIGA_STR("halves"), &call, &error), &error);
    check(tiga_call_graph(call, TIGA_STR("g"), graph, &error), &error);
    check(tiga_call_input(call, TIGA_STR("x"), &features, &error), &error);
    check(tiga_call_input(call, TIGA_STR("w"), &weights, &error), &error);
    check(tiga_call_input(call, TIGA_STR("k"), &factor, &error), &error);
    check(tiga_call_output(call, TIGA_STR("y"), &of_y, &error), &error);
    check(tiga_call_output(call, TIGA_STR("z"), &of_z, &error), &error);
    tiga_context *context;
    check(tiga_context_new(NULL, &context, &error), &error);
    check(tiga_call_run(call, context, &error), &error);
    for (int i = 1; i <= NODES; i++) printf(i < NODES ? "%x " : "%x\n", (unsigned)y[i]);
    for (int i = 1; i <= NODES; i++) printf(i < NODES ? "%x " : "%x\n", (unsigned)z[i]);
    /* Nothing is written beside them. */
    if (y[0] || y[NODES + 1] || z[0] || z[NODES + 1]) return 3;

    tiga_call_free(call);
    tiga_context_free(context);
    tiga_graph_free(graph);
    tiga_bundle_free(bundle);
    return 0;
}
