# SPDX-License-Identifier: MIT
"""The documents agree with the programs: option tables, man pages, examples."""

import functools
import glob
import re

from helpers.documents import *
from helpers.reports import need_tcpreport


def documented(text):
    """(short or None, long, argument or None, paragraph) of each option of a man page."""
    text = text.replace("\\-", "-")
    parts = re.split(r"^\.TP\n\.B (?:(-\w), )?--([a-z-]+)(?: \\fI(\S+)\\fP)?\n", text, flags=re.M)[1:]
    options = list(zip(parts[0::4], parts[1::4], parts[2::4], parts[3::4]))
    return [(*option[:3], re.split(r"^\.(?:TP|S[SH])\b", option[3], flags=re.M)[0]) for option in options]


def check_documented(program, text):
    """Every option has its paragraph, in the order of --help and with the same default; nothing else has one."""
    options, paragraphs = options_of(program), documented(text)
    check_equal({o[1] for o in options} ^ {p[1] for p in paragraphs}, set(), f"options of {program} only in --help or only in the page")
    check_equal([p[:3] for p in paragraphs], [o[:3] for o in options], f"options documented for {program}")
    for (_, name, _, line), (*_, paragraph) in zip(options, paragraphs):
        check(len(paragraph) > 20, f"words about {program} --{name}: {paragraph!r}")
        in_help = re.findall(r"\bdefault: (.*)\)$", line)
        in_page = re.findall(r"^Default: (.*)\.$", paragraph, re.M)
        check(len(in_page) == len(in_help) and all(p == h or p.startswith(f"{h};") for p, h in zip(in_page, in_help)),
              f"default of {program} --{name}: the page has {in_page}, --help {in_help}")


def is_documented(program, text):
    try:
        check_documented(program, text)
    except AssertionError:
        return False
    return True


def test_man_pages_describe_every_option_and_its_default():
    for program in PROGRAMS:
        check_documented(program, read_source("docs", f"{program}.1"))


def test_man_page_lists_every_key_of_a_class():
    r = run_command([TCPCLIENT, "--class", "name=a,no-such-key=1", "127.0.0.1"])
    keys = re.search(r"expected (.*)\n$", r.stderr).group(1).split(", ")
    part = read_source("docs", "tcpclient.1").split("These options may be given as keys:\n")[1].split("\nA class has")[0]
    lines = re.findall(r"^\.BR (.*)", re.sub(r'"[^"]*"', "", part).replace("\\-", "-"), re.M)
    check_equal({"name", "share", *re.findall(r"[a-z-]+", " ".join(lines))}, set(keys), "keys of --class")


def test_options_missing_from_a_man_page_are_noticed():
    """The control: each kind of mismatch between --help and the man page is reported."""
    page = read_source("docs", "tcpclient.1")
    paragraph = re.search(r"^\.TP\n\.B \\-\\-reconnect\n(?:[^.].*\n)+", page, re.M).group()
    changes = {"an option less": (paragraph, ""), "an option twice": (paragraph, paragraph * 2),
               "another argument": ("late\\-max \\fITIME", "late\\-max \\fIN"),
               "another default": ("Default: 10s.", "Default: 11s."), "no default": ("Default: 10s.\n", ""),
               "no words": (paragraph, paragraph.split("\n.B")[0] + "\n.B \\-\\-reconnect\nWait.\n")}
    for what, (old, new) in changes.items():
        check_equal(page.count(old), 1, f"{what}: places to change")
        check(not is_documented("tcpclient", page.replace(old, new)), f"{what} is noticed")


def test_man_page_of_tcpreport_has_a_section_for_every_command():
    need_tcpreport()
    page = read_source("docs", "tcpreport.1").split(".SH COMMANDS\n")[1].split("\n.SH ")[0]
    for program in COMMANDS:
        check_documented(program, page.split(f".SS {program}\n")[1].split("\n.SS ")[0])
    help_text = run_command([TCPREPORT, "--help"]).stdout
    check_equal(re.findall(r"^  (\w+) ", help_text, re.M), [name.split()[1] for name in COMMANDS],
                "commands of --help")


def test_man_page_lists_every_variable_of_the_environment():
    page = read_source("docs", "tcpclient.1").split(".SH ENVIRONMENT\n")[1].split("\n.SH ")[0]
    sources = [path for path in files_below(f"{SOURCE_DIR}/src") if path.endswith(".c")]
    read = {name for path in sources for name in re.findall(r'\bgetenv\("(\w+)"\)', read_source("src", path))}
    check("TMPDIR" in read, f"the control: {read}")
    check_equal(read - set(re.findall(r"^\.B (\w+)$", page, re.M)), set(), "variables that the page leaves out")


def options_below(heading):
    """Of tcpclient --help."""
    text = run_command([TCPCLIENT, "--help"]).stdout
    part, = re.findall(rf"^{heading}\n((?:.+\n)+)", text, re.M)
    return {match.group(2) for match in map(OPTION.match, part.splitlines()) if match}


def test_outputs_are_not_compared_as_settings():
    """tcpreport compares runs only if they have the same settings."""
    part, = re.findall(r"no_settings\[\] = \{([^}]*)\}", read_source("src", "report/fingerprint.c"))
    ignored = set(re.findall(r'"([a-z-]+)"', part))
    outputs = {*options_below("Output"), "config", "profile"}
    check(len(outputs) > 20, f"outputs: {outputs}")
    check_equal(outputs - ignored, set(), "outputs that src/report/fingerprint.c takes for settings")
    nightly = re.findall(r"""no_settings=['"](?:\$no_settings\|)?([a-z|-]+)['"]""", read_source("scripts", "nightly-nights.sh"))
    check_equal(len(nightly), 2, "lists of scripts/nightly-nights.sh")
    check_equal(set("|".join(nightly).split("|")) - ignored, set(), "settings that differ only for scripts/nightly-nights.sh")
    check_equal(ignored - {name for _, name, *_ in options_of("tcpclient")}, set(), "names of no option in src/report/fingerprint.c")


def choices_of(program, option):
    """The values that an option expects, if they are a list; the unknown option keeps the program from starting."""
    r = run_command([*{**PROGRAMS, **COMMANDS}[program], f"--{option}=?", "--no-such-option"])
    found = re.search(r": expected (.*)\n$", r.stderr)
    return found.group(1).split("|") if found and "|" in found.group(1) else []


def unnamed_choices(program, text):
    """Choices of options that neither the argument nor the paragraph names."""
    return {(name, choice) for _, name, argument, paragraph in documented(text) if argument
            for choice in choices_of(program, name)
            if not re.search(rf"(?<![\w-]){re.escape(choice)}(?![\w-])", f"{argument} {paragraph}")}


def test_man_pages_name_every_choice_of_an_option():
    page = read_source("docs", "tcpclient.1")
    pages = [("tcpclient", page), ("tcpserver", read_source("docs", "tcpserver.1"))]
    check_equal({program: unnamed_choices(program, text) for program, text in pages}, {"tcpclient": set(), "tcpserver": set()},
                "choices that the man page leaves out")
    paragraph = re.search(r"^\.TP\n\.B \\-\\-loop \\fI\w+\\fP\n(?:[^.].*\n)+", page, re.M).group()
    check_equal(unnamed_choices("tcpclient", paragraph.replace("closed", "shut")), {("loop", "closed")}, "the control")


def keys_of(part):
    """All property names of a JSON schema."""
    if isinstance(part, list):
        return {key for p in part for key in keys_of(p)}
    if not isinstance(part, dict):
        return set()
    return {*part.get("properties", {}), *(key for p in part.values() for key in keys_of(p))}


def numbers_of(part, schema, path=""):
    """The paths of all numbers in a JSON schema that are no counts."""
    part = schema["$defs"][part["$ref"].split("/")[-1]] if "$ref" in part else part
    if "number" in (part.get("type", []) if isinstance(part.get("type"), list) else [part.get("type")]):
        yield path
    for key, value in part.get("properties", {}).items():
        yield from numbers_of(value, schema, f"{path}.{key}" if path else key)
    for other in [*part.get("anyOf", []), *part.get("oneOf", []), part.get("additionalProperties")]:
        if isinstance(other, dict):
            yield from numbers_of(other, schema, path)


def added_up(schema):
    """Numbers that tcpreport merge would add up as if they were counts."""
    code = read_source("src", "report/merge.c")
    others = dict(re.findall(r'\{"(\w+)", ([A-Z_]+)\}', code))
    ends = re.findall(r'ends_with\(key, "(\w+)"\)', code)
    begins = re.findall(r'begins_with\(key, "(\w+)"\)', code)
    check(len(others) > 20 and len(ends) > 3 and len(begins) > 3, f"rules of merge.c: {others}, {ends}, {begins}")
    return {path for path in numbers_of(schema, schema) if others.get(path.split(".")[0], "ADD").startswith("ADD")
            and not path.split(".")[-1].endswith(tuple(ends)) and not path.split(".")[-1].startswith(tuple(begins))}


def test_merge_knows_every_number_of_the_result_that_is_no_count():
    schema = json.loads(read_source("docs", "result.schema.json"))
    check(len([*numbers_of(schema, schema)]) > 20, "numbers")
    check_equal(added_up(schema), set(), "numbers that src/report/merge.c takes for counts")
    schema["properties"]["push"]["properties"]["share_lost"] = {"type": ["number", "null"]}
    check_equal(added_up(schema), {"push.share_lost"}, "the control")


def check_explained(keys, page, what):
    check_equal({key for key in keys if f"`{key}`" not in page}, set(), f"{what} that docs/result.md leaves out")


def test_result_page_explains_every_key():
    page = read_source("docs", "result.md")
    keys = keys_of(json.loads(read_source("docs", "result.schema.json")))
    check(len(keys) > 120, f"keys: {keys}")
    check_explained(keys, page, "keys of tcpclient")
    path = temp_path("server.json")
    with Server("--json", path) as server:
        run_client("-p", server.port, "-c", 2, "-r", 50, "-t", "200ms", "127.0.0.1")
    j = read_json(path)
    check_explained({*j, *j["refused_by"], *(key for worker in j["workers"] for key in worker)}, page, "keys of tcpserver")
    # the control
    missing = keys_of({"properties": {"moon": {"type": "object", "properties": {"far_side": {}}}}})
    check_equal({key for key in missing if f"`{key}`" not in page}, {"moon", "far_side"}, "keys that are none")


def test_result_page_explains_every_key_of_samples():
    need_tcpreport()
    samples = temp_path("samples.json")
    with Server() as server:
        run_command([TCPREPORT, "watch", str(server.process.pid), "--port", str(server.port), "--json", samples, "--duration", "1"])
    j = read_json(samples)
    part = read_source("docs", "result.md").split("### `server_cost.samples`")[-1].split("###")[0]
    check_explained({*j, *j["columns"]}, part, "keys of tcpreport watch")


def resolved(schema, part):
    """A part of the schema, or what it refers to."""
    while "$ref" in part:
        part = functools.reduce(lambda at, step: at[step], part["$ref"].split("/")[1:], schema)
    return part


def can_be_null(schema, part):
    part = resolved(schema, part)
    kinds = part.get("type", [])
    return "null" in ([kinds] if isinstance(kinds, str) else kinds) or None in part.get("enum", []) or \
        any(can_be_null(schema, other) for other in part.get("anyOf", []))


def keys_below(schema, part):
    """{key: its part of the schema} of an object, or of the objects in an array, and of all objects in it."""
    part = resolved(schema, part)
    found = dict(part.get("properties", {}))
    for inner in [*found.values(), *([part["items"]] if "items" in part else [])]:
        found = {**keys_below(schema, inner), **found}
    return found


def wrong_nulls(schema, page):
    """Keys of the tables of the page that the schema lacks, or of which just one of them says that they can be null."""
    for name, text in re.findall(r"^### `([a-z_.]+)`\n(.*?)(?=^##)", page, re.M | re.S):
        part = {"properties": schema["properties"]}
        for step in name.split("."):
            part = keys_below(schema, part).get(step, {})
        below = keys_below(schema, part)
        for keys, null in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|[^|]*\|[^|]*\| ([^|]*)\|$", text, re.M):
            for key in re.findall(r"`(\w+)`", keys):
                # "each ...": what is in an array or an object
                if key not in below or bool(null) != can_be_null(schema, below[key]) and not null.startswith("each"):
                    yield f"{name}.{key}"


def test_result_page_says_what_can_be_null():
    schema, page = json.loads(read_source("docs", "result.schema.json")), read_source("docs", "result.md")
    check_equal(list(wrong_nulls(schema, page)), [], "keys")
    # the control
    for old, new, wrong in ((r"(\| `late_ns` .*\|)[^|]+\|\n", r"\1 |\n", "start.late_ns"), (r"(\| `missed` .*\|) \|\n", r"\1 unknown |\n", "start.missed"),
                            ("`missed`", "`moon`", "start.moon")):
        check_equal(list(wrong_nulls(schema, re.sub(old, new, page))), [wrong], "keys of a page that is wrong")


def test_documents_list_the_columns_of_the_files():
    rows, connections = temp_path("rows.csv"), temp_path("connections.csv")
    with Server() as server:
        run_client("-p", server.port, "-c", 2, "-r", 50, "-t", "200ms", "-o", rows, "--connections-out", connections,
                   "127.0.0.1")
    page = read_source("docs", "result.md")
    manual = read_source("docs", "tcpclient.1").replace("\\-", "-")
    for path in (rows, connections):
        with open(path) as f:
            header = f.readline()
        check(header.count(",") > 5 and f"```\n{header}```" in page, f"docs/result.md has {header}")
    with open(rows) as f:
        check(f".nf\n{f.readline()}.fi" in manual, "the columns of the rows in tcpclient(1)")
    with open(connections) as f:
        columns = f.readline().strip().split(",")
    paragraph, = (p for *_, name, _, p in documented(manual) if name == "connections-out")
    check_equal([c for c in columns if not re.search(rf"\b{c}\b", paragraph)], [], "columns not in tcpclient(1)")


def header_in(path, begin):
    """The first line of a file that the code writes: the strings after `begin`, up to a newline."""
    strings = "".join(re.findall(r'"([^"]*)"', read_source(path).split(begin)[1]))
    header = strings.split("\\n")[0]
    check(header.count(",") > 2, f"columns in {path}: {header}")
    return header


def test_result_page_lists_the_columns_of_searches_and_of_the_servers_connections():
    blocks = fences(read_source("docs", "result.md"), "")
    for header in (header_in("src/client/report_search_csv.c", "void report_search_csv_header("),
                   header_in("src/client/report_sweep.c", "void report_sweep_csv(").replace("%s", "connections"),
                   header_in("include/server/listing.h", "#define SERVER_LISTING_HEADER ")):
        check(f"{header}\n" in blocks, f"docs/result.md has {header}")


def test_documents_give_the_law_of_queries_as_it_is():
    part = read_source("include", "measure/tally.h").split("#define TALLY_UNANSWERED(X)")[1].split("\n\n")[0]
    keys, words = zip(*re.findall(r'X\((\w+), "([^"]+)"', part))
    check("timeout" in keys and "timed out" in words, f"ends of queries: {keys}, {words}")
    check("`answered` + " + " + ".join(f"`{key}`" for key in keys) in read_source("docs", "result.md"), f"result.md adds up {keys}")
    check(f"sent = {' + '.join(('answered', *keys))}\"" in read_source("docs", "result.schema.json"), f"the schema adds up {keys}")
    check(f"sent = {' + '.join(('answered', *words))}." in read_source("docs", "report.md"), f"report.md adds up {words}")
    check(f"sent queries = {' + '.join(('answered', *words))}\"" in read_source("src", "measure/tally.c"), f"tally.c names {words}")


def examples():
    """The shell examples of the README."""
    return re.findall(r"```sh\n(.*?)```", read_source("README.md"), re.S)


def test_report_page_lists_every_verdict():
    names = re.findall(r'"([A-Z]+)"', read_source("src", "report/result_figures.c").split("result_verdict_name(")[1].split("\n}")[0])
    check(len(names) == 3, f"verdicts of tcpreport: {names}")
    rows = re.findall(r"^\| `([A-Z]+)` \| \d \|", read_source("docs", "report.md"), re.M)
    check_equal(rows, names, "table of verdicts")


def test_faults_page_lists_every_scenario():
    listed = subprocess.run([os.path.join(SOURCE_DIR, "tests/torture/run"), "--list", "--machine-wide"],
                            capture_output=True, text=True, check=True).stdout.split()
    rows = [line.split(" | ")[0] for line in read_source("docs", "faults.md").splitlines() if line.startswith("| `")]
    check_equal(sorted(re.findall(r"`(\w+)`", " ".join(rows))), sorted(listed), "scenarios in docs/faults.md")


def test_tuning_page_explains_every_limit_of_the_plans():
    code = "".join(read_text(path) for path in glob.glob(os.path.join(SOURCE_DIR, "src", "host", "preflight*.c")))
    limits = set(re.findall(r'_add(?:_short|_sysctl)?\(\s*p, "([^"]+)"', code))
    check(len(limits) > 18, f"limits in preflight*.c: {limits}")
    page = read_source("docs", "tcpscaler.7").replace("\\-", "-")
    # of what there is nothing to tune: it is only said
    check_equal({limit for limit in limits if limit not in page}, set(),
                "limits that tcpscaler(7) leaves out")


def test_examples_in_the_readme_run():
    need_program("python3")
    directory = temp_directory()
    with Server() as server:
        example, = examples()
        check(re.fullmatch(r"\d+ ns\n", run_example(example, server.port, directory)), "a p99")


@needs_own_fd_tables
def test_session_in_the_readme_looks_like_a_real_one():
    """Every line but for its numbers, singulars among them, and its verdict, which this machine may spoil."""
    session = read_source("README.md").split("$ tcpclient -c 10000 -r 20000 -t 10 127.0.0.1\n")[1].split("```")[0]
    with Server() as server:
        r = run_client("-p", server.port, "-c", 100, "-r", 500, "-t", 10, "127.0.0.1")

    def form(text):
        lines = [re.sub(r"[\d.,:]+|\[::\]|(\b[num])?s\b|#|-", "", line).split()
                 for line in text.splitlines()]
        return [line for line in lines if line and line[0].isalpha() and "running" not in line]

    wanted, got = form(session), form(re.sub("SUSPECT", "VALID", r.err))
    check(len(wanted) > 20, f"lines of the session: {wanted}")
    heads = [line[:2] for line in got]
    with stall_may_spoil():  # the error of the mean takes ten seconds that each have answers
        for line in wanted:
            check(line[:2] in heads or line[0] == "hold", f"a line as {line} in {heads}")


if __name__ == "__main__":
    main()
