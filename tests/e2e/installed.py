# SPDX-License-Identifier: MIT
"""An installation with plain names and one with a prefix: no text names a program or a file that is not installed, and the
programs know what they are called."""

import fnmatch
import functools
import glob
import stat

from helpers.harness import *

BUILD_DIR = os.path.dirname(os.path.abspath(TCPCLIENT))
PREFIXES = "", "tcpscaler-"
DOC = "share/doc/tcpscaler"
SETUP = "setup-server", "setup-client"
# directories of a run, the first word of a state file, and a file that Prometheus needs
NOT_FILES = "tcpscaler-demo", "tcpscaler-fleet", "tcpscaler-setup", "tcpscaler-token"


def install(root, prefix="", **options):
    r = run_command(["cmake", f"-DTCPSCALER_PROGRAM_PREFIX={prefix}", f"-DCMAKE_INSTALL_PREFIX={root}", "-P",
                     f"{BUILD_DIR}/cmake_install.cmake"], **options)
    check_equal(r.returncode, 0, f"cmake_install.cmake: {r.stderr}")


DIRECTORIES = {"BUILD": BUILD_DIR, "BINDIR": "bin", "SBINDIR": "sbin", "DATADIR": "share", "MANDIR": "share/man", "DOCDIR": DOC}


def lay_out(source=SOURCE_DIR, program=TCPCLIENT, **directories):
    """Runs packaging/install-tree without cmake; returns the directory of the installation."""
    stage = temp_path("stage")
    r = run_command([f"{source}/packaging/install-tree", stage, "", program], env={**os.environ, **DIRECTORIES, **directories})
    check_equal((r.returncode, r.stderr), (0, ""), "install-tree")
    return stage


@functools.cache
def installed(prefix):
    root = temp_path("root")
    install(root, prefix)
    return root


def texts_below(root):
    """(path, text) of all texts but the history and what is data."""
    for path in files_below(root):
        file = os.path.join(root, path)
        if path.endswith((".png", ".json", "CHANGELOG.md", "LICENSE")) or os.path.islink(file):
            continue
        with open(file, "rb") as f:
            content = f.read()
        if not content.startswith(b"\x7fELF"):
            text = content.decode()
            yield path, text.replace("\\-", "-") if "/man/" in path else text


# --- the checks: each yields the wrong names in one text ---

def wrong_programs(prefix, path, text):
    """Plain names where the installed ones have a prefix. Kept: shell variables, keys of nightly.conf, values of JSON, the
    first line of a summary, jobs of Prometheus; the playbook of the fleet uses lib/tcpscaler/bin."""
    if not prefix or path.startswith(f"{DOC}/fleet/") and not path.endswith(".md"):
        return
    kept = r'[$][{]?tcp\w+|\btcp\w+=|^ +tcp\w+\) |^(?:# )?tcp\w+ = |"tcp\w+"|^tcp\w+ \d|job_name: tcp\w+'
    for name in re.findall(r"(?<![\w-])tcp(?:client|server|report)(?!\w)", re.sub(kept, "", text, flags=re.M)):
        yield name


def wrong_names(names, text):
    """Names of ours that no installed file has: programs, units, scripts."""
    for name in re.findall(r"(?<![\w$-])tcpscaler-[a-z]+(?:-[a-z]+)*(?:\.(?:service|timer|md))?", text):
        if name not in names and name not in NOT_FILES:
            yield name
    for name in re.findall(r"(?<![\w*/-])(?:scripts/)?([\w*-]+\.sh)\b", text):
        if not fnmatch.filter(names, name):
            yield name
    yield from re.findall(r"\bcmake --(?:preset|build|install)\b", text)  # there is nothing to build
    for name, section in re.findall(r"\b(tcp(?:client|server|report|scaler)[a-z-]*)\b ?\((\d)\)", text):
        if f"{name}.{section}" not in names:
            yield f"{name}({section})"


def wrong_paths(root, path, text):
    """Paths below the source tree, where the text does not say so, links, and absolute paths that do not exist."""
    here = os.path.dirname(os.path.join(root, path))
    for name in re.findall(r"(?<![\w./-])(?:scripts|docs|packaging|fleet)/[\w./*-]*\w", text):
        if not os.path.exists(os.path.join(root, DOC, name)):
            yield name
    for name in re.findall(r"(?<![\w./-])(?:\.\./)?(?:bench|build|include|src|tests)/[\w./-]*\w", text):
        in_source = name.removeprefix("../")
        if "in the source tree" not in text or not (in_source.startswith("build/") or
                                                    os.path.exists(os.path.join(SOURCE_DIR, in_source))):
            yield name
    for name in re.findall(r"/usr/((?:s?bin|lib|share)/[\w./-]*tcpscaler[\w./-]*\w)", text):
        if not os.path.lexists(os.path.join(root, name)):
            yield name
    if path.endswith(".md"):
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            if not link.startswith("http") and not os.path.exists(os.path.join(here, link)):
                yield link


def wrong_in(root, prefix, path, text):
    names = {os.path.basename(name) for name in files_below(root)}
    return [*wrong_programs(prefix, path, text), *wrong_names(names, text), *wrong_paths(root, path, text)]


def test_installed_texts_name_only_what_is_installed():
    for prefix in PREFIXES:
        texts = list(texts_below(installed(prefix)))
        check(len(texts) > 50, f"texts: {[path for path, _ in texts]}")
        found = {path: wrong for path, text in texts if (wrong := wrong_in(installed(prefix), prefix, path, text))}
        check_equal(found, {}, f"names of what is not installed, prefix '{prefix}'")


def test_man_pages_say_where_guides_are_without_a_package():
    root = installed("")
    pages = {path: text for path, text in texts_below(root) if "/man/" in path and "/usr/share/doc" in text}
    check(pages, "pages that say where guides are")
    check_equal([path for path, text in pages.items() if "/usr/local/share/doc" not in text], [], "of the package only")


def test_wrong_names_are_found():
    """The control."""
    guide = f"{DOC}/docs/nightly.md"
    for text in ("run scripts/nightly.sh now", "`setup-wrong.sh`", "tcpscaler-wrong --apply", "tcpscaler-wrong.service",
                 "see tcpserver-wrong(1)", "[a guide](wrong.md)", "`bench/scale` prints it", "bench/wrong in the source tree",
                 "/usr/share/tcpscaler/wrong", "docs/wrong.md", "cmake --preset release"):
        for prefix in PREFIXES:
            check(wrong_in(installed(prefix), prefix, guide, text), f"{text!r} is found")
    check_equal(wrong_in(installed("tcpscaler-"), "tcpscaler-", guide, "run tcpclient, or tcpserver."),
                ["tcpclient", "tcpserver"], "plain names among names with a prefix")


def test_installed_files_have_no_made_up_address():
    for prefix in PREFIXES:
        for path in files_below(installed(prefix)):
            with open(os.path.join(installed(prefix), path), "rb") as f:
                check_equal(re.findall(rb"[\w.@/-]*tcpscaler[.](?:example|invalid)", f.read()), [], path)


def test_fleet_guide_leaves_installed_directories_alone():
    """Which an ordinary user may not write."""
    stage, home = lay_out(), temp_directory()
    before = files_below(stage)
    commands = re.findall(r"^cd fleet(?: .*)?\n(?:.*\n)*?(?=```)", read_text(f"{stage}/{DOC}/docs/fleet.md"), re.M)
    check_equal(len(commands), 1, f"blocks: {commands}")
    r = run_command(["sh", "-ec", commands[0]], cwd=f"{stage}/{DOC}", env={**os.environ, "HOME": home})
    check_equal((r.returncode, r.stderr), (0, ""), commands[0])
    check_equal(sorted(set(files_below(stage)) - set(before)), [], "new files among those installed")
    check_equal(read_text(f"{home}/fleet/inventory.yml"), read_source("fleet", "inventory.example.yml"), "the inventory")


def test_versions_agree():
    def found(pattern, *path):
        return re.findall(pattern, read_source(*path), re.M)[0]

    version = found(r"project\(tcpscaler VERSION (\S+)", "CMakeLists.txt")
    check_equal(found(r"^tcpscaler \(([^-]*)-\d+\)", "debian", "changelog"), version, "debian/changelog")
    check_equal(found(r"^Version: +(\S+)", "packaging", "tcpscaler.spec"), version, "packaging/tcpscaler.spec")
    check_equal(found(r"^## (\S+)", "CHANGELOG.md"), version, "CHANGELOG.md")
    for page in glob.glob(f"{SOURCE_DIR}/docs/*.[178]"):
        check_equal(found(r'^\.TH .* "tcpscaler (\S+)"', page), version, page)


def test_private_files_of_the_source_tree_are_not_installed():
    source = temp_path("source")
    for name in ("docs", "fleet", "packaging", "scripts"):
        shutil.copytree(os.path.join(SOURCE_DIR, name), os.path.join(source, name))
    for name in ("README.md", "CHANGELOG.md", "LICENSE"):
        shutil.copy(os.path.join(SOURCE_DIR, name), source)
    private = ("fleet/host_vars/c1.yml", "fleet/inventory.lab.yml", "fleet/.vault_pass", "fleet/results/run.json", "docs/tls.md~",
               "docs/.faults.md.swp")
    for name in private:
        os.makedirs(os.path.dirname(os.path.join(source, name)), exist_ok=True)
        write_text(os.path.join(source, name), "ansible_become_password: secret\n")
    found = {path.removeprefix(DOC + "/") for path in files_below(lay_out(source))}
    check_equal(found & {*private, "fleet/inventory.example.yml", "fleet/roles/fleet/tasks/tune.yml", "docs/tls.md"},
                {"fleet/inventory.example.yml", "fleet/roles/fleet/tasks/tune.yml", "docs/tls.md"}, "what is installed")


def test_directories_and_the_program_may_be_elsewhere():
    program = temp_path("tcpclient")
    os.symlink(TCPCLIENT, program)  # as with CMAKE_RUNTIME_OUTPUT_DIRECTORY
    stage = lay_out(program=program, BINDIR="usr/bin", SBINDIR="tools/usr/sbin", DATADIR="usr/share")
    links = [path for path in files_below(stage) if os.path.islink(os.path.join(stage, path))]
    check_equal(len(links), 5, f"links: {links}")
    check_equal([path for path in links if not os.path.isfile(os.path.join(stage, path))], [], "links to nowhere")
    check("usr/share/bash-completion/completions/tcpclient" in files_below(stage), "completions")


def test_links_are_relative_without_ln_that_makes_them_so():
    """busybox, of Alpine Linux, has no ln -r."""
    directory = temp_directory()
    write_program(f"{directory}/ln", f'#!/bin/sh\ncase $1 in *r*) exit 1 ;; esac\nexec {shutil.which("ln")} "$@"\n')
    stage = lay_out(PATH=f"{directory}:{os.environ['PATH']}", BINDIR="./", SBINDIR="own/sbin", DATADIR="usr//share")
    links = {path: os.readlink(os.path.join(stage, path)) for path in files_below(stage) if os.path.islink(os.path.join(stage, path))}
    check_equal(links.keys(), {"tcpscaler-nightly", "tcpscaler-nightly-failed", "own/sbin/tcpscaler-setup-server",
                               "own/sbin/tcpscaler-setup-client", "lib/tcpscaler/bin/tcpclient"}, "links")
    wrong = {path: to for path, to in links.items() if to.startswith("/") or not os.path.isfile(os.path.join(stage, path))}
    check_equal(wrong, {}, "links that are absolute, or to nowhere")


def test_playbook_finds_the_programs_and_scripts_wherever_documents_are():
    for directories in {}, {"DOCDIR": "share/doc/packages/tcpscaler"}, {"DATADIR": "usr/share", "DOCDIR": "doc"}:
        stage = lay_out(**directories)
        playbook = f"{stage}/{directories.get('DOCDIR', DOC)}/fleet"
        text = read_text(f"{playbook}/roles/fleet/defaults/main.yml")
        found = [path for path in re.findall(r"playbook_dir ~ '([^']+)'", text) if os.path.exists(playbook + path)]
        check_equal([os.path.relpath(os.path.realpath(playbook + path), stage) for path in found],
                    ["bin/tcpclient", f"{directories.get('DATADIR', 'share')}/tcpscaler/setup-lib.sh"], f"{directories}")


def relative_directory(name, value):
    """What packaging/directories.cmake makes of an installation directory, or that it refuses it."""
    script = temp_path("directory.cmake")
    write_text(script, f"include({SOURCE_DIR}/packaging/directories.cmake)\nmessage(STATUS ${{CMAKE_INSTALL_{name}}})\n")
    r = run_command(["cmake", "-DCMAKE_INSTALL_PREFIX=/opt/us", f"-DCMAKE_INSTALL_{name}={value}", "-P", script])
    if r.returncode:
        return re.search(f"CMAKE_INSTALL_{name} must be below CMAKE_INSTALL_PREFIX, /opt/us", r.stderr) and "refused"
    return r.stdout.removeprefix("-- ").strip()


def test_absolute_directories_are_below_the_prefix():
    for value, wanted in (("usr/bin", "usr/bin"), ("/opt/us/usr/bin", "usr/bin"), ("..bin", "..bin"), ("/opt/bin", "refused"),
                          ("../bin", "refused")):
        check_equal(relative_directory("BINDIR", value), wanted, f"BINDIR {value}")
    check_equal(relative_directory("DOCDIR", "/usr/doc"), "refused", "DOCDIR")


def test_only_new_directories_get_a_mode():
    """As in a home directory that others may not read, by a user with a strict umask."""
    root, theirs = temp_path("root"), {"": 0o700, "share": 0o750, "bin": 0o2775}
    for name, mode in theirs.items():
        os.mkdir(os.path.join(root, name))
        os.chmod(os.path.join(root, name), mode)
    install(root, umask=0o077)
    modes = {os.path.relpath(path, root): stat.S_IMODE(os.stat(path).st_mode) for path, _, _ in os.walk(root)}
    check_equal({name: modes.pop(name or ".") for name in theirs}, theirs, "modes of directories that were there")
    check_equal((set(modes.values()), len(modes) > 10), ({0o755}, True), f"modes of new directories: {modes}")


def install_from(build, root, **settings):
    """As cmake_install.cmake does, from a build directory of the test's own."""
    every = {"CMAKE_INSTALL_PREFIX": root, "TCPSCALER_SOURCE_DIR": SOURCE_DIR, "TCPSCALER_BINARY_DIR": build,
             "TCPSCALER_PROGRAM_PREFIX": "", "TCPSCALER_PROGRAMS": TCPCLIENT,
             **{f"TCPSCALER_{name}": value for name, value in DIRECTORIES.items() if name != "BUILD"}, **settings}
    return run_command(["cmake", *(f"-D{name}={value}" for name, value in every.items()), "-P", f"{SOURCE_DIR}/packaging/install.cmake"])


def test_installation_that_fails_leaves_nothing_in_the_build_directory():
    build, full = temp_directory(), temp_directory()
    for name in ("completion", "tcpscaler.spdx.json"):
        os.symlink(os.path.join(BUILD_DIR, name), os.path.join(build, name))
    write_text(f"{full}/share", "no directory")
    before = sorted(os.listdir(build))
    for root, settings, says in ((full, {}, f"{full}/share"), (temp_path("root"), {"TCPSCALER_PROGRAMS": "/nowhere/tcpclient"}, "/nowhere"),
                                 (temp_path("root"), {"CMAKE_INSTALL_DO_STRIP": 1, "TCPSCALER_STRIP": "false"}, "failed")):
        r = install_from(build, root, **settings)
        check(r.returncode != 0 and says in r.stderr, f"{settings}: exit code {r.returncode}, {r.stderr}")
        check_equal(sorted(os.listdir(build)), before, f"in the build directory, after {settings}")
    r = install_from(build, temp_path("root"))
    check_equal((r.returncode, r.stderr, sorted(os.listdir(build))), (0, "", before), "the control: one that succeeds")


def test_directories_where_nothing_would_be_installed_are_refused():
    """CMake's file(GLOB) takes brackets in the path of the build as a pattern."""
    for name, is_refused in ("build [1]", True), ("build (1) +", False):
        r = run_command(["cmake", "-S", SOURCE_DIR, "-B", os.path.join(temp_directory(), name), "-DBUILD_TESTING=OFF"])
        check_equal((r.returncode != 0, "must not contain [" in r.stderr), (is_refused, is_refused), f"{name}: {r.stderr}")


def test_programs_print_the_name_they_are_called_by():
    for prefix in PREFIXES:
        for directory, name in (("bin", f"{prefix}tcpclient"), ("bin", f"{prefix}tcpserver"), ("lib/tcpscaler/bin", "tcpclient"),
                                ("bin", f"{prefix}tcpreport"), ("lib/tcpscaler/bin", "tcpserver")):
            if "tcpreport" in name and not TCPREPORT:
                continue
            program = os.path.join(installed(prefix), directory, name)
            text = run_command([program, "--help"]).stdout
            check_equal(text.split()[:2], ["Usage:", name], "the first line of --help")
            version = run_command([program, "--version"]).stdout
            check_equal(version.split()[0], name, "--version")


def test_scripts_are_executable_and_find_their_parts():
    for prefix in PREFIXES:
        for program in [f"sbin/tcpscaler-{name}" for name in SETUP] + ["bin/tcpscaler-nightly"]:
            r = run_command([os.path.join(installed(prefix), program), "--help"])
            check_equal((r.returncode, r.stderr, r.stdout.split()[:2]), (0, "", ["usage:", os.path.basename(program)]), program)
    text = run_command([f"{installed('')}/sbin/tcpscaler-setup-client", "--help"]).stdout
    check("/run/tcpscaler/setup-client.state" in text, "the state has the name that it has in the source tree")


def test_nightly_runs_the_programs_with_the_prefix():
    for prefix in PREFIXES:
        script = read_text(f"{installed(prefix)}/share/tcpscaler/nightly-config.sh")
        check(f"\ntcpclient={prefix}tcpclient tcpreport={prefix}tcpreport " in script, f"defaults, prefix '{prefix}'")


def test_setup_programs_have_a_man_page_with_every_option():
    page = read_source("docs", "tcpscaler-setup-server.8").replace("\\-", "-")
    wanted = set()
    for name in SETUP:
        text = run_command([f"{SOURCE_DIR}/scripts/{name}.sh", "--help"]).stdout
        wanted |= set(re.findall(r"^  (--[a-z-]+)", text, re.M)) | set(re.findall(r"^  --\S+ \S+ (--[a-z-]+)", text, re.M))
    check(len(wanted) > 15, f"options: {wanted}")
    check_equal(set(re.findall(r"^\.B (--[a-z-]+)", page, re.M)), wanted, "options in the man page")


def test_man_pages_units_and_completions_follow_the_prefix():
    need_program("mandoc")
    for prefix in PREFIXES:
        root = installed(prefix)
        pages = [page for page in glob.glob(f"{root}/share/man/man*/*") if os.path.getsize(page) > 100]
        check(len(pages) >= 5, f"man pages: {pages}")  # without any mandoc reads stdin
        r = run_command(["mandoc", "-T", "lint", "-W", "warning", *pages])
        check_equal((r.returncode, r.stdout), (0, ""), "mandoc")
        unit = read_text(f"{root}/lib/systemd/system/{prefix}tcpserver.service")
        check_equal(re.findall("^(?:ExecStart|EnvironmentFile|StateDirectory)=(.*)$", unit, re.M),
                    [f"-/etc/default/{prefix}tcpserver", f"{prefix}tcpserver $OPTIONS", f"{prefix}tcpserver"], "the unit")
        completion = read_text(f"{root}/share/bash-completion/completions/{prefix}tcpclient")
        check_equal(completion.split()[-1], f"{prefix}tcpclient", "what bash completes")
        with open(f"{root}/share/zsh/site-functions/_{prefix}tcpclient") as f:
            check_equal(f.readline(), f"#compdef {prefix}tcpclient\n", "what zsh completes")


if __name__ == "__main__":
    main()
