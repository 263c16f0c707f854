"""How long models of 10, 100 and 1,000 messages compile, and in how much memory; what takes the time of a GCN.

`cargo xtask bench compile` runs it. Each message differs from the others in its numbers and its reducer, and takes what
the one before gives. A compiler that looks at each message once takes ten times as long for ten times as many.
"""

import argparse
import os
import subprocess

from spmm import HERE, OUT

CEILING = 12
REDUCERS = ["sum", "max", "mean"]


def model(messages):
    """So many messages in a row."""
    lines = []
    for i in range(messages):
        lines.append(f"message m{i}<F>(src: {{x: f32[F]}}, edge: {{w: f32}}) -> f32[F] {{")
        lines.append(f"    edge {{ edge.w * src.x + {i}.5 }}\n    reduce {REDUCERS[i % len(REDUCERS)]}\n}}")
    lines.append("program p<F>(g: graph<N>, x0: f32[N, F], w: f32[g.edges]) -> (out: f32[N, F]) {")
    lines += [f"    let x{i + 1} = m{i}(g, src: {{x: x{i}}}, edge: {{w}});" for i in range(messages)]
    return "\n".join(lines + [f"    x{messages}\n}}\n"])


def compiled(source):
    """Seconds of the processor, and megabytes at most."""
    command = [os.environ["TIGAC"], source, "-o", source.with_suffix(".tgb")]
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{source} does not compile"
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="of each model; the fastest counts")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    if "compile time".find(options.only) < 0:
        return
    print("compile time, of the processor, for x86-64 as it is here")
    last = None
    for messages in (10, 100, 1000):
        source = OUT / f"messages_{messages}.tg"
        source.write_text(model(messages))
        rounds = min(options.rounds, 1000 // messages)
        seconds, megabytes = min(compiled(source) for _ in range(rounds))
        ratio = "" if last is None else f"  {seconds / last:5.1f} x{'' if seconds / last <= CEILING else ' MISSED'}"
        print(f"  {messages:5} messages {seconds:9.2f} s {megabytes:7.0f} MB{ratio}", flush=True)
        last = seconds
    for name in ("gcn", "gat"):
        print(f"\n{name}.tg, by pass")
        source = HERE.parent / "examples" / f"{name}.tg"
        command = [os.environ["TIGAC"], source, "-o", OUT / f"{name}.tgb", "--time-passes"]
        print(subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr, end="", flush=True)


if __name__ == "__main__":
    main()
