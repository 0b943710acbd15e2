# SPDX-License-Identifier: MIT
"""bench/all, with fake programs instead of the benchmarks."""

from helpers.bench_programs import *
import blocks

README = "Before.\n<!-- quoted from docs/performance.md -->\nold\n<!-- end of the quotation -->\nAfter.\n"
# What bench/all finds in place of the benchmarks, and of the check for a quiet machine.
FAKES = {
    "programs.py": """from typing import NamedTuple
class Benchmark(NamedTuple):
    command: str
    most_minutes: float
BENCHMARKS = {"scale": Benchmark("cat bench/table", 1), "broken": Benchmark("false", 2), "slow": Benchmark("sh bench/slow", 0.002),
              "last": Benchmark("sh bench/last", 3)}
APART = {"soak": "takes hours"}
""",
    "quiet.py": """import os
def disturbance(seconds):
    return "other programs used 99 % of the CPU time" if os.path.exists("noisy") else None
def cpu_times():
    return 0
def stolen_percent(since):
    return 0
""",
    "table": SCALE,
    "slow": "echo $$ has started; exec sleep 3600\n",
    "last": "echo the last one in $PWD/build\n",
}


class Tree:
    """A repository with bench/all and the fakes."""

    def __init__(self):
        self.root = os.path.realpath(temp_path("tree"))
        for name in ("bench", "docs", "tests/e2e/helpers"):
            os.makedirs(os.path.join(self.root, name))
        for name in ("all", "blocks.py", "built.py", "ending.py", "process_tree.py", "usage.py"):
            shutil.copy(os.path.join(BENCH, name), os.path.join(self.root, "bench"))
        for name in ("checks.py", "kernel.py"):
            shutil.copy(os.path.join(SOURCE_DIR, "tests/e2e/helpers", name), os.path.join(self.root, "tests/e2e/helpers"))
        for name, text in FAKES.items():
            self.write(os.path.join("bench", name), text)
        self.write("README.md", README)
        names = "scale", "broken", "slow", "last"
        self.write("docs/performance.md", "".join(f"<!-- {name} -->\n```\nold {name}\n```\n" for name in names))
        self.git("init", "-q")
        self.git("add", ".")
        self.commit_all()
        self.commit = self.git("rev-parse", "HEAD")[:12]

    def git(self, *words):
        return subprocess.run(["git", "-C", self.root, "-c", "user.name=x", "-c", "user.email=x", *words], check=True,
                              capture_output=True, text=True).stdout

    def commit_all(self):
        self.git("commit", "-qam", "x")

    def write(self, path, text):
        write_text(os.path.join(self.root, path), text)

    def read(self, path):
        return read_text(os.path.join(self.root, path))

    def block(self, name):
        return blocks.block(self.read("docs/performance.md"), name)

    def environment(self):
        return {"TCPSERVER": "/bin/true", "TCPCLIENT": "/bin/true", "PYTHONDONTWRITEBYTECODE": "1"}

    def all(self, *arguments):
        return run_program(os.path.join(self.root, "bench/all"), "--wait", "0", *arguments, cwd=self.root, env=self.environment())


def test_benchmark_that_fails_is_named_and_the_others_go_on():
    need_program("git")
    tree = Tree()
    r = tree.all()
    check_equal(r.returncode, 1, f"exit code: {r.stderr}")
    check_equal(r.stderr, "bench/all: broken: exit code 1\nbench/all: slow: took more than 0.002 minutes\n", "messages")
    check("In all at most 6.002 min, and up to 0 min of waiting" in r.stdout and re.search("^soak +not run: takes hours$", r.stdout, re.M),
          f"the plan: {r.stdout}")
    check_equal([tree.block(name) for name in ("broken", "slow", "last")],
                ["old broken\n", "old slow\n", "the last one in build\n"], "blocks")
    about = blocks.about(tree.read("docs/performance.md"), "scale")
    for words in ("`cat bench/table` on 20", f"commit {tree.commit}", "CPUs (", "Linux ", "programs of $TCPSERVER", "taken by the host"):
        check(words in about, f"{words} in {about}")
    check(len(about) > 140 >= max(map(len, tree.read("docs/performance.md").splitlines())), f"the heading is wrapped: {about}")
    readme = tree.read("README.md")
    for words in ("\n  10,000  10,000     0.20  49,911", "753 bytes of user memory\nand 8.3 kB of kernel"):
        check(words in readme and "old" not in readme, f"{words} in {readme}")


def test_benchmark_that_missed_a_target_is_named_and_on_the_page():
    need_program("git")
    tree = Tree()
    for end, why, block in (("echo targets missed: 2; exit 1", "targets missed: 2", "a table\ntargets missed: 2\n"),
                            ("exit 1", "exit code 1", "a table\ntargets missed: 2\n")):
        tree.write("bench/last", f"echo a table; {end}\n")
        tree.commit_all()
        r = tree.all("scale", "last")
        check_equal((r.returncode, r.stderr, tree.block("last")), (1, f"bench/all: last: {why}\n", block), f"after {end}")


def test_noisy_machine_stops_it_and_resume_continues():
    need_program("git")
    tree = Tree()
    tree.write("noisy", "")
    page = tree.read("docs/performance.md")
    r = tree.all("scale", "last")
    why = "bench/all: scale: other programs used 99 % of the CPU time; run it on a quiet machine"
    check(r.returncode == 1 and why in r.stderr, r.stderr)
    check_equal((tree.read("docs/performance.md"), "$ cat" in r.stdout), (page, False), "the page, and whether a benchmark ran")
    os.remove(os.path.join(tree.root, "noisy"))
    check_equal(tree.all("scale").returncode, 0, "exit code on a quiet machine")
    r = tree.all("--resume", "scale", "last")
    check_equal((r.returncode, re.findall(r"^\$ (.*)", r.stdout, re.M)), (0, ["sh bench/last"]), f"exit code, what ran: {r.stderr}")


def test_interrupted_run_keeps_what_it_has_and_leaves_nothing_behind():
    need_program("git")
    tree = Tree()
    tree.write("bench/programs.py", FAKES["programs.py"].replace("0.002", "5"))
    tree.commit_all()
    with open(temp_path("out"), "w+") as out:
        process = spawn([os.path.join(tree.root, "bench/all"), "scale", "slow"], stdout=out, cwd=tree.root,
                        env={**os.environ, **tree.environment()})
        wait_for(lambda: " has started\n" in read_text(out.name) or process.poll() is not None,
                 "the slow one, and that bench/all reads what it prints")
        slow = re.search(r"^(\d+) has started$", read_text(out.name), re.M).group(1)
        stop(process)
    wait_for(lambda: has_ended(slow), "the end of the benchmark")
    check_equal((tree.block("slow"), "10,000" in tree.block("scale")), ("old slow\n", True), "blocks")


def test_uncommitted_changes_are_not_measured():
    need_program("git")
    tree = Tree()
    tree.write("docs/performance.md", tree.read("docs/performance.md") + "more\n")
    check_equal(tree.all("scale").returncode, 0, "exit code when only the page has changed")
    tree.write("bench/table", "other\n")
    r = tree.all("scale")
    check(r.returncode == 1 and "bench/all: not committed: bench/table" in r.stderr, r.stderr)


def test_unknown_and_separate_benchmarks_are_refused():
    for name, words in (("x", "invalid name 'x': expected "), ("soak", "soak is apart: ")):
        r = run_program(os.path.join(BENCH, "all"), name, env={"TCPSERVER": "/bin/true", "TCPCLIENT": "/bin/true"})
        check(r.returncode == 2 and words in r.stderr, r.stderr)


if __name__ == "__main__":
    main()
