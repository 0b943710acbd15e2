# SPDX-License-Identifier: MIT
""".ci/run and scripts/install-deps.sh, with stubs in place of the tools: what fails is not passed over."""

from harness import *


def stub(directory, name, text):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(f"#!/bin/sh\n{text}\n")
    os.chmod(path, 0o755)


def run_ci(cmake):
    """.ci/run in a tree of stubs, all of which succeed but cmake, which does this."""
    tree = temp_path("tree")
    os.makedirs(os.path.join(tree, ".ci"))
    shutil.copy(os.path.join(SOURCE_DIR, ".ci/run"), os.path.join(tree, ".ci/run"))
    for name in ("scripts/install-deps.sh", "scripts/test.sh", "tests/lint/spdx.sh", "tests/lint/arrows.py", "tests/lint/arrows_control.py",
                 *(f"bin/{tool}" for tool in ("git", "clang-format", "shellcheck", "mandoc", "clang-tidy", "xargs"))):
        stub(tree, name, "exit 0")
    stub(tree, "bin/cmake", cmake)
    r = subprocess.run([os.path.join(tree, ".ci/run")], capture_output=True, text=True, timeout=60,
                       env={**os.environ, "PATH": os.path.join(tree, "bin") + ":" + os.environ["PATH"]})
    return r.returncode, r.stdout


def test_clang_build_that_fails_ends_the_run():
    fails = 'case $* in *--build*) echo "an error of clang"; exit 1 ;; esac'
    code, out = run_ci(fails)
    check(code != 0 and "an error of clang" in out and "=== release" not in out, f"{code}: {out}")
    _, out = run_ci("echo built")  # the control: one that succeeds
    check("=== release" in out, f"the run goes on: {out}")


def test_packages_are_those_of_the_clang_of_the_system():
    directory = temp_path("bin")
    stub(directory, "apt-cache", "printf 'clang\\n  Depends: clang-19\\n  Breaks: clang-3.2\\n'")
    stub(directory, "dpkg-query", "exit 1")
    stub(directory, "apt-get", 'echo "$@"')
    stub(directory, "sudo", '"$@"')
    stub(directory, "tee", "cat >/dev/null")
    stub(directory, "chmod", "exit 0")
    stub(directory, "rm", "exit 0")
    stub(directory, "pip3", "exit 0")
    stub(directory, "python3", "exit 0")
    r = subprocess.run([os.path.join(SOURCE_DIR, "scripts/install-deps.sh"), "ci"], capture_output=True, text=True, timeout=60,
                       env={**os.environ, "PATH": directory + ":" + os.environ["PATH"]})
    said = r.stdout + r.stderr
    check("libclang-rt-19-dev" in said and "libclang-rt-14" not in said, said)


if __name__ == "__main__":
    main()
