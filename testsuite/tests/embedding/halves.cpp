// f16 and bf16 in C++: the program of halves.c, with the kernels of one target if it is named.
#include <cstdio>
#include <tiga.hpp>
#include <vector>

// Whether a call takes such an input: nothing that is gone before the run.
template <class Input, class = void>
constexpr bool is_input = false;
template <class Input>
constexpr bool is_input<Input, std::void_t<decltype(std::declval<tiga::call &>().input("x", std::declval<Input>()))>> = true;
static_assert(is_input<const std::vector<float> &> && is_input<const float &> && is_input<tiga::view<const float>>);
static_assert(!is_input<std::vector<float>> && !is_input<float>);

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) return 2;
    tiga::bundle bundle = tiga::bundle::open(argv[1]);
    if (argc == 3) bundle = bundle.with_target(argv[2]);
    if (argc == 3 && bundle.target() != argv[2]) return 6;
    const std::vector<int64_t> row_ptr{0, 1, 2, 3, 4, 5};
    const std::vector<int32_t> col{1, 2, 3, 4, 0};
    const tiga::graph graph = tiga::graph::from_csr(5, row_ptr, col);
    const std::vector<tiga::f16> x{{0x3c00}, {0x4000}, {0x4200}, {0x4400}, {0x4500}};
    const std::vector<tiga::bf16> w(5, tiga::bf16{0x4000});
    const tiga::f16 k{0x3800};
    std::vector<tiga::f16> y(5);
    std::vector<tiga::bf16> z(5);
    tiga::call call(bundle, "halves");
    call.bind("g", graph).input("x", tiga::view(x, {5})).input("w", w).input("k", k).output("y", y).output("z", z);
    call.run(tiga::context::on_caller());
    for (const tiga::f16 element : y) std::printf("%x ", element.bits);
    for (const tiga::bf16 element : z) std::printf("%x ", element.bits);
    std::printf("\n");
    // Prepared, the same call gives the same, again and again.
    const tiga::context context(1);
    call.prepare(context, {{"N", 7}, {"g.edges", 9}});
    for (int run = 0; run < 3; run++) {
        y.assign(5, tiga::f16{0});
        call.clear().bind("g", graph).derive().input("x", tiga::view(x, {5})).input("w", w).input("k", k);
        call.output("y", y).output("z", z).run(context);
        if (y[0].bits != 0x4000 || y[4].bits != 0x3c00) return 6;
    }
    try {
        call.prepare(context, {{"N", 4}, {"g.edges", 9}}).bind("g", graph).input("x", x).input("w", w).input("k", k);
        call.output("y", y).output("z", z).run(context);
        return 7;
    } catch (const tiga::error &error) {
        if (error.name() != "TIGA_PREPARED") return 8;
    }
    // A container in a shape: of as many elements, or none.
    if (tiga::view(y, {1, 5}).shape() != std::vector<int64_t>{1, 5}) return 3;
    std::vector<float> none;
    if (tiga::view(none, {0, 5}).shape().size() != 2) return 4;
    for (const std::vector<int64_t> &shape : {std::vector<int64_t>{2, 2}, {5, 2}, {0, 5}, {-1, -5}, {}}) {
        try {
            (void)tiga::view(y, shape);
            return 5;
        } catch (const std::invalid_argument &) {
        }
    }
}
