/* A host in C that asks memory hierarchies for everything they promise; prints `ok`, or where it failed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiga.h>

#define DEMAND(condition)                                                              \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

enum { BYTES = (1 << 20) + 17 };

static unsigned char pattern[BYTES], read_back[BYTES];
static const tiga_str RAM = {(const uint8_t *)"host", 4}, NVME = {(const uint8_t *)"SSD", 3};

static void ok(tiga_status status, tiga_error **error) {
    if (status == TIGA_OK) {
        DEMAND(*error == NULL);
        return;
    }
    tiga_str message = tiga_error_message(*error);
    fprintf(stderr, "error %d: %.*s\n", status, (int)message.len, (const char *)message.data);
    exit(1);
}

static void fails(tiga_status status, tiga_status expected, tiga_error **error) {
    if (status != expected) fprintf(stderr, "status %d, expected %d\n", status, expected);
    DEMAND(status == expected && tiga_error_status(*error) == expected && tiga_error_message(*error).len > 0);
    tiga_error_free(*error);
    *error = NULL;
}

static int is(tiga_str text, const char *expected) {
    return text.len == strlen(expected) && !memcmp(text.data, expected, text.len);
}

static tiga_instance_request request(const char *name, int64_t version, tiga_str tier, int64_t capacity) {
    tiga_instance_request request = {.size = sizeof request, .version = version, .tier = tier, .capacity = capacity};
    request.logical_name.data = (const uint8_t *)name;
    request.logical_name.len = strlen(name);
    return request;
}

static tiga_instance *make(tiga_hierarchy *memory, tiga_str tier) {
    const tiga_instance_request wanted = request("x", 3, tier, BYTES);
    tiga_error *error;
    tiga_instance *instance;
    ok(tiga_instance_new(memory, &wanted, &instance, &error), &error);
    return instance;
}

/* What callbacks are told. */
struct heard {
    tiga_completion *end;
    int calls, status, text;
    pthread_mutex_t mutex;
};

static void ended(void *data, int32_t status, tiga_str message) {
    struct heard *heard = data;
    pthread_mutex_lock(&heard->mutex);
    heard->calls++;
    heard->status = status;
    heard->text = message.len > 0;
    pthread_mutex_unlock(&heard->mutex);
}

static void refusals(tiga_hierarchy *memory) {
    static const struct {
        const char *name, *tier;
        int64_t version, capacity;
        tiga_status status;
    } rows[] = {
        {"x", "lds", 0, 1, TIGA_TIER},      {"", "register", -1, -1, TIGA_TIER}, {"x", "remote", 0, 1, TIGA_TIER},
        {"", "ram", 0, 1, TIGA_ARGUMENT},   {"x", "ram", -1, 1, TIGA_ARGUMENT},  {"x", "ram", 0, -1, TIGA_ARGUMENT},
        {"x", "nvme", 0, 1, TIGA_BUDGET},   {"x", "device", 0, 1, TIGA_TIER},    {"x", "pinned_ram", 0, 1, TIGA_TIER},
        {"x", "ram", 0, INT64_C(1) << 60, TIGA_MEMORY},
    };
    tiga_error *error;
    tiga_instance *none;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tiga_str tier = {(const uint8_t *)rows[i].tier, strlen(rows[i].tier)};
        const tiga_instance_request wanted = request(rows[i].name, rows[i].version, tier, rows[i].capacity);
        fails(tiga_instance_new(memory, &wanted, &none, &error), rows[i].status, &error);
        DEMAND(none == NULL);
    }
    tiga_instance_request wanted = request("x", 0, RAM, 1);
    wanted.device = TIGA_STR("gpu");
    fails(tiga_instance_new(memory, &wanted, &none, &error), TIGA_TIER, &error);
    wanted.size--;
    fails(tiga_instance_new(memory, &wanted, &none, &error), TIGA_ARGUMENT, &error);
    fails(tiga_instance_new(memory, NULL, &none, &error), TIGA_NULL, &error);
    fails(tiga_hierarchy_latest(memory, TIGA_STR("y"), RAM, &none, &error), TIGA_NOT_FOUND, &error);
    fails(tiga_hierarchy_bytes(memory, TIGA_STR("l1"), NULL, NULL, &error), TIGA_TIER, &error);
    tiga_hierarchy *no_memory;
    const tiga_budget twice[] = {{RAM, 1}, {TIGA_STR("ram"), 1}}, negative = {RAM, -1};
    tiga_hierarchy_options options = {.size = sizeof options, .budgets = twice, .num_budgets = 2};
    fails(tiga_hierarchy_new(&options, &no_memory, &error), TIGA_ARGUMENT, &error);
    options.budgets = &negative, options.num_budgets = 1;
    fails(tiga_hierarchy_new(&options, &no_memory, &error), TIGA_ARGUMENT, &error);
    options.num_budgets = 0, options.storage = 9;
    fails(tiga_hierarchy_new(&options, &no_memory, &error), TIGA_ARGUMENT, &error);
    options.storage = 0, options.nvme_directory = TIGA_STR("/dev/null/x");
    fails(tiga_hierarchy_new(&options, &no_memory, &error), TIGA_STORAGE, &error);
}

static void round_trip(tiga_hierarchy *memory) {
    tiga_error *error;
    tiga_instance *hot = make(memory, RAM), *cold = make(memory, NVME), *back = make(memory, RAM), *found;
    DEMAND(is(tiga_instance_logical_name(hot), "x") && tiga_instance_version(hot) == 3);
    DEMAND(is(tiga_instance_tier(cold), "nvme") && tiga_instance_capacity(cold) == BYTES);
    DEMAND(tiga_instance_address(hot) && !tiga_instance_address(cold));
    DEMAND(!tiga_instance_path(hot).len && tiga_instance_path(cold).len && tiga_instance_ready(hot));
    memcpy(tiga_instance_address(hot), pattern, BYTES);
    struct heard heard = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    ok(tiga_transfer(memory, hot, cold, NULL, &error), &error);
    ok(tiga_transfer(memory, cold, back, &heard.end, &error), &error);
    ok(tiga_completion_then(heard.end, ended, &heard, &error), &error);
    ok(tiga_completion_wait(heard.end, &error), &error);
    ok(tiga_completion_then(heard.end, ended, &heard, &error), &error);
    DEMAND(tiga_completion_ready(heard.end) && tiga_instance_ready(back));
    ok(tiga_instance_wait(back, &error), &error);
    ok(tiga_instance_read(back, 0, read_back, BYTES, &error), &error);
    DEMAND(!memcmp(read_back, pattern, BYTES));
    ok(tiga_instance_write(cold, 5, "five", 4, &error), &error);
    ok(tiga_instance_read(cold, 4, read_back, 6, &error), &error);
    DEMAND(read_back[0] == pattern[4] && !memcmp(read_back + 1, "five", 4) && read_back[5] == pattern[9]);
    fails(tiga_instance_read(cold, BYTES, read_back, 1, &error), TIGA_ARGUMENT, &error);
    fails(tiga_transfer(memory, hot, hot, NULL, &error), TIGA_TRANSFER, &error);
    ok(tiga_hierarchy_latest(memory, TIGA_STR("x"), NVME, &found, &error), &error);
    DEMAND(is(tiga_instance_path(found), "") == 0 && tiga_instance_version(found) == 3);
    tiga_instance_free(found);
    ok(tiga_instance_close(hot, &error), &error);
    ok(tiga_instance_close(hot, &error), &error);
    fails(tiga_transfer(memory, hot, cold, NULL, &error), TIGA_CLOSED, &error);
    uint64_t live, peak;
    ok(tiga_hierarchy_bytes(memory, RAM, &live, &peak, &error), &error);
    DEMAND(live == BYTES && peak >= 2 * BYTES && !tiga_instance_address(hot));
    ok(tiga_hierarchy_close(memory, &error), &error);
    /* The threads are gone, so the first callback has returned. */
    DEMAND(heard.calls == 2 && heard.status == TIGA_OK && !heard.text);
    fails(tiga_instance_read(back, 0, read_back, 1, &error), TIGA_CLOSED, &error);
    ok(tiga_hierarchy_close(memory, &error), &error);
    tiga_hierarchy_free(memory);
    tiga_completion_free(heard.end);
    tiga_instance_free(hot);
    tiga_instance_free(cold);
    tiga_instance_free(back);
}

int main(void) {
    for (int i = 0; i < BYTES; i++) pattern[i] = (unsigned char)(i % 251);
    for (int storage = TIGA_STORAGE_BEST; storage <= TIGA_STORAGE_BUFFERED; storage += 2) {
        const tiga_budget budget = {NVME, BYTES};
        const tiga_hierarchy_options options = {
            .size = sizeof options, .budgets = &budget, .num_budgets = 1, .io_workers = 1, .storage = storage};
        tiga_error *error;
        tiga_hierarchy *memory;
        ok(tiga_hierarchy_new(&options, &memory, &error), &error);
        DEMAND(storage != TIGA_STORAGE_BUFFERED || is(tiga_hierarchy_storage(memory), "threads, buffered"));
        uint64_t directories, bytes;
        ok(tiga_hierarchy_cleaned(memory, &directories, &bytes, &error), &error);
        const tiga_instance_request wanted = request("full", 0, NVME, BYTES);
        tiga_instance *full;
        ok(tiga_instance_new(memory, &wanted, &full, &error), &error);
        refusals(memory);
        ok(tiga_instance_close(full, &error), &error);
        tiga_instance_free(full);
        round_trip(memory);
    }
    tiga_hierarchy_free(NULL);
    tiga_instance_free(NULL);
    tiga_completion_free(NULL);
    puts("ok");
    return 0;
}
