/* The C library of Tiga. Made from runtime/capi/src; do not edit.
 *
 * Handles are opaque. Each is made by one call and ended by its tiga_..._free, which takes null too; a pointer to a
 * handle must be one that was given and not yet freed. A call that can fail returns its tiga_status; its last parameter
 * may be null, or a place that receives an error to be freed (null if there is none). A handle that is asked for is
 * null after an error.
 *
 * Nothing is printed, nothing exits, no signal is handled. Bundles, graphs, contexts, tokens and errors may be used by
 * several threads at once; a call by one at a time. What a call needs beyond that stands with it.
 *
 * docs/c-abi.md explains, docs/embedding.md shows. */


#ifndef TIGA_H
#define TIGA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tiga_str of a literal or of an array of characters that ends in zero. */
#ifdef __cplusplus
#define TIGA_STR(literal) (tiga_str{reinterpret_cast<const uint8_t *>(literal), sizeof(literal) - 1})
#else
#define TIGA_STR(literal) ((tiga_str){(const uint8_t *)(literal), sizeof(literal) - 1})
#endif


// Raised when a program built against an older header would no longer run.
#define TIGA_ABI_MAJOR 1

// Raised when something is added.
#define TIGA_ABI_MINOR 2

// Log lines about the begin and the end of each run.
#define TIGA_LOG_INFO 1

// Log lines about each kernel too.
#define TIGA_LOG_DEBUG 2

// io_uring with O_DIRECT where both are to be had, else threads with buffered calls.
#define TIGA_STORAGE_BEST 0

// io_uring with O_DIRECT, or TIGA_STORAGE.
#define TIGA_STORAGE_DIRECT 1

// Threads with buffered calls.
#define TIGA_STORAGE_BUFFERED 2

// What a call came to. Numbers are never reused; those of later versions may be new ones.
enum tiga_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done.
  TIGA_OK = 0,
  // A pointer is null that may not be.
  TIGA_NULL = 1,
  // An argument that no call takes: a text that is not UTF-8, an unknown number, a negative extent.
  TIGA_ARGUMENT = 2,
  // A mistake inside of the library; the handles of the call may only be freed.
  TIGA_INTERNAL = 3,
  // A file cannot be read.
  TIGA_FILE = 10,
  // Bytes that are no bundle, a damaged one, or one of another version.
  TIGA_BUNDLE = 11,
  // No kernels that this machine can run, or no such target.
  TIGA_TARGET = 12,
  // The kernels cannot be loaded.
  TIGA_LOAD = 13,
  // No such program.
  TIGA_NO_PROGRAM = 14,
  // No such input, result or size.
  TIGA_NO_PARAMETER = 15,
  // A name is bound twice.
  TIGA_BOUND_TWICE = 16,
  // Inputs or results are not bound.
  TIGA_MISSING = 17,
  // A graph where an array is expected, or the other way round.
  TIGA_KIND = 18,
  // Another element type.
  TIGA_DTYPE = 19,
  // Another number of axes.
  TIGA_RANK = 20,
  // A size with two values.
  TIGA_CONFLICT = 21,
  // A size that nothing fixes.
  TIGA_UNBOUND = 22,
  // A size beyond what can be computed with.
  TIGA_SIZE = 23,
  // An array whose bytes do not have its shape.
  TIGA_BYTES = 24,
  // An array that is not aligned to its elements.
  TIGA_ALIGNMENT = 25,
  // An array that is not contiguous in C order.
  TIGA_STRIDES = 26,
  // A result that shares memory with another array.
  TIGA_OVERLAP = 27,
  // A graph with more nodes than 32-bit columns can name.
  TIGA_WIDE_COLUMNS = 28,
  // A size below zero.
  TIGA_NEGATIVE = 29,
  // A bool that is neither 0 nor 1.
  TIGA_BOOL = 30,
  // More memory than there is.
  TIGA_MEMORY = 31,
  // The host's allocator gave nothing.
  TIGA_ALLOCATOR = 32,
  // Cancelled; results are incomplete.
  TIGA_CANCELLED = 33,
  // A plan that cannot run here.
  TIGA_PLAN = 34,
  // Threads cannot be started.
  TIGA_THREADS = 35,
  // Arrays that are no graph.
  TIGA_GRAPH = 36,
  // More than what a call is prepared for: a size, threads, memory.
  TIGA_PREPARED = 37,
  // A graph without what a prepared call derives of it.
  TIGA_NOT_DERIVED = 38,
  // No such tier or device, or one in which no memory is given.
  TIGA_TIER = 39,
  // More than the budget of a tier.
  TIGA_BUDGET = 40,
  // A hierarchy or an instance that is closed.
  TIGA_CLOSED = 41,
  // A transfer between two that are not the same value, or of an instance into itself.
  TIGA_TRANSFER = 42,
  // No live instance of that name.
  TIGA_NOT_FOUND = 43,
  // A file of a hierarchy cannot be made, read, written or removed, or is damaged.
  TIGA_STORAGE = 44,
  // No space is left for a file of a hierarchy.
  TIGA_DISK_FULL = 45,
  // An instance that a failed transfer was to fill.
  TIGA_NOT_FILLED = 46,
  // A callback asks to wait for what it is called by.
  TIGA_INSIDE_CALLBACK = 47,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tiga_status tiga_status;
#else
typedef int32_t tiga_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Element types. Numbers are never reused.
enum tiga_dtype
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // One byte, 0 or 1.
  TIGA_BOOL8 = 1,
  // 32-bit integer.
  TIGA_I32 = 2,
  // 64-bit integer.
  TIGA_I64 = 3,
  // IEEE binary32.
  TIGA_F32 = 4,
  // IEEE binary64.
  TIGA_F64 = 5,
  // IEEE binary16.
  TIGA_F16 = 6,
  // bfloat16: the upper half of a binary32.
  TIGA_BF16 = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tiga_dtype tiga_dtype;
#else
typedef int32_t tiga_dtype;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Compiled programs. Made by tiga_bundle_open and the like, ended by tiga_bundle_free. May be shared by
// threads; a call keeps it alive. What is read of it belongs to it.
typedef struct tiga_bundle tiga_bundle;

// A call under construction. Made by tiga_call_new, ended by tiga_call_free. Used by one thread at a time. Arrays are
// borrowed from where they are bound until the last run has returned.
typedef struct tiga_call tiga_call;

// Asks runs to stop. Made by tiga_cancel_new, ended by tiga_cancel_free, at any time: runs that have it keep it alive.
typedef struct tiga_cancel tiga_cancel;

// The end of a transfer. Made by tiga_transfer, ended by tiga_completion_free, before or after the transfer. May be used
// by several threads at once.
typedef struct tiga_completion tiga_completion;

// Threads, memory and log of runs. Made by tiga_context_new, ended by tiga_context_free. There may be several at once,
// each with threads of its own; one may be used by several threads, whose runs then share its workers.
typedef struct tiga_context tiga_context;

// Why a call failed. Made by the call that fails, ended by tiga_error_free. May be read from any thread.
typedef struct tiga_error tiga_error;

// A checked graph. Made by tiga_graph_from_csr or tiga_graph_from_coo, ended by tiga_graph_free. May be shared by
// threads and by calls; a call that it is bound to keeps it alive.
typedef struct tiga_graph tiga_graph;

// Named, versioned memory in several tiers, with a budget for each. Made by tiga_hierarchy_new, ended by
// tiga_hierarchy_free. May be used by several threads at once.
typedef struct tiga_hierarchy tiga_hierarchy;

// Memory with a name and a version, in one tier. Made by tiga_instance_new or tiga_hierarchy_latest; tiga_instance_free
// ends the handle, tiga_instance_close the memory. May be used by several threads at once.
typedef struct tiga_instance tiga_instance;

// A text in UTF-8 that somebody else owns; no zero byte ends it.
typedef struct {
  // Its first byte; may be null if it is empty.
  const uint8_t *data;
  // Its bytes.
  size_t len;
} tiga_str;

// A kernel, as docs/c-abi.md describes it.
typedef void (*tiga_kernel)(const void *arguments,
                            int64_t unit_begin,
                            int64_t unit_end);

// A kernel by its name.
typedef struct {
  // Its name in the bundle, ended by a zero byte.
  const char *name;
  // The function.
  tiga_kernel entry;
} tiga_linked_kernel;

// What `tigac --emit=obj` puts into an object as tiga_linked_NAME: a bundle without kernels, and the kernels. Begins
// with its own size.
typedef struct {
  // sizeof(tiga_linked) when the object was made.
  size_t size;
  // The bytes of the bundle.
  const uint8_t *bundle;
  // How many.
  size_t bundle_len;
  // [num_kernels] The kernels.
  const tiga_linked_kernel *kernels;
  // How many.
  size_t num_kernels;
} tiga_linked;

// A program of a bundle. Begins with its own size, as the host knows it: later versions may append to it.
typedef struct {
  // sizeof(tiga_program_info), set by the host.
  size_t size;
  // Its name.
  tiga_str name;
  // Its doc comment.
  tiga_str doc;
  // How many inputs it has.
  size_t inputs;
  // How many results it has.
  size_t results;
  // How many sizes it has: sets, edges, dimensions.
  size_t sizes;
} tiga_program_info;

// An input or a result of a program. Begins with its own size, as the host knows it.
typedef struct {
  // sizeof(tiga_param_info), set by the host.
  size_t size;
  // Its name.
  tiga_str name;
  // Its doc comment.
  tiga_str doc;
  // 0 for a graph, or the tiga_dtype of the array.
  int32_t dtype;
  // The number of axes of an array, 3 for a graph: tiga_bundle_extent says what each counts.
  int32_t rank;
} tiga_param_info;

// A size of a program. Begins with its own size, as the host knows it.
typedef struct {
  // sizeof(tiga_size_info), set by the host.
  size_t size;
  // Its name.
  tiga_str name;
  // Where it comes from, for people.
  tiga_str origin;
  // 0: members of a set; 1: edges of a graph; 2: a dimension.
  int32_t kind;
} tiga_size_info;

// Takes a log line. Called on the thread that is in tiga_call_run; the text is gone when it returns.
typedef void (*tiga_log)(void *data,
                         int32_t level,
                         tiga_str line);

// Gives `bytes` bytes (never 0) at a multiple of `align`, or null. They need not be zeroed. Called from several threads
// at once.
typedef void *(*tiga_allocate)(void *data,
                               size_t bytes,
                               size_t align);

// Takes back what tiga_allocate gave. Called from several threads at once.
typedef void (*tiga_release)(void *data,
                             void *memory,
                             size_t bytes);

// Settings of a context: zeroed but for `size`, they are the defaults. Begins with its own size, as the host knows it.
typedef struct {
  // sizeof(tiga_context_options), set by the host.
  size_t size;
  // Worker threads; 0 for one on each core.
  size_t threads;
  // Not 0: no threads, all runs on the thread that is in tiga_call_run. `threads` must be 0 or 1 then.
  int32_t caller_thread;
  // The last level that is logged: 0, TIGA_LOG_INFO or TIGA_LOG_DEBUG.
  int32_t log_level;
  // Where log lines go; null for nowhere.
  tiga_log log;
  // Handed to `log`.
  void *log_data;
  // Memory for temporaries; null for the system's. What is derived from a graph does not come from there.
  tiga_allocate allocate;
  // Takes it back; null if and only if `allocate` is.
  tiga_release release;
  // Handed to `allocate` and `release`.
  void *allocator_data;
} tiga_context_options;

// An array to read, in C order. Its memory is the host's.
typedef struct {
  // The first element, aligned to it; may be null if there is none.
  const void *data;
  // A tiga_dtype.
  int32_t dtype;
  // The number of axes; 0 for a single number.
  int32_t rank;
  // [rank] The extents, the set first; may be null if there is no axis.
  const int64_t *shape;
  // [rank] Elements from one index to the next, by axis; null for C order, and nothing else is taken.
  const int64_t *strides;
} tiga_array;

// An array to write, described as a tiga_array is.
typedef struct {
  // The first element, aligned to it; may be null if there is none.
  void *data;
  // A tiga_dtype.
  int32_t dtype;
  // The number of axes; 0 for a single number.
  int32_t rank;
  // [rank] The extents, the set first; may be null if there is no axis.
  const int64_t *shape;
  // [rank] Elements from one index to the next, by axis; null for C order, and nothing else is taken.
  const int64_t *strides;
} tiga_array_mut;

// Told after each task that is done, on the thread that is in tiga_call_run. `done` counts tasks, in loops once a
// round; `at_most` is how many there can be, 0 if that is not known. `task` is gone when it returns.
typedef void (*tiga_progress)(void *data,
                              tiga_str task,
                              uint64_t done,
                              uint64_t at_most);

// The largest value that a size may have.
typedef struct {
  // The size, as tiga_bundle_size calls it: `N`, `F`, `g.edges`.
  tiga_str size;
  // Its largest value.
  int64_t at_most;
} tiga_capacity;

// Bytes that may be live in a tier at once.
typedef struct {
  // The tier's name or alias, such as "ram" or "nvme".
  tiga_str tier;
  // At least 0.
  int64_t bytes;
} tiga_budget;

// Settings of a hierarchy: zeroed but for `size`, they are the defaults. Begins with its own size, as the host knows it.
typedef struct {
  // sizeof(tiga_hierarchy_options), set by the host.
  size_t size;
  // [num_budgets] the budgets, at most one a tier; a tier without one is unlimited. Null if there are none.
  const tiga_budget *budgets;
  // How many.
  size_t num_budgets;
  // Where files lie: made if it is missing, and kept. Empty for a private directory, which is removed at the end.
  tiga_str nvme_directory;
  // Where the private directory lies; empty for the system's place for temporary files.
  tiga_str private_below;
  // Threads that move bytes; 0 for 2.
  size_t io_workers;
  // How files are read and written: TIGA_STORAGE_BEST, TIGA_STORAGE_DIRECT or TIGA_STORAGE_BUFFERED.
  int32_t storage;
} tiga_hierarchy_options;

// Hears of the end of a transfer: TIGA_OK and an empty text, or a number and what happened; the text is gone when it
// returns. It may begin transfers, and may not wait. Must not throw or jump out.
typedef void (*tiga_ended)(void *data,
                           int32_t status,
                           tiga_str message);

// What tiga_instance_new makes. Begins with its own size, as the host knows it.
typedef struct {
  // sizeof(tiga_instance_request), set by the host.
  size_t size;
  // What the value is called, whatever tier it is in; not empty.
  tiga_str logical_name;
  // Which value of that name; at least 0.
  int64_t version;
  // Where it is to lie: a tier's name or alias, such as "ram" or "nvme".
  tiga_str tier;
  // Bytes; at least 0.
  int64_t capacity;
  // On which device; empty for "cpu:0". Main memory and files do not care.
  tiga_str device;
  // How the bytes are arranged, a label; empty for "contiguous".
  tiga_str layout;
} tiga_instance_request;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this library: major * 65536 + minor. A program built against a header runs with a library of the same
// major version and at least its minor version. Never fails; from any thread.
uint32_t tiga_abi_version(void);

// The number of an error, the same that its call returned; TIGA_OK for null.
tiga_status tiga_error_status(const tiga_error *error);

// The name of a number, such as "TIGA_BUNDLE". Lives as long as the library. A number that this library does not know
// has an empty name.
tiga_str tiga_status_name(int32_t number);

// What happened, a sentence in English without a full stop; empty for null. Belongs to the error.
tiga_str tiga_error_message(const tiga_error *error);

// Ends an error; nothing happens for null.
void tiga_error_free(tiga_error *error);

// Opens a file and chooses the kernels for this machine. The file may change or go afterwards.
// Errors: TIGA_FILE, TIGA_BUNDLE, TIGA_TARGET. Opening any file is safe: its kernels are loaded for the first run, and
// running a bundle runs its code.
tiga_status tiga_bundle_open(tiga_str path,
                             tiga_bundle **out,
                             tiga_error **error);

// The same from the bytes of a file, which are copied.
tiga_status tiga_bundle_from_memory(const uint8_t *bytes,
                                    size_t len,
                                    tiga_bundle **out,
                                    tiga_error **error);

// The same bundle with the kernels of the target of this name, such as "x86-64-v3", instead of the best that this
// machine can run. Each bundle is freed on its own. Errors: TIGA_TARGET if the bundle has no such target, or the machine
// lacks what its kernels need.
tiga_status tiga_bundle_with_target(const tiga_bundle *bundle,
                                    tiga_str target,
                                    tiga_bundle **out,
                                    tiga_error **error);

// Makes a bundle of an object that the program was linked with: nothing is loaded, no file is read. The table is
// tiga_linked_NAME of the object, and must stay as it is. Errors: TIGA_BUNDLE, TIGA_TARGET; TIGA_LOAD if the table and
// its bundle do not go together.
tiga_status tiga_bundle_from_linked(const tiga_linked *linked,
                                    tiga_bundle **out,
                                    tiga_error **error);

// The target whose kernels run, such as "x86-64-v3"; empty for null. Belongs to the bundle.
tiga_str tiga_bundle_target(const tiga_bundle *bundle);

// How many programs a bundle has; 0 for null.
size_t tiga_bundle_programs(const tiga_bundle *bundle);

// Describes a program, by its number from 0. Errors: TIGA_NULL, TIGA_ARGUMENT.
tiga_status tiga_bundle_program(const tiga_bundle *bundle,
                                size_t program,
                                tiga_program_info *out,
                                tiga_error **error);

// Describes an input of a program, both by their numbers from 0. Errors: TIGA_NULL, TIGA_ARGUMENT.
tiga_status tiga_bundle_input(const tiga_bundle *bundle,
                              size_t program,
                              size_t input,
                              tiga_param_info *out,
                              tiga_error **error);

// Describes a result of a program, both by their numbers from 0. Errors: TIGA_NULL, TIGA_ARGUMENT.
tiga_status tiga_bundle_result(const tiga_bundle *bundle,
                               size_t program,
                               size_t result,
                               tiga_param_info *out,
                               tiga_error **error);

// Describes a size of a program, both by their numbers from 0. Errors: TIGA_NULL, TIGA_ARGUMENT.
tiga_status tiga_bundle_size(const tiga_bundle *bundle,
                             size_t program,
                             size_t number,
                             tiga_size_info *out,
                             tiga_error **error);

// What an axis of an input counts, as a formula of sizes such as "N" or "4*F"; of a graph, axis 0 are its sources, 1
// its destinations, 2 its edges. Results are numbered after inputs here: result r is parameter inputs + r. Empty if
// there is no such axis. Belongs to the bundle.
tiga_str tiga_bundle_extent(const tiga_bundle *bundle,
                            size_t program,
                            size_t parameter,
                            size_t axis);

// Ends a bundle; nothing happens for null. Kernels stay loaded until the last call is ended too.
void tiga_bundle_free(tiga_bundle *bundle);

// Makes a graph from rows by destination: row i holds the edges into destination i.
//
// row_ptr: [num_dst + 1] where each row begins in col; the last element is num_edges.
// col: [num_edges] the source of each edge, of type index_type: TIGA_I32 or TIGA_I64.
//
// The arrays are checked and copied: they may go when this returns, and what was checked stays true. An edge field has
// its elements in the order of col. Errors: TIGA_GRAPH says which element is wrong; TIGA_WIDE_COLUMNS; TIGA_MEMORY.
tiga_status tiga_graph_from_csr(size_t num_src,
                                size_t num_dst,
                                size_t num_edges,
                                const int64_t *row_ptr,
                                const void *col,
                                int32_t index_type,
                                tiga_graph **out,
                                tiga_error **error);

// Makes a graph from the two ends of each edge, in any order.
//
// src, dst: [num_edges] the ends, of type index_type: TIGA_I32 or TIGA_I64.
// order: [num_edges] is filled with the input position of each edge of the graph: an edge field for the graph is
// field[i] = yours[order[i]]. May be null; within a destination edges keep their order.
//
// The arrays are checked and copied. Errors: as for tiga_graph_from_csr.
tiga_status tiga_graph_from_coo(size_t num_src,
                                size_t num_dst,
                                size_t num_edges,
                                const void *src,
                                const void *dst,
                                int32_t index_type,
                                int64_t *order,
                                tiga_graph **out,
                                tiga_error **error);

// The number of sources; 0 for null.
size_t tiga_graph_num_src(const tiga_graph *graph);

// The number of destinations; 0 for null.
size_t tiga_graph_num_dst(const tiga_graph *graph);

// The number of edges; 0 for null.
size_t tiga_graph_num_edges(const tiga_graph *graph);

// Ends a graph; nothing happens for null.
void tiga_graph_free(tiga_graph *graph);

// Makes a context. `options` may be null for the defaults: a thread on each core, no log, the system's memory. What its
// functions and data pointers need must live until the context is ended. The functions must not throw or jump out, and
// must not end the context. Errors: TIGA_ARGUMENT, TIGA_THREADS.
tiga_status tiga_context_new(const tiga_context_options *options,
                             tiga_context **out,
                             tiga_error **error);

// How many threads run units at once; 0 for null.
size_t tiga_context_threads(const tiga_context *context);

// Ends a context, and waits until its threads are gone; nothing happens for null. No run may be on it.
void tiga_context_free(tiga_context *context);

// Makes a token that asks for nothing yet.
tiga_status tiga_cancel_new(tiga_cancel **out,
                            tiga_error **error);

// Asks all runs with this token to stop: they return TIGA_CANCELLED when the units of work that run are done, a few
// milliseconds as a rule. Stays so for good. From any thread, and from a signal handler. Nothing happens for null.
void tiga_cancel_request(const tiga_cancel *cancel);

// Whether it was asked for; false for null. From any thread.
bool tiga_cancel_requested(const tiga_cancel *cancel);

// Ends a token; nothing happens for null.
void tiga_cancel_free(tiga_cancel *cancel);

// Begins a call of a program by its name. Errors: TIGA_NO_PROGRAM.
tiga_status tiga_call_new(const tiga_bundle *bundle,
                          tiga_str program,
                          tiga_call **out,
                          tiga_error **error);

// Binds a graph. Errors: TIGA_NO_PARAMETER, TIGA_BOUND_TWICE, TIGA_KIND, TIGA_CONFLICT.
tiga_status tiga_call_graph(tiga_call *call,
                            tiga_str name,
                            const tiga_graph *graph,
                            tiga_error **error);

// Binds an array to read. Its elements must stay as they are until the last run has returned. Errors:
// TIGA_NO_PARAMETER, TIGA_BOUND_TWICE, TIGA_KIND, TIGA_DTYPE, TIGA_RANK, TIGA_CONFLICT, TIGA_ALIGNMENT, TIGA_STRIDES,
// TIGA_OVERLAP, TIGA_BOOL. After an error the call may only be freed.
tiga_status tiga_call_input(tiga_call *call,
                            tiga_str name,
                            const tiga_array *array,
                            tiga_error **error);

// Binds an array to write a result into. Nobody may touch its elements while the call runs. Errors: as for
// tiga_call_input.
tiga_status tiga_call_output(tiga_call *call,
                             tiga_str name,
                             const tiga_array_mut *array,
                             tiga_error **error);

// Gives a size that no input fixes. Errors: TIGA_NO_PARAMETER, TIGA_CONFLICT, TIGA_NEGATIVE.
tiga_status tiga_call_dim(tiga_call *call,
                          tiga_str name,
                          int64_t value,
                          tiga_error **error);

// The shape that an array for a result must have, once all inputs are bound.
//
// rank, dtype: receive the number of axes and the tiga_dtype; either may be null.
// shape: [capacity] receives the extents, as many as there is room for.
//
// Errors: TIGA_MISSING, TIGA_UNBOUND, TIGA_NO_PARAMETER.
tiga_status tiga_call_result_shape(const tiga_call *call,
                                   tiga_str name,
                                   int64_t *shape,
                                   size_t capacity,
                                   size_t *rank,
                                   int32_t *dtype,
                                   tiga_error **error);

// Lets a token stop the runs of this call. Errors: TIGA_NULL.
tiga_status tiga_call_cancelled_by(tiga_call *call,
                                   const tiga_cancel *cancel,
                                   tiga_error **error);

// Has progress reported. `data` must live until the call is ended; the function must not throw, jump out, or touch the
// call. Errors: TIGA_NULL.
tiga_status tiga_call_on_progress(tiga_call *call,
                                  tiga_progress progress,
                                  void *data,
                                  tiga_error **error);

// Gives a call memory of its own for sizes up to those given, of which every size of the program is one, and for
// contexts of as many threads as this one has, or fewer. From then on binding, running and tiga_call_clear allocate
// nothing, on no thread; errors, log lines and arrays of more than six axes do. What was bound is forgotten. Prepared
// again, it gives its memory back first.
//
// capacities: [num_capacities] the largest value of each size.
//
// Errors: TIGA_NO_PARAMETER, TIGA_UNBOUND, TIGA_NEGATIVE, TIGA_CONFLICT, TIGA_SIZE, TIGA_LOAD, TIGA_MEMORY,
// TIGA_ALLOCATOR, TIGA_PLAN. The call is not prepared then.
tiga_status tiga_call_prepare(tiga_call *call,
                              const tiga_context *context,
                              const tiga_capacity *capacities,
                              size_t num_capacities,
                              tiga_error **error);

// Forgets all that is bound to a call, its token and its function of progress: other arrays, graphs and sizes can be
// bound. Errors: TIGA_NULL.
tiga_status tiga_call_clear(tiga_call *call,
                            tiga_error **error);

// Makes now what the program derives of the bound graphs, such as their transposes. It belongs to the graphs: later
// calls find it there. A prepared call makes nothing while it runs, and needs this once for each graph. Errors:
// TIGA_LOAD, TIGA_MEMORY, TIGA_CANCELLED, TIGA_PLAN.
tiga_status tiga_call_derive(tiga_call *call,
                             tiga_error **error);

// Runs the program. When it returns TIGA_OK the results stand in the bound arrays; after an error they are undefined.
// May be repeated, on any context, with new numbers in the same arrays. Errors: TIGA_MISSING, TIGA_UNBOUND,
// TIGA_CONFLICT, TIGA_LOAD, TIGA_MEMORY, TIGA_ALLOCATOR, TIGA_CANCELLED, TIGA_PLAN; of a prepared call TIGA_PREPARED,
// TIGA_NOT_DERIVED.
tiga_status tiga_call_run(tiga_call *call,
                          const tiga_context *context,
                          tiga_error **error);

// Ends a call; nothing happens for null. Its arrays are the host's again.
void tiga_call_free(tiga_call *call);

// Opens a hierarchy. `options` may be null for the defaults. What dead processes left beside its private directory is
// removed. Errors: TIGA_ARGUMENT, TIGA_TIER, TIGA_THREADS, TIGA_STORAGE, TIGA_DISK_FULL.
tiga_status tiga_hierarchy_new(const tiga_hierarchy_options *options,
                               tiga_hierarchy **out,
                               tiga_error **error);

// Bytes of the live instances of a tier, and the most that were live at once. Either place may be null. Errors:
// TIGA_TIER.
tiga_status tiga_hierarchy_bytes(const tiga_hierarchy *hierarchy,
                                 tiga_str tier,
                                 uint64_t *live,
                                 uint64_t *peak,
                                 tiga_error **error);

// How files are read and written, such as "io_uring, O_DIRECT"; empty for null. Belongs to the hierarchy.
tiga_str tiga_hierarchy_storage(const tiga_hierarchy *hierarchy);

// How many private directories of dead processes were removed when it was opened, and how many bytes were in them.
tiga_status tiga_hierarchy_cleaned(const tiga_hierarchy *hierarchy,
                                   uint64_t *directories,
                                   uint64_t *bytes,
                                   tiga_error **error);

// A new handle to the live instance of a name with the highest version, in one tier or, if that is empty, in any.
// Errors: TIGA_NOT_FOUND, TIGA_TIER.
tiga_status tiga_hierarchy_latest(const tiga_hierarchy *hierarchy,
                                  tiga_str logical_name,
                                  tiga_str tier,
                                  tiga_instance **out,
                                  tiga_error **error);

// Begins to copy all bytes of one instance into another one of the same name, version and capacity, and returns. The
// copy waits for the last writes of both and for the readers of the destination. `out` may be null: what fails later is
// told by it, and by closing either instance. Errors: TIGA_CLOSED, TIGA_TRANSFER.
tiga_status tiga_transfer(const tiga_hierarchy *hierarchy,
                          const tiga_instance *source,
                          const tiga_instance *destination,
                          tiga_completion **out,
                          tiga_error **error);

// Closes all instances, waits for what is under way, ends the threads, removes the private directory. Does all of it
// whatever fails; the error is the first failure. Nothing happens the second time.
tiga_status tiga_hierarchy_close(const tiga_hierarchy *hierarchy,
                                 tiga_error **error);

// Closes a hierarchy without a word about failures, and ends it; nothing happens for null. Handles to its instances may
// be freed later.
void tiga_hierarchy_free(tiga_hierarchy *hierarchy);

// Whether a transfer has ended, well or not; false for null.
bool tiga_completion_ready(const tiga_completion *completion);

// Waits for the end of a transfer. Errors: TIGA_STORAGE, TIGA_DISK_FULL, TIGA_NOT_FILLED; TIGA_INSIDE_CALLBACK.
tiga_status tiga_completion_wait(const tiga_completion *completion,
                                 tiga_error **error);

// Has `ended` called once with the result: now if it is there, else on a thread of the hierarchy.
tiga_status tiga_completion_then(const tiga_completion *completion,
                                 tiga_ended ended,
                                 void *data,
                                 tiga_error **error);

// Ends a handle to the end of a transfer, which goes on; nothing happens for null.
void tiga_completion_free(tiga_completion *completion);

// Makes an instance, which reads as zeros. It lives until it or its hierarchy is closed. Errors: TIGA_CLOSED, TIGA_TIER,
// TIGA_ARGUMENT, TIGA_BUDGET (before anything is allocated), TIGA_MEMORY, TIGA_STORAGE, TIGA_DISK_FULL. What fails leaves
// nothing behind.
tiga_status tiga_instance_new(const tiga_hierarchy *hierarchy,
                              const tiga_instance_request *request,
                              tiga_instance **out,
                              tiga_error **error);

// What its value is called; empty for null. Belongs to the handle.
tiga_str tiga_instance_logical_name(const tiga_instance *instance);

// Which value of that name; 0 for null.
uint64_t tiga_instance_version(const tiga_instance *instance);

// The name of its tier; empty for null. Lives as long as the library.
tiga_str tiga_instance_tier(const tiga_instance *instance);

// Its bytes; 0 for null.
uint64_t tiga_instance_capacity(const tiga_instance *instance);

// Where its bytes lie in main memory; null for null, for files, and once it is closed. Who reads or writes there sees to
// it that no transfer does at the same time.
void *tiga_instance_address(const tiga_instance *instance);

// The file that it is; empty for null and for main memory. Belongs to the handle.
tiga_str tiga_instance_path(const tiga_instance *instance);

// Whether its last write has ended, as it has if there was none; false for null.
bool tiga_instance_ready(const tiga_instance *instance);

// Waits for its last write. Errors: those of tiga_completion_wait.
tiga_status tiga_instance_wait(const tiga_instance *instance,
                               tiga_error **error);

// Writes `bytes` bytes of `data` at an offset, after the transfers that were begun before. Errors: TIGA_CLOSED,
// TIGA_ARGUMENT, TIGA_STORAGE, TIGA_DISK_FULL, TIGA_INSIDE_CALLBACK.
tiga_status tiga_instance_write(const tiga_instance *instance,
                                uint64_t offset,
                                const void *data,
                                size_t bytes,
                                tiga_error **error);

// Reads `bytes` bytes at an offset into `data`, after the last write that was begun before. Errors: as for
// tiga_instance_write; TIGA_NOT_FILLED if that write failed.
tiga_status tiga_instance_read(const tiga_instance *instance,
                               uint64_t offset,
                               void *data,
                               size_t bytes,
                               tiga_error **error);

// Ends the memory: waits for the last write and for readers, gives everything back. The error is the first failure of
// what was waited for, told once all is given back. Nothing happens the second time. Handles stay to be freed.
tiga_status tiga_instance_close(const tiga_instance *instance,
                                tiga_error **error);

// Ends a handle; the memory lives on. Nothing happens for null.
void tiga_instance_free(tiga_instance *instance);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TIGA_H */
