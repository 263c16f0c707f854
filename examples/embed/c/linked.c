/* The program `heat`, linked into this one: no bundle to carry along, nothing loaded.
   tigac examples/heat.tg --emit=obj,header && cc linked.c heat.o -ltiga */
#include "heat.h"
#include <stdio.h>

int main(void) {
    tiga_error *error = NULL;
    tiga_bundle *bundle = NULL;
    tiga_graph *graph = NULL;
    tiga_context *context = NULL;
    const int64_t row_ptr[] = {0, 2, 3, 5};
    const int32_t col[] = {0, 2, 1, 0, 1};
    const float temperature[] = {1, 2, 3}, source[] = {.1f, .2f, .3f}, conductance[] = {2, 3, 4, 5, 6};
    float out[3];

    tiga_status status = tiga_bundle_from_linked(&tiga_linked_heat, &bundle, &error);
    if (!status) status = tiga_graph_from_csr(3, 3, 5, row_ptr, col, TIGA_I32, &graph, &error);
    if (!status) status = tiga_context_new(NULL, &context, &error);
    const heat_heat_arguments arguments = {.g = graph, .T = temperature, .b = source, .c = conductance, .out = out};
    if (!status) status = heat_heat(bundle, context, &arguments, &error);
    if (status) {
        tiga_str message = tiga_error_message(error);
        fprintf(stderr, "%.*s\n", (int)message.len, (const char *)message.data);
    } else {
        printf("%.1f %.1f %.1f\n", out[0], out[1], out[2]);
    }
    tiga_error_free(error);
    tiga_context_free(context);
    tiga_graph_free(graph);
    tiga_bundle_free(bundle);
    return status != TIGA_OK;
}
