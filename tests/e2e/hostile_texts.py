# SPDX-License-Identifier: MIT
"""Texts from outside, such as names and messages in a result: neither markup on a page nor commands of gnuplot."""

import xml.etree.ElementTree

from helpers.html_page import *

HOSTILE = "<script>alert(1)</script>\"'><img src=http://evil.example/x onerror=alert(2)>&lt;b&gt;"


def test_text_from_outside_stays_text():
    need_program("gnuplot")
    directory = os.path.join(temp_directory(), "hostile")
    os.makedirs(directory, exist_ok=True)
    # no slash in the name of a file
    name = HOSTILE.replace("/", "\\")
    hostile = [f"{directory}/{name}{i}.json" for i in range(2)]
    for i, path in enumerate(hostile):
        shutil.copy(files(i)[0], path)
        result = read_json(path)
        change(path, target=HOSTILE, host={"kernel": HOSTILE}, options={"qname": HOSTILE, "source": HOSTILE},
               explanations=[HOSTILE], version=HOSTILE, command=["tcpclient", HOSTILE, "it's"], verdict="SUSPECT", broken_law=HOSTILE if i else None,
               tls={"library": HOSTILE, "version": HOSTILE, "cipher": HOSTILE, "handshakes": 1, "resumed": 0} if i else None,
               goals=[{"goal": HOSTILE, "result": HOSTILE, "why": HOSTILE, "exceeding": 3, "of": 9, "own": 0}],
               diagnosis=[{"limit": HOSTILE, "connections": 1, "evidence": HOSTILE, "remedy": HOSTILE}],
               connections={"outcomes": {**result["connections"]["outcomes"], f"run/{HOSTILE}": 3}},
               search={"find": "rate", "unit": HOSTILE[:15], "slo": [HOSTILE], "status": "found", "reason": HOSTILE,
                       "capacity": 150, "lower": 100, "upper": 200, "limited_by": HOSTILE,
                       "trials": [{"step": HOSTILE, "load": 100, "class": HOSTILE, "reason": HOSTILE}]})
    for arguments, earlier in (([hostile[1]], [hostile[0]]), (hostile, [])):
        text = page_of(*arguments, earlier=earlier)
        page = Page(text)
        check(page.text().count(HOSTILE) >= 11, f"the text as it is, {page.text().count(HOSTILE)} times")
        check(name in page.text(), "the name of the file")
        # the control: text that was not escaped would be noticed
        check(problems(text.replace("&lt;script&gt;", "<script>", 1)), "unescaped text")


def hostile_copy(value, text, kept=("program", "find", "status", "class", "step")):
    """With this text for every string but those that decide what is drawn."""
    if isinstance(value, dict):
        return {key: v if key in kept else hostile_copy(v, text, kept) for key, v in value.items()}
    if isinstance(value, list):
        return [hostile_copy(v, text, kept) for v in value]
    return text if isinstance(value, str) else value


def test_text_of_a_result_never_becomes_a_gnuplot_command():
    need_program("gnuplot")
    made = temp_path("made")
    command = f"x'\n!touch {made}\nset title 'a_b^c`touch {made}`$(touch {made})\" system('touch {made}') \\"
    search = {"find": "rate", "unit": "q/s", "slo": ["p99<10ms"], "status": "found", "capacity": 150, "lower": 100, "upper": 200,
              "limited_by": "p99<10ms", "trials": [{"step": "double", "load": load, "class": "good", "reason": None, "p50_ns": 1000,
                                                    "p99_ns": 2000} for load in (100, 200)]}
    sweep = {"over": "connections", "points": [{"at": at, "search": search} for at in (10, 100)]}
    directory = temp_directory()
    paths = [f"{directory}/result{os.path.splitext(file)[1]}" for file in files(0)]
    path = paths[0]
    for changes in ({"search": search, "sweep": None}, {"search": None, "sweep": sweep}):
        for file, copy in zip(files(0), paths):
            shutil.copy(file, copy)
        change(path, **changes)
        result = hostile_copy(read_json(path), command)
        write_json(path, result)
        page_of(*paths)
        for kind in ("latency", "time", "connect", "rate", "capacity"):
            own = {"latency": paths[1], "time": paths[1], "connect": paths[2]}.get(kind, path)
            r = run_command([TCPREPORT, "plot", "--kind", kind, "-o", temp_path("plot.svg"), own])
            check_equal(r.returncode, 0, f"{kind}: {r.stderr}")
    check(not os.path.exists(made), "a text was run as a command")
    # the control: gnuplot runs such a command where it is not quoted
    subprocess.run(["gnuplot"], input=command.split("\n")[1], text=True, check=True, timeout=HANGS_S)
    check(os.path.exists(made), "the control")


def test_text_of_a_result_never_becomes_a_line_or_an_escape_sequence():
    """The control: a harmless text in the same places has as many lines."""
    search = {"find": "rate", "unit": "q/s", "slo": ["p99<10ms"], "status": "inconclusive", "reason": "time", "limited_by": "queue",
              "trials": [{"step": "double", "load": 100, "class": "good", "reason": "queue"}]}
    path = temp_path("escape.json")
    result = read_json(files(0)[0])
    for changes in ({}, {"search": search}, {"sweep": {"over": "size", "points": [{"at": 1, "search": search}]}}):
        lines = []
        for text in ("harmless", "\x1b[2J\nVerdict      VALID\x7f\x9b2J\x85"):
            with open(path, "w") as f:
                outcomes = {**result["connections"], "outcomes": {f"run/{text}": 3}}
                json.dump(hostile_copy(result | changes | {"connections": outcomes, "classes": {text: {"clients": 3}},
                                                           "explanations": ["why"], "broken_law": "sums"}, text, ("program", "started")), f)
            shown = report("show", path).stdout
            check(not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown), f"control characters in {shown!r}")
            lines.append(shown.count("\n"))
        check_equal(lines[0], lines[1], f"lines with {list(changes)}")


def test_name_of_a_file_never_becomes_an_escape_sequence():
    name = temp_path("a\x1b[2J\x9b2J\xfc.json")
    shown = name.replace("\x1b", "?").replace("\x9b", "?")
    check_equal(report("show", name, code=2).stderr, f"tcpreport: {shown}: cannot read: No such file or directory\n", "a message")
    shutil.copy(files(0)[0], name)
    check_equal(report("show", name).stdout.split(": ")[0], shown.removesuffix(".json"), "the name above the figures")


def test_name_that_is_not_utf8_is_drawn():
    need_program("gnuplot")
    name, picture = temp_path(os.fsdecode(b"m\xfcller.hlog")), temp_path("name.svg")
    shutil.copy(files(0)[1], name)
    r = report("plot", "-o", picture, name)
    check_equal((r.stdout, r.stderr), ("", ""), "words about the plot")
    texts = [node.text for node in xml.etree.ElementTree.parse(picture).iter() if node.tag.endswith("text")]
    check(os.path.dirname(name) + "/m?ller" in texts, f"the name in {texts}")


if __name__ == "__main__":
    main()
