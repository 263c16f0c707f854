// The typed header of a model in C++, and its object.
#include "heat.h"
#include <cstdio>
#include <tiga.hpp>
#include <vector>

int main() {
    const tiga::bundle bundle = tiga::bundle::from_linked(tiga_linked_heat);
    std::vector<int64_t> order;
    const tiga::graph graph = tiga::graph::from_coo(3, 3, std::vector<int64_t>{1, 0, 2, 0, 1},
                                                    std::vector<int64_t>{1, 0, 0, 2, 2}, &order);
    const std::vector<float> T{1, 2, 3}, b{.1f, .2f, .3f}, mine{4, 2, 3, 5, 6};
    std::vector<float> c, out(3);
    for (int64_t position : order) c.push_back(mine[position]);
    // Tokens, contexts and graphs move.
    tiga::cancel_token first;
    const tiga::cancel_token token = std::move(first);
    int lines = 0;
    const tiga::context context =
        tiga::context::logging(TIGA_LOG_DEBUG, [&](int, std::string_view line) { lines += !line.empty(); });
    heat_heat_arguments arguments{graph.get(), T.data(), b.data(), c.data(), out.data()};
    tiga_error *error = nullptr;
    if (heat_heat(bundle.get(), context.get(), &arguments, &error) != TIGA_OK || lines < 3) return 1;

    std::vector<float> again(3);
    tiga::call call(bundle, "heat");
    call.bind("g", graph).input("T", T).input("b", b).input("c", c).cancelled_by(token);
    if (call.result_shape("out") != std::vector<int64_t>{3}) return 2;
    uint64_t tasks = 0;
    call.output("out", again).on_progress([&](std::string_view, uint64_t done, uint64_t) { tasks = done; });
    call.run(tiga::context::on_caller());
    if (again != out || tasks == 0) return 3;
    token.request();
    try {
        call.run(context);
        return 4;
    } catch (const tiga::error &e) {
        if (e.status() != TIGA_CANCELLED || e.name() != "TIGA_CANCELLED") return 5;
    }
    std::printf("%.1f %.1f %.1f\n", out[0], out[1], out[2]);
}
