// The C++17 library of Tiga: tiga.h with owners that move, exceptions, and views of arrays. Header only.
//
// Every class owns one handle of tiga.h and frees it. What fails throws tiga::error, which holds the number and the
// sentence; a view of a shape that its container does not have throws std::invalid_argument. Functions that are handed
// over (log, progress) must not throw: an exception that leaves one ends the process. Arrays are borrowed until the last run has returned, as in C.

#ifndef TIGA_HPP
#define TIGA_HPP

#include "tiga.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tiga {

// What went wrong: what() is the sentence, status() the number, name() its name.
class error : public std::runtime_error {
public:
    error(tiga_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
    tiga_status status() const noexcept { return status_; }
    std::string_view name() const noexcept {
        tiga_str text = tiga_status_name(status_);
        return {reinterpret_cast<const char *>(text.data), text.len};
    }

private:
    tiga_status status_;
};

// An element of type f16: the bits of an IEEE binary16.
struct f16 {
    uint16_t bits;
};

// An element of type bf16: the upper half of the bits of an IEEE binary32.
struct bf16 {
    uint16_t bits;
};

namespace detail {

inline tiga_str str(std::string_view text) noexcept {
    return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

inline std::string_view view(tiga_str text) noexcept { return {reinterpret_cast<const char *>(text.data), text.len}; }

// Throws what a call has left in `failure`.
inline void check(tiga_status status, tiga_error *failure) {
    if (status == TIGA_OK) return;
    std::unique_ptr<tiga_error, decltype(&tiga_error_free)> owner(failure, tiga_error_free);
    throw error(status, std::string(view(tiga_error_message(failure))));
}

// Calls a function of tiga.h whose last parameter is a tiga_error **.
template <class Function, class... Arguments>
void call(Function function, Arguments... arguments) {
    tiga_error *failure = nullptr;
    tiga_status status = function(arguments..., &failure);
    check(status, failure);
}

template <auto Free>
struct freed {
    template <class Handle>
    void operator()(Handle *handle) const noexcept {
        Free(handle);
    }
};

template <class Handle, auto Free>
using owner = std::unique_ptr<Handle, freed<Free>>;

template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

template <class Element>
constexpr int32_t dtype_of() {
    using T = std::remove_cv_t<Element>;
    static_assert(std::is_same_v<T, bool> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                      std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, f16> ||
                      std::is_same_v<T, bf16>,
                  "elements are bool, int32_t, int64_t, float, double, tiga::f16 or tiga::bf16");
    if constexpr (std::is_same_v<T, bool>) return TIGA_BOOL8;
    if constexpr (std::is_same_v<T, int32_t>) return TIGA_I32;
    if constexpr (std::is_same_v<T, int64_t>) return TIGA_I64;
    if constexpr (std::is_same_v<T, float>) return TIGA_F32;
    if constexpr (std::is_same_v<T, f16>) return TIGA_F16;
    if constexpr (std::is_same_v<T, bf16>) return TIGA_BF16;
    return TIGA_F64;
}

}  // namespace detail

// The version of the library: major * 65536 + minor.
inline uint32_t abi_version() noexcept { return tiga_abi_version(); }

// An array of the host: where, and in which shape. `T` is const for an array to read.
template <class T>
class view {
public:
    view(T *data, std::initializer_list<int64_t> shape) : data_(data), shape_(shape) {}
    view(T *data, std::vector<int64_t> shape) : data_(data), shape_(std::move(shape)) {}
    // All elements of a vector, std::array or the like, along one axis.
    template <class Container, class = decltype(std::declval<Container &>().data())>
    view(Container &elements) : data_(elements.data()), shape_{static_cast<int64_t>(elements.size())} {}
    // The same in a shape of as many elements; throws std::invalid_argument if it has more or fewer.
    template <class Container, class = decltype(std::declval<Container &>().data())>
    view(Container &elements, std::vector<int64_t> shape) : data_(elements.data()), shape_(std::move(shape)) {
        size_t left = elements.size();
        for (const int64_t extent : shape_) {
            if (extent < 1 || left % static_cast<size_t>(extent) != 0) left = 0;
            else left /= static_cast<size_t>(extent);
        }
        const bool empty = std::find(shape_.begin(), shape_.end(), 0) != shape_.end() && elements.size() == 0;
        if (left != 1 && !empty) throw std::invalid_argument("a view has a shape of more or fewer elements");
    }

    T *data() const noexcept { return data_; }
    const std::vector<int64_t> &shape() const noexcept { return shape_; }

private:
    T *data_;
    std::vector<int64_t> shape_;
};

template <class Container>
view(Container &) -> view<std::remove_pointer_t<decltype(std::declval<Container &>().data())>>;
template <class Container>
view(Container &, std::vector<int64_t>) -> view<std::remove_pointer_t<decltype(std::declval<Container &>().data())>>;

// Compiled programs. May be shared by threads.
class bundle {
public:
    static bundle open(std::string_view path) {
        tiga_bundle *out = nullptr;
        detail::call(tiga_bundle_open, detail::str(path), &out);
        return bundle(out);
    }
    static bundle from_memory(const void *bytes, std::size_t size) {
        tiga_bundle *out = nullptr;
        detail::call(tiga_bundle_from_memory, static_cast<const uint8_t *>(bytes), size, &out);
        return bundle(out);
    }
    // The table tiga_linked_NAME of an object that the program is linked with.
    static bundle from_linked(const tiga_linked &linked) {
        tiga_bundle *out = nullptr;
        detail::call(tiga_bundle_from_linked, &linked, &out);
        return bundle(out);
    }
    // The same with the kernels of one target, such as "x86-64-v3", instead of the best that this machine can run.
    bundle with_target(std::string_view target) const {
        tiga_bundle *out = nullptr;
        detail::call(tiga_bundle_with_target, get(), detail::str(target), &out);
        return bundle(out);
    }
    // Takes over a handle.
    explicit bundle(tiga_bundle *handle) noexcept : handle_(handle) {}

    std::string_view target() const noexcept { return detail::view(tiga_bundle_target(get())); }
    std::vector<std::string> programs() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < tiga_bundle_programs(get()); i++) {
            tiga_program_info info{};
            info.size = sizeof info;
            detail::call(tiga_bundle_program, get(), i, &info);
            names.emplace_back(detail::view(info.name));
        }
        return names;
    }
    const tiga_bundle *get() const noexcept { return handle_.get(); }

private:
    detail::owner<tiga_bundle, tiga_bundle_free> handle_;
};

// A checked graph. May be shared by threads and calls.
class graph {
public:
    // Rows by destination; the arrays are copied. `Index` is int32_t or int64_t.
    template <class Index>
    static graph from_csr(std::size_t num_src, const std::vector<int64_t> &row_ptr, const std::vector<Index> &col) {
        if (row_ptr.empty()) throw error(TIGA_GRAPH, "row_ptr is empty; it holds one more element than destinations");
        tiga_graph *out = nullptr;
        detail::call(tiga_graph_from_csr, num_src, row_ptr.size() - 1, col.size(), row_ptr.data(),
                     static_cast<const void *>(col.data()), detail::dtype_of<Index>(), &out);
        return graph(out);
    }
    // Two ends for each edge; `order`, if given, receives the input position of each edge of the graph.
    template <class Index>
    static graph from_coo(std::size_t num_src, std::size_t num_dst, const std::vector<Index> &src,
                          const std::vector<Index> &dst, std::vector<int64_t> *order = nullptr) {
        if (src.size() != dst.size()) throw error(TIGA_GRAPH, "an edge needs a source and a destination");
        std::vector<int64_t> positions(order ? src.size() : 0);
        tiga_graph *out = nullptr;
        detail::call(tiga_graph_from_coo, num_src, num_dst, src.size(), static_cast<const void *>(src.data()),
                     static_cast<const void *>(dst.data()), detail::dtype_of<Index>(),
                     order ? positions.data() : nullptr, &out);
        if (order) *order = std::move(positions);
        return graph(out);
    }
    explicit graph(tiga_graph *handle) noexcept : handle_(handle) {}

    std::size_t num_src() const noexcept { return tiga_graph_num_src(get()); }
    std::size_t num_dst() const noexcept { return tiga_graph_num_dst(get()); }
    std::size_t num_edges() const noexcept { return tiga_graph_num_edges(get()); }
    const tiga_graph *get() const noexcept { return handle_.get(); }

private:
    detail::owner<tiga_graph, tiga_graph_free> handle_;
};

// Stops runs; request() may be called from any thread.
class cancel_token {
public:
    cancel_token() {
        tiga_cancel *out = nullptr;
        detail::call(tiga_cancel_new, &out);
        handle_.reset(out);
    }
    void request() const noexcept { tiga_cancel_request(get()); }
    bool requested() const noexcept { return tiga_cancel_requested(get()); }
    const tiga_cancel *get() const noexcept { return handle_.get(); }

private:
    detail::owner<tiga_cancel, tiga_cancel_free> handle_;
};

// Threads of its own, or the caller's alone. May be shared by threads.
class context {
public:
    using log_function = std::function<void(int level, std::string_view line)>;

    // A thread on each core, or so many.
    explicit context(std::size_t threads = 0) : context(threads, false, 0, nullptr) {}
    // No threads: runs happen on the thread that calls.
    static context on_caller() { return context(0, true, 0, nullptr); }
    // The same with log lines up to a level: TIGA_LOG_INFO or TIGA_LOG_DEBUG.
    static context logging(int level, log_function log, std::size_t threads = 0) {
        return context(threads, false, level, std::make_unique<log_function>(std::move(log)));
    }
    // All that C can say.
    explicit context(const tiga_context_options &options) { make(options); }

    std::size_t threads() const noexcept { return tiga_context_threads(get()); }
    const tiga_context *get() const noexcept { return handle_.get(); }

private:
    context(std::size_t threads, bool caller, int level, std::unique_ptr<log_function> log) : log_(std::move(log)) {
        tiga_context_options options{};
        options.size = sizeof options;
        options.threads = threads;
        options.caller_thread = caller;
        if (log_) {
            options.log_level = level;
            options.log_data = log_.get();
            options.log = [](void *data, int32_t line_level, tiga_str line) noexcept {
                (*static_cast<log_function *>(data))(line_level, detail::view(line));
            };
        }
        make(options);
    }
    void make(const tiga_context_options &options) {
        tiga_context *out = nullptr;
        detail::call(tiga_context_new, &options, &out);
        handle_.reset(out);
    }

    // Before the handle, which uses it to its end.
    std::unique_ptr<log_function> log_;
    detail::owner<tiga_context, tiga_context_free> handle_;
};

// A call of a program. For one thread at a time.
class call {
public:
    using progress_function = std::function<void(std::string_view task, uint64_t done, uint64_t at_most)>;

    call(const bundle &bundle, std::string_view program) {
        tiga_call *out = nullptr;
        detail::call(tiga_call_new, bundle.get(), detail::str(program), &out);
        handle_.reset(out);
    }

    call &bind(std::string_view name, const graph &graph) {
        detail::call(tiga_call_graph, get(), detail::str(name), graph.get());
        return *this;
    }
    // An array to read.
    template <class T>
    call &input(std::string_view name, const view<T> &elements) {
        tiga_array array{elements.data(), detail::dtype_of<T>(), static_cast<int32_t>(elements.shape().size()),
                         elements.shape().data(), nullptr};
        detail::call(tiga_call_input, get(), detail::str(name), static_cast<const tiga_array *>(&array));
        return *this;
    }
    template <class T>
    call &input(std::string_view name, const std::vector<T> &elements) {
        return input(name, view<const T>(elements));
    }
    // One that nothing holds would be gone before the run: name it.
    template <class T>
    call &input(std::string_view name, const std::vector<T> &&elements) = delete;
    // A single number, which must live until the last run, as arrays must.
    template <class T, class = std::enable_if_t<detail::is_number<T>>>
    call &input(std::string_view name, const T &number) {
        return input(name, view<const T>(&number, std::vector<int64_t>()));
    }
    // As above: not input("k", 0.5f).
    template <class T, class = std::enable_if_t<detail::is_number<T>>>
    call &input(std::string_view name, const T &&number) = delete;
    // An array to write a result into.
    template <class T>
    call &output(std::string_view name, const view<T> &elements) {
        static_assert(!std::is_const_v<T>, "a result is written");
        tiga_array_mut array{elements.data(), detail::dtype_of<T>(), static_cast<int32_t>(elements.shape().size()),
                             elements.shape().data(), nullptr};
        detail::call(tiga_call_output, get(), detail::str(name), static_cast<const tiga_array_mut *>(&array));
        return *this;
    }
    template <class T>
    call &output(std::string_view name, std::vector<T> &elements) {
        return output(name, view<T>(elements));
    }
    // A size that no input fixes.
    call &dim(std::string_view name, int64_t value) {
        detail::call(tiga_call_dim, get(), detail::str(name), value);
        return *this;
    }
    // The shape that a result needs, once all inputs are bound.
    std::vector<int64_t> result_shape(std::string_view name) const {
        std::size_t rank = 0;
        auto ask = [&](int64_t *shape, std::size_t capacity) {
            detail::call(tiga_call_result_shape, static_cast<const tiga_call *>(get()), detail::str(name), shape,
                         capacity, &rank, static_cast<int32_t *>(nullptr));
        };
        ask(nullptr, 0);
        std::vector<int64_t> shape(rank);
        ask(shape.data(), rank);
        return shape;
    }
    // Memory of its own for sizes up to those given, each by its name, and for contexts of as many threads: from then on
    // bind, input, output, dim, clear and run allocate nothing. Views hold their shapes: make those of vectors once.
    call &prepare(const context &context, std::initializer_list<std::pair<std::string_view, int64_t>> sizes) {
        std::vector<tiga_capacity> capacities;
        for (const auto &[name, at_most] : sizes) capacities.push_back({detail::str(name), at_most});
        detail::call(tiga_call_prepare, get(), context.get(), static_cast<const tiga_capacity *>(capacities.data()),
                     capacities.size());
        progress_.reset();
        return *this;
    }
    // Forgets all that is bound.
    call &clear() {
        detail::call(tiga_call_clear, get());
        progress_.reset();
        return *this;
    }
    // Makes what the program derives of the bound graphs; a prepared call needs it once for each graph.
    call &derive() {
        detail::call(tiga_call_derive, get());
        return *this;
    }
    call &cancelled_by(const cancel_token &token) {
        detail::call(tiga_call_cancelled_by, get(), token.get());
        return *this;
    }
    call &on_progress(progress_function progress) {
        auto kept = std::make_unique<progress_function>(std::move(progress));
        auto report = [](void *data, tiga_str task, uint64_t done, uint64_t at_most) noexcept {
            (*static_cast<progress_function *>(data))(detail::view(task), done, at_most);
        };
        detail::call(tiga_call_on_progress, get(), static_cast<tiga_progress>(report), static_cast<void *>(kept.get()));
        progress_ = std::move(kept);
        return *this;
    }
    void run(const context &context) { detail::call(tiga_call_run, get(), context.get()); }
    tiga_call *get() const noexcept { return handle_.get(); }

private:
    // Before the handle, which uses it to its end.
    std::unique_ptr<progress_function> progress_;
    detail::owner<tiga_call, tiga_call_free> handle_;
};

}  // namespace tiga

#endif  // TIGA_HPP
