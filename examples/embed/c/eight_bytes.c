/* Eight bytes go to a file and come back within 16 bytes of main memory and 8 bytes of files; a ninth is refused. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* A row: the step, and what is live after it. */
static void row(const char *step, const tiga_hierarchy *memory) {
    uint64_t ram, nvme, peak;
    tiga_error *error;
    check(tiga_hierarchy_bytes(memory, TIGA_STR("ram"), &ram, &peak, &error), &error);
    check(tiga_hierarchy_bytes(memory, TIGA_STR("nvme"), &nvme, NULL, &error), &error);
    printf("%-25s | %8" PRIu64 " | %9" PRIu64 " | %8" PRIu64 "\n", step, ram, nvme, peak);
}

/* Eight bytes of `state`, version 7. */
static tiga_instance *state(const tiga_hierarchy *memory, tiga_str tier) {
    const tiga_instance_request request = {
        .size = sizeof request, .logical_name = TIGA_STR("state"), .version = 7, .tier = tier, .capacity = 8};
    tiga_instance *instance;
    tiga_error *error;
    check(tiga_instance_new(memory, &request, &instance, &error), &error);
    return instance;
}

static void transfer(const tiga_hierarchy *memory, const tiga_instance *from, const tiga_instance *to) {
    tiga_completion *end;
    tiga_error *error;
    check(tiga_transfer(memory, from, to, &end, &error), &error);
    check(tiga_completion_wait(end, &error), &error);
    tiga_completion_free(end);
}

int main(void) {
    printf("%-25s | live ram | live nvme | peak ram\n", "step");
    const tiga_budget budgets[] = {{TIGA_STR("ram"), 16}, {TIGA_STR("nvme"), 8}};
    const tiga_hierarchy_options options = {.size = sizeof options, .budgets = budgets, .num_budgets = 2};
    tiga_hierarchy *memory;
    tiga_error *error;
    check(tiga_hierarchy_new(&options, &memory, &error), &error);

    tiga_instance *hot = state(memory, TIGA_STR("ram"));
    check(tiga_instance_write(hot, 0, "tiga1234", 8, &error), &error);
    row("allocate hot, write", memory);

    tiga_instance *cold = state(memory, TIGA_STR("nvme"));
    row("allocate cold", memory);

    transfer(memory, hot, cold);
    row("transfer hot to cold", memory);

    check(tiga_instance_close(hot, &error), &error);
    row("close hot", memory);

    tiga_instance *back = state(memory, TIGA_STR("ram"));
    row("allocate back", memory);

    transfer(memory, cold, back);
    char bytes[8];
    check(tiga_instance_read(back, 0, bytes, sizeof bytes, &error), &error);
    row("transfer cold to back", memory);

    const tiga_instance_request ninth = {
        .size = sizeof ninth, .logical_name = TIGA_STR("state"), .version = 8, .tier = TIGA_STR("nvme"), .capacity = 1};
    tiga_instance *none;
    tiga_error *refused;
    if (tiga_instance_new(memory, &ninth, &none, &refused) != TIGA_BUDGET) return 1;

    check(tiga_hierarchy_close(memory, &error), &error);
    row("close all", memory);
    printf("read back: %.8s\n", bytes);
    tiga_str message = tiga_error_message(refused);
    printf("a ninth byte: %.*s\n", (int)message.len, (const char *)message.data);

    tiga_error_free(refused);
    tiga_instance_free(hot);
    tiga_instance_free(cold);
    tiga_instance_free(back);
    tiga_hierarchy_free(memory);
    return 0;
}
