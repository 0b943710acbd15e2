# SPDX-License-Identifier: MIT
"""The lints of words, licences, workflows and shell scripts find what they are for, and the repository has none of it."""

import glob

from helpers.harness import *


def run_words_lint(*arguments):
    return run_command([os.path.join(SOURCE_DIR, "tests/lint/words.sh"), *arguments])


def test_lint_of_words_finds_every_phrase_and_nothing_else():
    path = temp_path("message.c")
    phrases = run_words_lint("--list").stdout.splitlines()
    check(len(phrases) > 15, f"{phrases}")
    for phrase in phrases:
        phrase = phrase.replace("stands?", "stands").replace("(is|are)", "is")
        write_text(path, f"/* fine */\n/* As {phrase.title()}: x */\n")
        r = run_words_lint(path)
        check((r.returncode, r.stdout.startswith(f"{path}:2:")) == (1, True), f"'{phrase}': {r.returncode} {r.stdout}")
        check(f'reword "{phrase.title()}"' in r.stderr, f"'{phrase}' on stderr: {r.stderr}")
        write_text(path, f"void as_{phrase.replace(' ', '_')}_x(void);\n")
        check_equal(run_words_lint(path).returncode, 1, f"a function with the name '{phrase}'")
    for words in ("x, for", "ever"), ("stands", " * in"), ("# so", "# many"):
        write_text(path, "\n".join(words) + "\n")
        r = run_words_lint(path)
        check((r.returncode, r.stdout.startswith(f"{path}:")) == (1, True), f"split {words}: {r.returncode} {r.stdout}")
    write_text(path, 'fprintf(out, "%s ' 'asked, %s connected", a, b);\n')
    check_equal(run_words_lint(path).returncode, 1, "asked, where requested is meant")
    with open(path, "w") as f:  # the control
        f.write('json_u64(j, "asked", n); /* the beginning; withstands it */\nfor\n\n(ever)\nso\n.many\n')
    r = run_words_lint(path)
    check_equal((r.returncode, r.stdout), (0, ""), "fine words")
    check(run_words_lint(path, temp_path("missing")).returncode != 0, "a file that cannot be read passes")


def test_repository_has_none_of_the_phrases():
    if not os.path.exists(os.path.join(SOURCE_DIR, ".git")):
        skip("not a git repository")
    r = run_words_lint()
    check_equal((r.returncode, r.stdout), (0, ""), "phrases")


def test_lint_of_words_reads_every_directory():
    if not os.path.exists(os.path.join(SOURCE_DIR, ".git")):
        skip("not a git repository")
    tree = temp_path("tree")
    os.makedirs(os.path.join(tree, "tests/lint"))
    shutil.copy(os.path.join(SOURCE_DIR, "tests/lint/words.sh"), os.path.join(tree, "tests/lint"))
    write_text(os.path.join(tree, "fine"), "words\n")
    for name in ("CHANGELOG.md", "new"):
        write_text(os.path.join(tree, name), "for " "ever\n")
        for arguments in (("init", "-q"), ("add", ".")):
            check_equal(run_command(["git", "-C", tree, *arguments]).returncode, 0, f"git {arguments[0]}")
        r = run_command([os.path.join(tree, "tests/lint/words.sh")])
        found = "new:1:for " "ever\n" if name == "new" else ""
        check_equal((r.returncode, r.stdout), (len(found) > 0, found), name)


def test_every_source_names_its_licence():
    lint = os.path.join(SOURCE_DIR, "tests/lint/spdx.sh")
    line = "# SPDX-License-Identifier: MIT\n"
    path = temp_path("script")
    for text, code in (("#!/bin/sh\n" + line, 0), ("#!/bin/sh\n\n" + line, 1), ("#!/bin/sh\n", 1)):
        write_text(path, text)
        r = run_command([lint, path])
        check_equal((r.returncode, r.stdout), (code, f"{path}: expected SPDX-License-Identifier: MIT in line 1 or 2\n" if code else ""), text)
    if not os.path.exists(os.path.join(SOURCE_DIR, ".git")):
        skip("not a git repository")
    tree = temp_path("tree")
    os.makedirs(os.path.join(tree, "tests/lint"))
    shutil.copy(lint, os.path.join(tree, "tests/lint"))
    write_text(os.path.join(tree, "tests/deep"), "#!/bin/sh\n")
    write_text(os.path.join(tree, "notes"), "not a script\n#!\n")
    for arguments in (("init", "-q"), ("add", ".")):
        check_equal(run_command(["git", "-C", tree, *arguments]).returncode, 0, f"git {arguments[0]}")
    r = run_command([os.path.join(tree, "tests/lint/spdx.sh")])
    check_equal((r.returncode, r.stdout), (1, "tests/deep: expected SPDX-License-Identifier: MIT in line 1 or 2\n"), "a script of another directory")
    check_equal(run_command([lint]).returncode, 0, "this repository")


def test_actions_are_pinned_to_commits():
    lint = os.path.join(SOURCE_DIR, "tests/lint/pins.sh")
    r = run_command([lint])
    check_equal((r.returncode, r.stdout), (0, ""), "actions that are not")
    pinned = f"      - uses: actions/checkout@{'0123456789' * 4} # v4.3.1"
    path = temp_path("workflow.yml")
    for line, code in ((pinned, 0), (pinned.replace("89 ", "8 "), 1), (pinned.split(" #")[0], 1), ("      - uses: actions/checkout@v4", 1)):
        write_text(path, f"steps:\n{line}\n")
        check_equal(subprocess.run([lint, path], capture_output=True, timeout=HANGS_S).returncode, code, line)
    write_text(path, f"{pinned}\n")
    check(run_command([lint, path, temp_path("missing")]).returncode != 0, "a file that cannot be read passes")


def test_release_is_built_on_the_system_of_the_tests():
    workflows = {}
    for name in ("ci", "release"):
        workflows[name] = read_source(f".github/workflows/{name}.yml")
    image = re.search(r"^ +image: (\S+)$", workflows["ci"], re.M).group(1)
    options = re.search(r"^ +options: (.+)$", workflows["ci"], re.M).group(1)
    build = re.search(r"docker run --rm (.+) --volume .* (\S+) sh -euxc '([^']+)'$", workflows["release"], re.M)
    check_equal(build.group(1, 2), (options, image), "container")
    check("packaging/release dist" in build.group(3), f"commands: {build.group(3)}")
    check_equal(workflows["release"].count("packaging/release"), 1, "builds")


def test_every_shell_script_is_checked():
    need_program("shellcheck")
    if not os.path.exists(os.path.join(SOURCE_DIR, ".git")):
        skip("not a git repository")
    lint = os.path.join(SOURCE_DIR, "tests/lint/shell.sh")
    checked = run_command([lint, "--list"]).stdout.splitlines()
    scripts = []
    in_git = run_command(["git", "-C", SOURCE_DIR, "ls-files"]).stdout
    for name in in_git.splitlines():
        with open(os.path.join(SOURCE_DIR, name), "rb") as f:
            if name.endswith(".sh") or re.match(rb"#! ?/(usr/)?bin/(env )?(ba|da)?sh\b", f.readline()):
                scripts.append(name)
    check_equal(checked, sorted(scripts), "scripts that shellcheck reads")
    check(len(scripts) > 35, f"{scripts}")
    path = temp_path("bad.sh")  # the control
    for text, code in (("rm $1", 1), ('rm "$1"', 0)):
        write_text(path, f"#!/bin/sh\n{text}\n")
        r = run_command([lint, path])
        check_equal((r.returncode, "SC2086" in r.stdout), (code, code == 1), text)
    for others, code in (("", 1), (" INT", 1), ("\ntrap 'exit 143' TERM", 1), ("\ntrap 'exit 143' TERM HUP", 0), (" TERM HUP", 0)):
        write_text(path, f"#!/bin/sh\ntrap 'rm -f x' EXIT{others}\n")
        r = run_command([lint, path])
        check_equal((r.returncode, f"{path}: a trap for EXIT, none for HUP" in r.stdout), (code, code == 1), others)
    for before, code in (("", 1), ("CDPATH='' ", 0)):
        write_text(path, f'#!/bin/sh\n{before}cd "$(dirname "$0")/.." || exit\n')
        r = run_command([lint, path])
        check_equal((r.returncode, f"{path}: cd " in r.stdout), (code, code == 1), f"cd to its own directory: {r.stdout}")


def tests_not_run(lists):
    """Files of tests that these texts do not name; CMake finds the unit tests of the rooms by itself."""
    found = {path: os.path.basename(path).removesuffix(".py") for path in glob.glob(os.path.join(SOURCE_DIR, "tests/e2e/*.py"))
             if re.search(r"^def test_", read_text(path), re.M)}
    for path in glob.glob(os.path.join(SOURCE_DIR, "tests/unit/test_*.c")) + glob.glob(os.path.join(SOURCE_DIR, "tests/fuzz/fuzz_*.c")):
        found[path] = re.fullmatch(r"(?:test|fuzz)_(\w+)\.c", os.path.basename(path)).group(1)
    check(len(found) > 100, f"files of tests: {len(found)}")
    return {name for name in found.values() if not re.search(rf"(?<![\w/]){name}\b", lists)}


def test_every_file_of_tests_is_run():
    lists = re.sub(r"#.*", "", read_source("tests/CMakeLists.txt")).replace("fuzz/fuzz_", "")
    lists += read_source("tests/fleet/run").replace("tests/e2e/", "")
    check_equal(tests_not_run(lists), set(), "tests that neither tests/CMakeLists.txt nor tests/fleet/run names")
    check_equal(tests_not_run(re.sub(r"\b(keepalive|endpoint|print_config)\b", "", lists)), {"keepalive", "endpoint", "print_config"},
                "the control")


def comparisons_that_accept_nan(files):
    return {path for path in files if re.search(r"\bassert_(?:float|double)_(?:not_)?equal\b", read_text(path))}


def test_no_unit_test_compares_figures_so_that_nan_passes():
    """As cmocka's assert_float_equal() does: fail unless the difference is within the tolerance."""
    files = glob.glob(os.path.join(SOURCE_DIR, "tests/unit/**/*.[ch]"), recursive=True)
    check(len(files) > 250, f"unit tests: {len(files)}")
    check_equal(comparisons_that_accept_nan(files), set(), "files")
    control = temp_path("test_x.c")
    write_text(control, "    assert_float_equal(x, 1, 0.1);\n")
    check_equal(comparisons_that_accept_nan([control]), {control}, "the control")


if __name__ == "__main__":
    main()
