# SPDX-License-Identifier: MIT
"""The Debian package: lintian, its content, that it works where it was unpacked and leaves nothing behind; completions and
the systemd unit."""

import functools
import glob
import gzip

from helpers.documents import COMMANDS, PROGRAMS, options_of
from helpers.setup_host import *

BUILD_DIR = os.path.dirname(os.path.abspath(TCPCLIENT))
NAMES = [*PROGRAMS, *(["tcpreport"] if TCPREPORT else [])]
UNIT = "usr/lib/systemd/system/tcpserver.service"


def run(*argv, code=0, **options):
    r = run_command(argv, **options)
    check(code is None or r.returncode == code, f"{argv}: exit code {r.returncode}, {r.stdout}{r.stderr}")
    return r


@functools.cache
def package(kind="DEB", suffix=".deb"):
    """Returns the package of this kind, which is made once."""
    need_program("cpack", "dpkg-deb", "dpkg-shlibdeps")
    directory = temp_directory()
    run("cpack", "-G", kind, "--config", f"{BUILD_DIR}/CPackConfig.cmake", "-B", directory, cwd=BUILD_DIR)
    found = [name for name in os.listdir(directory) if name.endswith(suffix)]
    check_equal(len(found), 1, f"packages in {directory}")
    return os.path.join(directory, found[0])


@functools.cache
def unpacked():
    root = temp_path("root")
    run("dpkg-deb", "-x", package(), root)
    return root


def test_lintian_finds_no_error_but_the_one_that_is_made():
    """The control: the package has a file in a directory that belongs to the administrator."""
    need_program("lintian")
    tree, deb = temp_path("tree"), temp_path("with.deb")
    run("dpkg-deb", "-R", package(), tree)
    os.makedirs(f"{tree}/usr/local/lib")
    write_text(f"{tree}/usr/local/lib/mine", "")
    run("dpkg-deb", *(["--root-owner-group"] if os.geteuid() != 0 else []), "-b", tree, deb)  # root keeps the owners
    # it leaves files behind, for which it gets a directory
    r = run("lintian", "--allow-root", "--fail-on", "error", deb, code=None, env={**os.environ, "TMPDIR": temp_directory()})
    check_equal((r.returncode, set(re.findall(r"^E: tcpscaler: (\S+)", r.stdout, re.M))), (2, {"dir-in-usr-local", "file-in-usr-local"}),
                f"errors in {r.stdout}{r.stderr}")
    check("W: tcpscaler: maintainer-script-calls-systemctl" in r.stdout, f"what debian/tcpscaler.lintian-overrides expects: {r.stdout}")


def test_package_holds_what_it_should():
    doc = "usr/share/doc/tcpscaler"
    wanted = [UNIT, "usr/share/man/man7/tcpscaler.7.gz", *(f"{doc}/{name}" for name in
                      ("README.md", "docs/result.schema.json", "copyright", "changelog.gz", "changelog.Debian.gz"))]
    wanted += [f"{doc}/examples/{name}" for name in ("demo.sh", "plot-rtt.gp")]
    wanted += [f"usr/sbin/tcpscaler-setup-{side}" for side in ("server", "client")]
    wanted += [f"usr/share/man/man8/tcpscaler-setup-{side}.8.gz" for side in ("server", "client")]
    wanted += [f"usr/{name}" for name in ("bin/tcpscaler-nightly", "bin/tcpscaler-nightly-failed", "share/man/man1/tcpscaler-nightly.1.gz")]
    wanted += [f"{doc}/docs/{name}" for name in ("nightly.conf.example", "nightly.crontab", "grafana-dashboard.json", "prometheus.example.yml")]
    wanted += [f"usr/lib/systemd/system/tcpscaler-nightly{name}" for name in (".service", ".timer", "-failed.service")]
    wanted += [f"usr/share/tcpscaler/{name}.sh" for name in
               ("nightly", "nightly-config", "nightly-nights", "nightly-failed", "setup-lib", "setup-options", "setup-firewall",
                "setup-network", "setup-lock", "setup-nic", "setup-state", "setup-sysctl", "setup-timer", "setup-client", "setup-server")]
    for name in NAMES:
        wanted += [f"usr/bin/{name}", f"usr/lib/tcpscaler/bin/{name}", f"usr/share/man/man1/{name}.1.gz",
                   f"usr/share/bash-completion/completions/{name}", f"usr/share/zsh/vendor-completions/_{name}"]
    check(set(wanted) <= set(files_below(unpacked())), f"missing: {set(wanted) - set(files_below(unpacked()))}")
    for name in NAMES:
        with gzip.open(f"{unpacked()}/usr/share/man/man1/{name}.1.gz", "rt") as page, \
                open(f"{SOURCE_DIR}/docs/{name}.1") as source:
            check_equal(page.read(), source.read(), f"man page of {name}")


def test_archive_holds_the_installed_files():
    root, prefix = temp_path("root"), temp_path("prefix")
    os.mkdir(root)
    run("tar", "-xzf", package("TGZ", ".tar.gz"), "-C", root, "--strip-components=1")
    run("cmake", "--install", BUILD_DIR, "--prefix", prefix)
    check_equal(files_below(root), files_below(prefix), "files")
    check_equal(run(f"{root}/bin/tcpserver", "--version").stdout, run(TCPSERVER, "--version").stdout, "version")


def test_dependencies_are_the_libraries_used():
    need_program("objdump")
    depends = run("dpkg-deb", "-f", package(), "Depends").stdout
    programs = run("objdump", "-p", *(f"{unpacked()}/usr/bin/{name}" for name in NAMES)).stdout
    found = run("dpkg", "-S", *(f"*-linux-gnu*/{library}" for library in set(re.findall(r"NEEDED +(\S+)", programs)))).stdout
    libraries = {line.split(":")[0] for line in found.splitlines()}
    check("libc6" in libraries, f"libraries {libraries}")
    check_equal({text.split()[0] for text in depends.split(", ")}, libraries, "dependencies")


def library_package(directory, libraries):
    """A package with empty files of these names."""
    tree = os.path.join(directory, "libraries")
    for name in ("DEBIAN/control", *(f"usr/lib/here/{library}" for library in libraries)):
        os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
        write_text(os.path.join(tree, name), "")
    write_text(f"{tree}/DEBIAN/control", "Package: libraries\nVersion: 1\nArchitecture: all\nMaintainer: us\nDescription: x\n")
    run("dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, f"{directory}/libraries.deb")


def make_image(libraries):
    """packaging/oci-image where all packages have these libraries, with stubs: its result, and what it downloads."""
    directory = temp_directory()
    library_package(directory, libraries)
    for name, text in (("apt-cache", "printf 'libssl3\\n  Depends: libzstd1\\nlibzstd1\\n<libvirtual>\\ndebconf\\n'"),
                       ("apt-get", f'echo "$*" >{directory}/downloaded; cp {directory}/libraries.deb .'), ("umoci", "exit 0")):
        write_program(f"{directory}/{name}", f"#!/bin/sh\n{text}\n")
    r = run_command([f"{SOURCE_DIR}/packaging/oci-image", package(), f"{directory}/image"],
                    env={**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"})
    return r, read_text(f"{directory}/downloaded").split()


def test_image_has_the_libraries_of_its_libraries():
    need_program("readelf")
    programs = run("objdump", "-p", *(f"{unpacked()}/usr/bin/{name}" for name in NAMES)).stdout
    libraries = set(re.findall(r"NEEDED +(\S+)", programs))
    r, downloaded = make_image(libraries)
    check_equal((r.returncode, r.stderr), (0, ""), "with all libraries")
    check({"libc6", "libssl3", "libzstd1"} <= set(downloaded) and not {"debconf", "<libvirtual>"} & set(downloaded), downloaded)
    r, _ = make_image(libraries - {"libcrypto.so.3"})
    check(r.returncode == 1 and "libcrypto.so.3 is in none of these packages: " in r.stderr, f"{r.returncode}: {r.stderr}")


def linked_libraries():
    """What the SBOM calls the libraries that the programs are linked to."""
    names = {"libc": "libc", "libm": "libc", "libevent": "libevent", "libssl": "openssl", "libcrypto": "openssl", "libz": "zlib",
             "libjson": "json-c"}
    programs = run("objdump", "-p", *(f"{unpacked()}/usr/bin/{name}" for name in NAMES)).stdout
    return {names[re.match(r"[a-z]+", library).group()] for library in re.findall(r"NEEDED +(lib\S+)", programs)}


def test_bill_of_materials_lists_the_linked_libraries():
    need_program("objdump")
    bill = read_json(f"{unpacked()}/usr/share/doc/tcpscaler/tcpscaler.spdx.json")
    linked = [r["relatedSpdxElement"] for r in bill["relationships"] if r["relationshipType"] == "DYNAMIC_LINK"]
    check_equal({name.removeprefix("SPDXRef-") for name in linked}, linked_libraries(), "libraries")
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"]), "created")
    ids = [p["SPDXID"] for p in bill["packages"]]
    check_equal((bill["spdxVersion"], len(ids), len(set(ids))), ("SPDX-2.3", len(linked) + 1, len(ids)), "packages")
    for p in bill["packages"]:
        check({"name", "downloadLocation", "licenseConcluded"} <= p.keys(), f"{p}")
        check("versionInfo" in p or p["name"] == "libc", f"the version of {p['name']}")


def test_package_conflicts_with_other_packages_of_a_tcpserver():
    check_equal(run("dpkg-deb", "-f", package(), "Conflicts").stdout, "ucspi-tcp, ucspi-tcp-ipv6\n", "Conflicts")


def test_release_holds_all_of_the_source_package():
    """With a dpkg-buildpackage that builds the source package alone."""
    need_program("git", "dpkg-source")
    directory, tree, dist = temp_directory(), temp_path("tree"), temp_path("dist")
    write_program(f"{directory}/dpkg-buildpackage", """#!/bin/sh
set -e
dpkg-source -b . >/dev/null
mkdir -p debian/tcpscaler/usr/share/doc/tcpscaler
touch ../tcpscaler_0_all.deb debian/tcpscaler/usr/share/doc/tcpscaler/tcpscaler.spdx.json
""")
    for path in ("debian", "packaging/release", "README.md"):
        copy = shutil.copytree if os.path.isdir(f"{SOURCE_DIR}/{path}") else shutil.copy
        os.makedirs(os.path.dirname(f"{tree}/{path}"), exist_ok=True)
        copy(f"{SOURCE_DIR}/{path}", f"{tree}/{path}")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x"]):
        run("git", "-C", tree, *words)
    run(f"{tree}/packaging/release", dist, env={**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"})
    dsc, = glob.glob(f"{dist}/*.dsc")
    run("dpkg-source", "--no-check", "-x", dsc, f"{directory}/unpacked")
    check_equal(read_text(f"{directory}/unpacked/README.md"), read_source("README.md"), "what is unpacked")
    run("sha256sum", "-c", "SHA256SUMS", cwd=dist)


def commands_of(script):
    return [line.replace("tcpscaler-tcpserver", "tcpserver") for line in read_text(script).splitlines() if not line.startswith("#")]


def systemctl_of(script, *arguments, files={"run/systemd/system/unit": ""}):
    """What a script of the package asks systemctl, which fails, as for units that are not loaded; on a host with these files."""
    control, said, path = temp_path("control"), write_text(temp_path("said"), ""), temp_directory()
    run("dpkg-deb", "-e", package(), control)
    write_program(f"{path}/systemctl", f'#!/bin/sh\necho "$@" >>{said}\nexit 1\n')
    with Host(files=files) as host:
        run(*host.prefix, f"{control}/{script}", *arguments, env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"})
    check_equal(commands_of(f"{SOURCE_DIR}/debian/tcpscaler.{script}"), commands_of(f"{control}/{script}"), f"{script} of the source package")
    return read_text(said).splitlines()


def test_units_are_stopped_and_disabled_on_removal():
    check_equal(systemctl_of("prerm", "remove"), ["disable --now tcpserver.service tcpscaler-nightly.timer",
                                                  "stop tcpscaler-nightly.service"], "removal")
    check_equal(systemctl_of("prerm", "upgrade", "0.2.0-1"), [], "upgrade")


def test_units_are_read_again_after_an_upgrade():
    check_equal(systemctl_of("postinst", "configure", "0.0.1-1"), ["daemon-reload"], "upgrade")
    check_equal(systemctl_of("postinst", "configure", "0.0.1-1", files={}), [], "without systemd")


def test_settings_of_the_host_are_restored_on_removal():
    with Host() as host:
        before = host.everything()
        prerm, path = temp_path("prerm"), {"PATH": f"{unpacked()}/usr/sbin:{os.environ['PATH']}"}
        run("dpkg-deb", "-e", package(), prerm)

        def remove(how="remove"):
            return run_command([*host.prefix, f"{prerm}/prerm", how], env={**os.environ, **path})
        apply(host, SERVER, "--persist", "--limits")
        apply(host, CLIENT)
        tuned = host.everything()
        remove("upgrade")
        check_same(host.everything(), tuned, "after an upgrade")
        r = remove()
        check_equal((r.returncode, r.stdout, r.stderr), (0, "", ""), "removal")
        check_same(host.everything(), before, "after removal")
        apply(host, CLIENT, "--owner", "us")
        r = remove()
        check_equal(r.returncode, 0, "removal while the host is tuned by somebody")
        check("tuned by 'us'" in r.stderr and "\ntcpscaler-setup-client --revert, with the --owner" in r.stderr, r.stderr)


def test_packages_recommend_what_the_setup_scripts_run():
    recommends = run("dpkg-deb", "-f", package(), "Recommends").stdout
    check("iproute2" in recommends.strip().split(", "), recommends)
    check(f"\nRecommends: {recommends}" in read_source("debian", "control"), "those of the source package")


def dpkg(root, *arguments):
    return run("dpkg", f"--instdir={root}", f"--admindir={root}/var/lib/dpkg", "--force-depends",
               "--force-script-chrootless", f"--log={root}/var/log/dpkg", *arguments)


def test_installed_programs_run_and_are_removed_without_a_trace():
    need_root()
    need_program("gnuplot", "gawk")
    root, pictures = temp_path("root"), temp_directory()
    for name in ("var/log", "var/lib/dpkg/info", "var/lib/dpkg/updates"):
        os.makedirs(f"{root}/{name}")
    open(f"{root}/var/lib/dpkg/status", "w").close()
    dpkg(root, "-i", package())
    for name in NAMES:
        version = run(f"{root}/usr/bin/{name}", "--version").stdout
        check_equal(version, run(f"{BUILD_DIR}/{name}", "--version").stdout, "version")
    r = run("sh", f"{root}/usr/share/doc/tcpscaler/examples/demo.sh", cwd="/", code=None,
            env={**os.environ, "PATH": f"{root}/usr/bin:{os.environ['PATH']}", "TMPDIR": pictures})
    check(r.returncode in (0, 3), f"demo: exit code {r.returncode}: {r.stdout}{r.stderr}")
    with stall_may_spoil():  # its timeouts are the default ones
        check("10,000 connected" in r.stderr, r.stderr)
    picture = re.search(r"Plot: (\S+)", r.stdout).group(1)
    check(picture.startswith(pictures) and os.path.getsize(picture) > 2000, f"the picture {picture}")

    check(os.path.exists(f"{root}/usr/bin/tcpserver"), "installed until it is removed")
    dpkg(root, "-r", "tcpscaler")
    left = [name for name in files_below(root) if not name.startswith("var/")]
    check_equal(left + [name for name in os.listdir(root) if name != "var"], [], "left behind")


# --- completions: what the installed files say against what the programs accept ---

def complete(program, *words):
    """What bash offers for the last word."""
    script = (f"source {unpacked()}/usr/share/bash-completion/completions/{program}\n"
              'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n'
              f'_{program}\nprintf "%s\\n" "${{COMPREPLY[@]}}"')
    r = run("bash", "-uc", script, "bash", program, *words)
    check_equal(r.stderr, "", f"stderr completing {words}")
    return r.stdout.split()


def each_command():
    for key in (*PROGRAMS, *COMMANDS):
        yield key, key.split()[0], key.split()[1:]


def refusal(program, *arguments):
    """The error about the first argument that is not accepted; nothing is started."""
    return run(f"{BUILD_DIR}/{program}", *arguments, "--no-such", code=None).stderr


def test_bash_completes_every_option_and_only_valid_values():
    n_choices = 0
    for key, program, command in each_command():
        options = options_of(key) + ([(None, "help", None, ""), (None, "version", None, "")] if command else [])
        check_equal(complete(program, *command, "--"), [f"--{option[1]}" for option in options], key)
        for short, name, argument, _ in options:
            offered = complete(program, *command, f"--{name}", "") if argument else []
            for value in offered:
                check("invalid value" not in refusal(program, *command, f"--{name}={value}"), f"--{name}={value}")
            if argument and "|" in refusal(program, *command, f"--{name}=?"):
                check(len(offered) >= 2, f"choices of --{name}")
            if offered and short:
                check_equal(complete(program, *command, short, ""), offered, f"{key} {short}")
            n_choices += len(offered)
    check(n_choices >= 20, f"{n_choices} choices")


def test_bash_completes_choices():
    check_equal(complete("tcpclient", "--arrival", ""), ["poisson", "constant"], "--arrival")
    check_equal(complete("tcpclient", "-c", "5", "--arrival", "po"), ["poisson"], "--arrival po")
    check_equal(complete("tcpclient", "--arrival", "="), ["poisson", "constant"], "--arrival=")
    check_equal(complete("tcpclient", "--arrival", "=", "c"), ["constant"], "--arrival=c")
    check_equal(complete("tcpclient", "--arrival", "x"), [], "--arrival x")
    check_equal(complete("tcpserver", "--push-s"), ["--push-size", "--push-select"], "--push-s")
    if TCPREPORT:
        check_equal(complete("tcpreport", "p"), ["plot"], "p")
        check_equal(complete("tcpreport", "plot", "--kind", "l"), ["latency"], "--kind l")
        check_equal(complete("tcpreport", "merge", "--kind", ""), [], "--kind of another command")


def test_zsh_completes_every_option():
    need_program("zsh")
    for key, program, command in each_command():
        path = f"{unpacked()}/usr/share/zsh/vendor-completions/_{program}"
        run("zsh", "-n", path)
        script = f'words=({key} ""); CURRENT=3; _arguments() {{ print -rl -- "$@" }}; source {path}'
        specifications = run("zsh", "-fec", script).stdout
        names = re.findall(r"^(?:\(.*?\)|\*)?--([a-z-]+)(?=[=[])", specifications, re.M)
        wanted = [option[1] for option in options_of(key)] + (["help", "version"] if command else [])
        check_equal(names, wanted, f"specifications of {key}")
        for short, name, argument, _ in options_of(key):  # "=": also after "--NAME="; "+": also after "-N"
            check(re.search(rf"(^|[)*])--{name}{'=' if argument else ''}\[", specifications, re.M), f"--{name}: {specifications}")
            check(not short or re.search(rf"\){short}{'[+]' if argument else ''}\[", specifications), f"{short}: {specifications}")
        if key == "tcpclient":
            check(re.search(r"^\*--class=\[", specifications, re.M), f"--class may be repeated: {specifications}")
            check(re.search(r"^--arrival=\[.*\]:KIND:\(poisson constant\)$", specifications, re.M), specifications)


# --- the systemd unit ---

def unit_root():
    """The package among the host's own units, for systemd-analyze to find everything in."""
    root = temp_path("root")
    shutil.copytree(unpacked(), root)
    for name in os.listdir("/usr/lib/systemd/system"):
        if name.endswith((".target", ".slice", ".mount")):
            shutil.copy(f"/usr/lib/systemd/system/{name}", f"{root}/usr/lib/systemd/system", follow_symlinks=False)
    shutil.copy("/bin/kill", f"{root}/usr/bin")
    return root


def verify(root, code):
    return run("systemd-analyze", "verify", "--man=no", f"--root={root}", "tcpserver.service", code=code).stderr


def test_unit_is_valid_and_hardened():
    need_program("systemd-analyze")
    root = unit_root()
    check_equal(verify(root, 0), "", "what systemd-analyze verify says")
    directories = dict(re.findall("^((?:Runtime|State)Directory(?:Mode)?)=(.*)$", read_text(f"{root}/{UNIT}"), re.M))
    check_equal(directories, {"RuntimeDirectory": "tcpserver", "RuntimeDirectoryMode": "0700",
                              "StateDirectory": "tcpserver", "StateDirectoryMode": "0700"}, "directories of its own")
    run("systemd-analyze", "security", "--offline=yes", "--threshold=20", f"--root={root}", "tcpserver.service")
    os.remove(f"{root}/usr/bin/tcpserver")  # the controls
    check("tcpserver is not executable" in verify(root, 1), "a program that is missing")
    run("sed", "-i", "/^[PRS][a-z]*[A-Z].*=/d", f"{root}/{UNIT}")
    run("systemd-analyze", "security", "--offline=yes", "--threshold=20", f"--root={root}", "tcpserver.service",
        code=1)


def calls_of(name):
    """The system calls of one of systemd's sets."""
    words = [line.strip() for line in run("systemd-analyze", "syscall-filter", name).stdout.splitlines()[1:]]
    calls = set()
    for word in words:
        calls |= calls_of(word) if word.startswith("@") else set() if word.startswith("#") else {word}
    return calls


def test_unit_allows_the_system_calls_of_tcpserver():
    need_program("systemd-analyze", "strace")
    filters = re.findall("^SystemCallFilter=(~?)(.*)", read_text(f"{unpacked()}/{UNIT}"), re.M)
    allowed = calls_of("@default")
    for tilde, names in filters:
        for name in names.split():
            allowed = allowed - calls_of(name) if tilde else allowed | calls_of(name)
    trace = temp_path("trace")
    with Server("--cpu", "0", "--threads", 2, "--push", "1000", prefix=["strace", "-D", "-f", "-o", trace]) as server:
        run(TCPCLIENT, "--protocol", "listen", "-c", "20", "-t", "0.5", f"127.0.0.1:{server.port}", code=None)
    wait_for(lambda: re.search(rf"^{server.pid} +\+\+\+ exited", read_text(trace), re.M), "the end of the trace")
    made = set(re.findall(r"^\d+ +([a-z_0-9]+)\(", read_text(trace), re.M))
    check({"accept4", "sched_setscheduler", "unshare"} <= made, f"calls in {made}")
    check_equal(made - allowed, set(), "calls that are not allowed")
    check("sched_setscheduler" not in allowed - calls_of("@resources"), "the control: @resources is needed")


if __name__ == "__main__":
    main()
