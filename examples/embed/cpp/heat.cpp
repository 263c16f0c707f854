// Runs the program `heat` of a bundle on a graph of three nodes: heat BUNDLE.tgb
#include <cstdio>
#include <tiga.hpp>
#include <vector>

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    try {
        const tiga::bundle bundle = tiga::bundle::open(argv[1]);
        // Row i holds the edges into node i.
        const tiga::graph graph = tiga::graph::from_csr(3, {0, 2, 3, 5}, std::vector<int32_t>{0, 2, 1, 0, 1});
        const std::vector<float> T{1, 2, 3}, b{.1f, .2f, .3f}, c{2, 3, 4, 5, 6};
        std::vector<float> out(3);
        tiga::call call(bundle, "heat");
        call.bind("g", graph).input("T", T).input("b", b).input("c", c).output("out", out);
        call.run(tiga::context());
        std::printf("%.1f %.1f %.1f\n", out[0], out[1], out[2]);
    } catch (const tiga::error &error) {
        std::fprintf(stderr, "%.*s: %s\n", int(error.name().size()), error.name().data(), error.what());
        return 1;
    }
}
