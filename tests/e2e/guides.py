# SPDX-License-Identifier: MIT
"""The commands in the guides run and have the documented result. Examples for two hosts are checked as far as one host
allows."""

import glob
import math
import resource
import shlex
from collections import Counter

from helpers.dns_server import DnsServer
from helpers.documents import COMMANDS, FENCE, fences, options_of, run_example, sections
from helpers.harness import *

GUIDES = tuple(sorted(name for name in os.listdir(os.path.join(SOURCE_DIR, "docs")) if name.endswith(".md")))
# Output of a program of bench/ (bench/blocks.py).
MEASURED = re.compile(r"^<!-- \w+ -->\n(?:(?!```).*\n)*```\n(?:(?!```).*\n)*```\n", re.M)
# Errors because this machine lacks something, or because the guide has written the file before.
NOT_HERE = re.compile(r"tcp\w+: (--cpu: .* is not available to this .*|.*: No such file or directory)\n")


# --- the other guides ---

def names_in(pattern, *path):
    found = re.findall(pattern, read_source(*path))
    check(found, f"{pattern} in {path}")
    return found


def test_every_outcome_and_limit_has_a_section():
    reasons = names_in(r'X\(\w+,\s*"([^"]+)",', "include", "measure/outcome.h")
    code = "".join(read_text(path) for path in glob.glob(os.path.join(SOURCE_DIR, "src", "host", "diagnosis*.c")))
    limits = set(re.findall(r'add\(\s*d, "([^"]+)"', code))
    check(len(reasons) >= 19 and len(limits) >= 9, "names")
    found = re.findall(r"^### (.*)", read_source("docs", "limits.md"), re.M)
    check_equal(Counter(found), Counter({*reasons, *limits}), "sections of limits.md")
    for name, text in sections(read_source("docs", "limits.md")).items():
        check(name in ("Reasons", "Limiting factors") or len(text) > 20, f"words about {name}")
    phases = names_in(r'X\(\w+,\s*"([^"]+)"\)', "include", "measure/outcome.h")
    check(f"Phases, in the order a connection passes through them: {', '.join(phases)}." in read_source("docs", "limits.md"),
          "phases")


def test_outcome_of_the_servers_idle_timeout_is_explained():
    """server.md refers to limits.md for the outcomes in the server's summary."""
    with Server("--idle-timeout", "200ms") as server, server.connect() as silent:
        check_equal(silent.recv(1), b"", "the server closes the connection")
        server.stop()
    outcome, = server.result["closed"]
    reason = outcome.split("/")[1]
    check("`--idle-timeout`" in sections(read_source("docs", "limits.md"))[reason], f"{outcome} in limits.md")
    check(f"end as `{reason}` after `--idle-timeout`" in read_source("docs", "faults.md"), f"{outcome} in faults.md")


def test_every_part_of_the_summary_is_explained():
    guide = read_source("docs", "report.md")
    sources = [os.path.relpath(path, SOURCE_DIR) for path in glob.glob(os.path.join(SOURCE_DIR, "src", "client", "report_*.c"))]
    code = "".join(read_source(path) for path in (*sources, "src/measure/server_cost_report.c"))
    labels = set(re.findall(r'"(?:\\n)?([A-Z][A-Za-z]+(?: [a-z]+)?) {2,}', code))
    check(len(labels) > 15 and "Keepalive" in labels, f"labels of lines: {labels}")
    check_equal({label for label in labels if f"**{label}**" not in guide}, set(), "lines that report.md leaves out")
    labels = [*names_in(r'print_metric\(out, "([^"]+)"', "src", "client/report_text_latency.c"),
              *names_in(r'outcome_report_text\(out, "([^"]+)"', "src", "client/report_text.c"),
              *names_in(r'"(Response time histogram)', "src", "client/report_text.c"),
              *names_in(r'"(Time)"', "src", "client/report_text_latency.c"),
              *names_in(r'"(\\nLimiting factors)', "src", "client/report_text_host.c")]
    for label in labels:
        label = label.removeprefix("\\n")
        check(f"**{label}" in guide, f"report.md explains {label}")
    doubts = names_in(r'X\(\w+,\s*"([^"]+)"', "include", "measure/verdict.h")
    check_equal(re.findall(r"^\| `([a-z][a-z0-9-]+)` \|", guide, re.M), doubts, "doubts of report.md")


def test_every_line_of_the_summary_of_the_server_is_explained():
    guide = read_source("docs", "server.md")
    labels = set(re.findall(r'"([A-Z][A-Za-z]+) {2,}', read_source("src", "server", "report.c")))
    check({"Refused", "Push", "Host"} <= labels, f"labels of lines: {labels}")
    # in the example, or in the list below it
    check_equal({label for label in labels if not re.search(rf"^{label} |\*{label}\*", guide, re.M)}, set(),
                "lines that server.md leaves out")


def test_every_example_is_marked_and_every_link_leads_somewhere():
    for path in (*(os.path.join("docs", name) for name in GUIDES), "CONTRIBUTING.md", "README.md"):
        text = read_source(path)
        for info, body in FENCE.findall(MEASURED.sub("", text)):
            if path.startswith("docs"):
                check(info in ("", "sh", "sh checked", "console") or info.startswith("conf "), f"{path}: kind '{info}'")
                check(info or not re.search(r"^\$? ?(tcp\w+|scripts/\S+) ", body, re.M), f"{path}: unmarked: {body}")
        for link in re.findall(r"\]\(([^)]+)\)", text):
            target, _, anchor = link.partition("#")
            file = os.path.join(os.path.dirname(path), target) if target else path
            check(os.path.exists(os.path.join(SOURCE_DIR, file)), f"{path}: {link}")
            if anchor:
                headings = [re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-")
                            for h in re.findall(r"^##+ (.*)", read_source(file), re.M)]
                check(anchor in headings, f"{path}: {link}: {headings}")


def wide_lines(text):
    """Lines of prose that are too wide for the editors and terminals that the pages are laid out for."""
    return [line for line in FENCE.sub("", text).splitlines() if len(line) > 140 and not line.startswith("|")]


def test_prose_is_at_most_140_characters_wide():
    for path in (*(f"docs/{name}" for name in GUIDES), "fleet/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"):
        check_equal(wide_lines(read_source(path)), [], path)
    check_equal(wide_lines(f"{'x ' * 71}\n| {'x ' * 71}|\n```\n{'x ' * 71}\n```\n"), ["x " * 71], "the control")


def test_every_guide_is_in_the_index_of_the_readme():
    linked = re.findall(r"\]\(docs/([^)#]+\.md)\)", read_source("README.md"))
    check_equal(set(GUIDES) - set(linked), set(), "guides without a link")


def commands_in(text):
    """The commands that are shown and not run: of fences `sh checked` and `console`, and of tables of questions."""
    lines = [line for script in fences(text, "sh checked") for line in script.replace("\\\n", "").splitlines()]
    lines += [line[2:] for session in fences(text, "console") for line in session.splitlines()
              if line.startswith(("$ ", "# "))]
    lines += [code for row in re.findall(r"^\| .*\? \| .* \|$", text, re.M)
              for code in re.findall(r"`(tcp(?:client|server) [^`]*)`", row)]
    for line in lines:
        words = shlex.shlex(line, posix=True, punctuation_chars="|>&")
        words.whitespace_split = True
        command = []
        for word in [*words, "|"]:
            if word in ("|", ">", "&"):
                if command:
                    yield line, command
                command = []
                if word == ">":
                    break
            else:
                command.append(word)


def check_command(line, text, program, *arguments):
    """Checks that its options are accepted and, with this text on stdin, the run that they request. Returns what the next command of a
    pipe reads."""
    if program in ("tcpclient", "tcpserver"):
        argv = [os.path.abspath({"tcpclient": TCPCLIENT, "tcpserver": TCPSERVER}[program]),
                *(re.sub(r"^(HOST|dns\.example\.net)\b", "192.0.2.1", a) for a in arguments), "--plan"]
        if "--config" in arguments:  # of a file that the guide has written before
            argv[argv.index("--config") + 1] = "/dev/null"
            argv[-1] = "--print-config"
    elif program == "printf":
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout
    elif program.startswith("scripts/setup-"):
        argv = [os.path.join(SOURCE_DIR, program),
                *("--dry-run" if a in ("--apply", "--revert") else a for a in arguments)]
    elif program == "tcpreport":
        command = f"tcpreport {arguments[0]}"
        if COMMANDS:
            known = {f"--{name}" for _, name, *_ in options_of(command)} | {"--"}
            check_equal({a for a in arguments if a.startswith("--")} - known, set(), f"unknown options of {line}")
        return ""
    else:
        check(program in ("cat", "ip", "openssl", "curl") or
              os.access(os.path.join(SOURCE_DIR, program), os.X_OK), f"a program of {line}")
        return ""
    r = run_command(argv, input=text, cwd=temp_directory())
    if argv[-1] == "--plan":  # 2: it does not fit on this machine
        check(r.returncode in (0, 2) and (r.stderr == "" or NOT_HERE.fullmatch(r.stderr)), f"{line}: {r.returncode}, {r.stderr}")
    else:
        check_equal(r.returncode, 0, f"{line}: {r.stderr}")
    return ""


def check_commands(text):
    """Returns how many."""
    n, printed = 0, ""
    for n, (line, command) in enumerate(commands_in(text), 1):
        printed = check_command(line, printed, *command)
    return n


def test_commands_that_are_not_run_are_valid():
    n = sum(map(check_commands, (read_source("README.md"), *(read_source("docs", name) for name in GUIDES))))
    check(n >= 40, f"{n} commands")


def without_token(text):
    """Commands that both programs refuse: their control port is not on loopback and has no token."""
    found = [(line, dict(zip(command, command[1:]))) for line, command in commands_in(text) if "--control" in command]
    return [line for line, values in found
            if not re.match(r"127\.|\[::1\]|localhost:|unix:", values["--control"]) and "--control-token" not in values]


def test_a_control_port_that_others_can_reach_has_a_token():
    for text in (read_source("README.md"), *(read_source("docs", name) for name in GUIDES)):
        check_equal(without_token(text), [], "commands that are refused")
    control = "```console\n$ tcpserver --control 192.0.2.1:9001\n$ tcpserver --control unix:/run/x\n```"
    check_equal(without_token(control), ["tcpserver --control 192.0.2.1:9001"], "the control")


def with_delayed_answers(text):
    """Commands compared with others over UDP, whose answers the server may hold back for a delayed acknowledgement."""
    compared = [body for info, body in FENCE.findall(text) if info in ("sh checked", "console") and "--transport udp" in body]
    return [line for body in compared for line in body.splitlines()
            if "tcpclient " in line and "--transport udp" not in line and "--quickack" not in line]


def test_delayed_acknowledgements_do_not_count_as_the_cost_of_tcp():
    for name in GUIDES:
        check_equal(with_delayed_answers(read_source("docs", name)), [], f"commands of docs/{name} without --quickack")
    # the control
    text = read_source("docs", "workloads.md")
    check_equal(len(with_delayed_answers(text.replace(" --quickack", ""))), 2, "commands that lack it")


def refusal_of(text):
    """The error message of the one command in it that is refused."""
    try:
        check_commands(text)
    except AssertionError as error:
        return str(error)
    return ""


def test_a_command_with_an_unknown_option_is_noticed():
    """The control."""
    for text in ("```sh checked\nip address\ntcpclient --moon 192.0.2.1  # client\n```",
                 "```console\n$ tcpserver --moon\noutput\n```",
                 "| Why? | `tcpclient --moon HOST` |", "```sh checked\nprintf 1 | tcpclient --moon 192.0.2.1\n```"):
        check("--moon" in refusal_of(text), f"refused in {text!r}")


def test_a_command_that_starts_no_run_is_noticed():
    """The control: --print-config accepts these."""
    for command, words in (("tcpclient -c 10", "missing HOST"), ("tcpclient --on-demand HOST", "requires --rate"),
                           ("tcpclient --find rate HOST", "requires --find-range"),
                           ("printf '1\\n1000 -5\\n' | tcpclient --stdin 192.0.2.1", "--stdin: line 2"),
                           ("tcpclient -c 1M --proxy-protocol v2 --proxy-source 10.0.0.1 HOST", "an identity for each")):
        text = f"```sh checked\n{command}\n```"
        check_equal(len(list(commands_in(text))), 1 + command.count("|"), "commands")
        check(words in refusal_of(text), f"{words!r} in {refusal_of(text)!r}")


def test_commands_for_one_host_run():
    n = 0
    with Server() as server:
        for name in GUIDES:
            if name in ("recipes.md", "dns-servers.md"):  # have tests of their own
                continue
            for script in fences(read_source("docs", name), "sh"):
                out = run_example(script, server.port, temp_directory())
                check(("source tuples" in out) == ("--plan" in script), f"{script}: {out}")
                n += 1
    check(n >= 3, f"{n} commands")


def needed(program, limit, *arguments):
    """What the program's plan says is needed of a limit."""
    r = run_command([program, "--plan", "--json", "-", *arguments])
    found = [entry["needed"] for entry in json.loads(r.stdout)["plan"]
             if entry["limit"].startswith(limit) and entry["needed"] is not None]
    check_equal(len(found), 1, f"{limit} in {r.stdout}")
    return found[0]


def test_formulas_of_the_fleet_guide_give_its_figures():
    guide = read_source("docs", "fleet.md")
    header, = re.findall(r"^\| what \| formula \| (.*) \|$", guide, re.M)
    given = {name: float(value) for name, value in re.findall(r"(\w)=([\de]+)", header)}
    rows = re.findall(r"^\| (.*) \| `(.*)` \| ([\d.,]+) \|$", guide, re.M)
    check_between(len(rows), 15, 20, "formulas")
    figures = {what: float(figure.replace(",", "")) for what, _, figure in rows}
    for what, formula, _ in rows:
        value = eval(formula, {"ceil": math.ceil}, given)
        check_between(figures[what], value * 0.995, value * 1.005, f"{what}: {formula}")
    # next to the plans
    client = ("-c", "1200000", "--source", "10.50.0.1-19", "--sport", "1024-65535", "192.0.2.1")
    for what, found in (("memory of the server, bytes", needed(TCPSERVER, "memory", "-c", "12M")),
                        ("memory of a client host, bytes", needed(TCPCLIENT, "memory", *client)),
                        ("connections of a client host", needed(TCPCLIENT, "source tuples", *client))):
        check_between(figures[what], found * 0.99, found * 1.01, f"{what}, compared with the plan's")


def test_settings_in_the_fleet_examples_exist():
    def keys(*path):
        return set(re.findall(r"^(\w+):", read_source("fleet", *path), re.M))

    there_are = keys("roles", "fleet", "defaults", "main.yml")
    check(len(there_are) > 20, f"settings: {there_are}")
    inventory = read_source("fleet", "inventory.example.yml").split("  children:")
    hosts = set(re.findall(r"[{,] *(\w+):", inventory[1]))
    for what, used in (("vars.example.yml", keys("vars.example.yml")),
                       ("all hosts of the inventory", set(re.findall(r"^    (\w+):", inventory[0], re.M))),
                       ("hosts of the inventory", hosts)):
        check(len(used) > 3, f"settings of {what}: {used}")
        check_equal({key for key in used - there_are if not key.startswith("ansible_")}, set(), f"unknown in {what}")


def server_of_the_guide(name, change=lambda configuration: configuration):
    """Starts the server with the configuration of the guide, in another directory and on another port."""
    guide = read_source("docs", "dns-servers.md")
    configuration, = fences(guide, f"conf {name}")
    zone, = fences(guide, "conf zone")
    program, *arguments = configuration.splitlines()[0].removeprefix("# ").split()
    moved = re.sub(r"(127\.0\.0\.1@|listen-on port )53\b", r"\1{port}", configuration).replace("/srv/dns", "{state}")
    check_equal(moved.count("{port}"), 1, f"ports of {name}")
    raise_limit, = re.findall(r"`(ulimit [^`]+)`, and start the server", guide)
    prefix = ["sh", "-c", f'ulimit -Sn 1024; {raise_limit}; exec "$@"', "sh"]  # 1024: Debian's default
    return DnsServer(program, change(moved), *arguments[:-1], prefix=prefix, zone=zone)


def run_command_of_the_guide(server):
    script, = fences(read_source("docs", "dns-servers.md"), "sh")
    path = temp_path("run.json")
    try:
        run_example(script.replace("127.0.0.1:53", f"-q --json {path} 127.0.0.1"), server.port, os.path.dirname(path))
    finally:
        server.stop()
    return read_json(path)


def check_server(name):
    """The guide's command loses nothing, and the server has descriptors for all connections that the guide promises."""
    server = server_of_the_guide(name)
    n_files, _ = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(most_connections(read_source("docs", "dns-servers.md")), hard_limit)
    check(n_files >= wanted, f"{name} may open {n_files} files, wanted {wanted}")
    result = run_command_of_the_guide(server)
    with stall_may_spoil():
        check_result(name, result)


def check_result(name, result):
    check_equal(result["connections"]["proven"], 1000, f"{name}: proven")
    check_equal(result["connections"]["live_at_end"], 1000, f"{name}: live at the end")
    answered = result["queries"]["answered"]
    check_between(answered, 1500, 2500, f"{name}: answered in 1 s at 2000/s")
    check_equal(answered, result["queries"]["scheduled"], f"{name}: nothing lost")
    check_equal(result["answers"]["rcodes"], {"NOERROR": answered}, f"{name}: response codes")


@plain_build_only
def test_configuration_and_command_for_unbound_lose_nothing():
    check_server("unbound")


@plain_build_only
def test_configuration_and_command_for_knot_lose_nothing():
    check_server("knot")


@plain_build_only
def test_configuration_and_command_for_nsd_lose_nothing():
    check_server("nsd")


@plain_build_only
def test_configuration_and_command_for_bind_lose_nothing():
    check_server("bind")


@plain_build_only
def test_configurations_with_tls_answer():
    guide = read_source("docs", "dns-servers.md")
    in_options, = re.findall(r"`(listen-on port 853 [^`]+)` to `options`", guide)
    certify, = re.findall(r"^openssl req .*", read_source("docs", "tls.md"), re.M)
    for name in ("unbound", "nsd", "bind"):
        directory, port = temp_directory(), free_port()
        check_equal(run_command(["sh", "-c", certify], cwd=directory).returncode, 0, "openssl")
        lines, = fences(guide, f"conf {name} TLS")

        def with_tls(configuration):
            whole = configuration.replace("options {\n", f"options {{\n{in_options}\n") + lines.replace("/srv/dns", directory)
            check_equal(whole.count("853"), 1, f"ports of {name}")
            return re.sub(r"@853\b", f"@{port}\n  tls-port: {port}", whole).replace("port 853 ", f"port {port} ")
        server = server_of_the_guide(name, with_tls)
        try:
            r = run_client("--tls", "--tls-ca", f"{directory}/cert.pem", "-p", port, "-c", 100, "-i", "0.5s", "-t", 1, "--quickack",
                           "127.0.0.1")
        finally:
            server.stop()
        with stall_may_spoil():
            check_equal((r.json["connections"]["proven"], r.json["answers"]["rcodes"]), (100, {"NOERROR": 200}), f"{name}: {r.err}")


def most_connections(guide):
    """Connections that every server of the guide holds without closing idle ones: unbound and nsd close them early when more than
    half of their slots are in use."""
    def number(name, key):
        return int(re.search(rf"\b{key}:? (\d+)", fences(guide, f"conf {name}")[0]).group(1))

    return min(number("unbound", "incoming-num-tcp") * number("unbound", "num-threads") / 2, number("knot", "tcp-max-clients"),
               number("nsd", "tcp-count") * number("nsd", "server-count") / 2, number("bind", "tcp-clients"))


def test_commands_for_another_host_suit_every_configuration():
    guide = read_source("docs", "dns-servers.md")
    commands = [command for _, command in commands_in(sections(guide)["On another host"])]
    check(len(commands) == 3, f"commands: {commands}")
    for command in commands:
        values = dict(zip(command, command[1:]))
        check_between(int(values["-c"].replace("k", "000")), 1, most_connections(guide), f"connections of {command}")
        if "--tls" not in command:  # which knot does not serve
            check_equal(values.get("--connect-window"), "8", f"connections at once, for knot's accept queue, of {command}")


def test_apparmor_rule_covers_the_files_of_the_configurations():
    guide = read_source("docs", "dns-servers.md")
    (directory, local, profile), = re.findall(r"echo '(\S+/)\{,\*\*\} rwk,' >>(\S+); apparmor_parser -r ([^`]+)`", guide)
    check_equal(os.path.join(os.path.dirname(profile), "local", os.path.basename(profile)), local, "the rules that a profile includes")
    for name in ("unbound", "bind"):
        configuration, = fences(guide, f"conf {name}")
        program = configuration.split()[1]
        check(f"usr.sbin.{program}`" in guide, f"the profile of {program}")
        paths = re.findall(r"(?<![\w.])/[a-z]\S*?(?=[\";\s])", re.sub(r"//.*", "", configuration))
        check(len(paths) > 2, f"paths of {name}: {paths}")
        check_equal([path for path in paths if not f"{path}/".startswith(directory)], [], f"paths that {program} may not use")


@plain_build_only
def test_default_limit_of_nsd_is_too_low():
    """The control: without the setting of the guide the server closes connections."""
    server = server_of_the_guide("nsd", lambda text: re.sub(r" *tcp-count:.*\n", "", text))
    live = run_command_of_the_guide(server)["connections"]["live_at_end"]
    check(live < 1000, f"{live} live at the end with 100 slots")


if __name__ == "__main__":
    main()
