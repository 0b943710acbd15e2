# SPDX-License-Identifier: MIT
""".ci/run and scripts/install-deps.sh, with stubs for the tools: no failure is ignored; and the lint of words."""

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
    lints = os.listdir(os.path.join(SOURCE_DIR, "tests/lint"))
    tools = ("git", "clang-format", "shellcheck", "mandoc", "clang-tidy", "xargs")
    for name in ("scripts/install-deps.sh", "scripts/test.sh", *(f"tests/lint/{lint}" for lint in lints),
                 *(f"bin/{tool}" for tool in tools)):
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


def run_words_lint(*arguments):
    return subprocess.run([os.path.join(SOURCE_DIR, "tests/lint/words.sh"), *arguments], capture_output=True, text=True,
                          timeout=60)


def test_lint_of_words_finds_every_phrase_and_nothing_else():
    path = temp_path("message.c")
    phrases = run_words_lint("--list").stdout.splitlines()
    check(len(phrases) > 15, f"{phrases}")
    for phrase in phrases:
        phrase = phrase.replace("stands?", "stands").replace("(is|are)", "is")
        with open(path, "w") as f:
            f.write(f"/* fine */\n/* As {phrase.title()}: x */\n")
        r = run_words_lint(path)
        check((r.returncode, r.stdout.startswith(f"{path}:2:")) == (1, True), f"'{phrase}': {r.returncode} {r.stdout}")
    with open(path, "w") as f:
        f.write('fprintf(out, "%s ' 'asked, %s connected", a, b);\n')
    check_equal(run_words_lint(path).returncode, 1, "asked, where requested is meant")
    with open(path, "w") as f:  # the control
        f.write('json_u64(j, "asked", n); /* the beginning; withstands it */\n')
    r = run_words_lint(path)
    check_equal((r.returncode, r.stdout), (0, ""), "fine words")


def test_repository_has_no_phrase_of_the_lint():
    if not os.path.exists(os.path.join(SOURCE_DIR, ".git")):
        skip("not a git repository")
    r = run_words_lint()
    check_equal((r.returncode, r.stdout), (0, ""), "phrases")


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
