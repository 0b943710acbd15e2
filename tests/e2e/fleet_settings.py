# SPDX-License-Identifier: MIT
"""Settings of fleet/run.yml given with -e on the command line, and unusual hosts and controllers."""

import importlib.util
import tarfile

from helpers.testbed import *

SMALL = {"connections": 200, "rate": 200, "duration": 2}
SHORT = {"time_limit": 200, "connect_timeout": 60, "lead": 10, "warmup": 5, "duration": 6}  # by a second


def of_another_architecture():
    """A program that this machine cannot run."""
    path = temp_path("program")
    with open(TCPREPORT, "rb") as f:
        program = bytearray(f.read())
    program[18:20] = b"\x08\x00"  # e_machine: MIPS
    with open(path, "wb") as f:
        f.write(program)
    os.chmod(path, 0o755)
    return path


def neighbour(testbed):
    return testbed.call("in", "srv", "ip", "neigh", "show", "10.77.99.99")


def add_neighbour(testbed):
    """Adds a neighbour that the server has known for a long time."""
    testbed.call("in", "srv", "ip", "neigh", "replace", "10.77.99.99", "lladdr", "02:00:00:00:00:99", "nud", "stale",
                 "dev", "eth0")


def test_parts_tune_separately_and_flags_can_be_off():
    """Also the control of the test with tune=false: these parts do tune. The user is of a domain, as winbind names it."""
    with Testbed(1) as testbed:
        text = read_text(testbed.inventory)
        write_text(testbed.inventory, text.replace("    ansible_user: root\n", "    ansible_user: root\n    owner: 'CORP\\nina@here:/fleet'\n"))
        before, kernel = testbed.states(), testbed.kernel_states()
        add_neighbour(testbed)
        check_parts_one_by_one(testbed, kernel)
        testbed.check_states(before, "the hosts, afterwards")


def check_parts_one_by_one(testbed, kernel):
    flags = ["-e", "flush_neighbours=false", "-e", f"tcpreport={fake_tcpreport(3)}", "-e", "may_be_suspect=false"]
    check_equal(testbed.run("--tags", "tune", "-e", "small_buffers=false", *flags, **SMALL).code, 0, "tune")
    tuned = testbed.states()
    r = testbed.run(**SMALL)
    check_equal(r.code, 2, "exit code of a run on hosts in use")
    check(re.search(r"c1 failed while checking: Not in use: in use by CORP", r.out), r.out)
    testbed.check_states(tuned, "and nothing was touched")
    r = testbed.run("--tags", "run", *flags, **SMALL)
    check_equal(r.code, 2, f"exit code with may_be_suspect=false: {r.out}")
    check(re.search(r"^ +incomplete:\n +the run is SUSPECT$", r.out, re.M), r.out)
    states = testbed.kernel_states()
    for host in testbed.hosts:
        check(states[host] != kernel[host], f"the control: {host} is tuned")
        check_equal([line for line in states[host] if "tcp_rmem" in line], [line for line in kernel[host] if "tcp_rmem" in line],
                    f"small_buffers=false: buffers of {host}")
    check(neighbour(testbed) != "", "flush_neighbours=false: the server's neighbour is still there")
    r = testbed.run("--tags", "collect", *flags[:4], "-e", "may_be_suspect=true")
    check_equal(r.code, 0, f"exit code with may_be_suspect=true: {r.out}")
    check("the run is SUSPECT" not in r.out, r.out)
    check_equal(testbed.run("--tags", "revert").code, 0, "the revert")


def clock_module():
    spec = importlib.util.spec_from_file_location("clock", FLEET + "/roles/fleet/files/clock.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_clocks_are_accepted_if_synchronized_and_close():
    fault = clock_module().fault
    check_equal(fault(0x2001, 99999, 0.1), None, "synchronized, 0.1 s off at most")
    check("0.101 s off" in fault(0x2001, 101000, 0.1), "further off")
    check("not synchronized" in fault(0x2041, 10, 0.1), "not synchronized")


# A clock that is set an hour ahead while a task waits.
SET_CLOCK = """#!/bin/sh
echo $(($(cat "$0.now") + 3600)) >"$0.now"
exec cat "$0.now"
"""


def wait_while_the_clock_is_set(tasks, name):
    """Runs the commands of a task that waits; after a second it has what it waits for."""
    text = read_text(f"{FLEET}/roles/fleet/tasks/{tasks}.yml")
    commands = re.search(rf"^- name: {name}\n  ansible\.builtin\.raw: \|\n((?:    .*\n)+)", text, re.M).group(1)
    seconds = re.search("^fleet_seconds: '(.*)'$", read_text(FLEET + "/roles/fleet/defaults/main.yml"), re.M).group(1)
    directory, programs = temp_directory(), temp_directory()
    values = {"remote_dir | quote": directory, "fleet_seconds": seconds, "connect_timeout": "600", "collect_timeout | int": "600",
              "collect_timeout": "600"}
    for key, value in values.items():
        commands = commands.replace("{{ " + key + " }}", value)
    write_program(programs + "/date", SET_CLOCK)
    write_text(programs + "/date.now", "1800000000\n")
    ready = "sleep 1; echo 0 >rc; echo '{}' >start.ready"
    return subprocess.run(["sh", "-c", f"cd {directory}; (echo $$ >pid; {ready}) & {commands}"], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})


def test_setting_the_clock_of_a_host_ends_no_wait():
    for tasks, name in (("connect", "Wait until connected"), ("collect", "Wait for the end")):
        r = wait_while_the_clock_is_set(tasks, name)
        check_equal((r.returncode, r.stderr), (0, ""), name)


def test_clients_start_by_their_own_clock_not_by_that_of_the_controller():
    """Theirs are an hour ahead. One answers late, and the start is as late: the controller waits for as much longer."""
    programs, playbook, inventory = temp_directory(), temp_path("play.yml"), temp_path("inventory.yml")
    write_program(programs + "/date", f"#!/bin/sh\nmkdir {programs}/first 2>/dev/null || sleep 3\nexec /bin/date -d '1 hour' \"$@\"\n")
    clients = {host: {"ansible_connection": "local", "remote_dir": temp_directory()} for host in ("c1", "c2")}
    write_json(inventory, {"all": {"children": {"server": {"hosts": {"srv": {"ansible_connection": "local"}}}, "clients": {"hosts": clients}}}})
    write_json(playbook, [{"hosts": "server:clients", "tasks": [{"ansible.builtin.import_role": {"name": "fleet", "tasks_from": "load"}}]},
                          {"hosts": "clients", "tasks": [{"ansible.builtin.debug": {"msg": "here {{ fleet_start_here }} ahead {{ fleet_ahead }}."}}]}])
    begin, begin_s = time.time(), time.monotonic()
    settings = {"fleet_stop": "", "fleet_seconds": 0, "lead": 1, "programs": "/", "fleet_asked": begin}
    r = run_command(["ansible-playbook", "-i", inventory, "-e", json.dumps(settings), playbook],
                    env={**ansible_environment(), "ANSIBLE_ROLES_PATH": FLEET + "/roles", "PATH": f"{programs}:{os.environ['PATH']}"})
    check_equal(r.returncode, 0, f"exit code: {r.stdout} {r.stderr}")
    starts = {read_text(of_host["remote_dir"] + "/start") for of_host in clients.values()}
    check_equal(len(starts), 1, "start times")
    start = float(starts.pop())
    check_between(start, begin + 3600, begin + 3600 + 2 * (time.monotonic() - begin_s) + 2, "the start time")
    told = [(float(here), float(ahead)) for here, ahead in re.findall(r"here ([0-9.]+) ahead ([0-9.]+)\.", r.stdout)]
    check_equal(len(told), 2, f"clients in {r.stdout}")
    check(start - told[0][0] < min(ahead for _, ahead in told) + 1, f"the controller takes the start for earlier than {start}: {told}")


def test_hosts_that_cannot_take_part_are_left_out_and_told_why():
    with Testbed(3) as testbed:
        check("clock_error_max: ''" in testbed.call("inventory"), "by default a testbed accepts the clock that its hosts share")
        testbed.call("in", "c1", "mount", "-o", "remount,noexec", "/var/tmp")
        before = testbed.states()
        testbed.call("in", "c2", "mkdir", "-p", REMOTE + "/precious")
        r = testbed.run(**SMALL, clock_error_max="{{ 1e-6 if inventory_hostname == 'c3' else '' }}")  # no clock is as certain
        check_equal(r.code, 2, f"exit code: {r.out}")
        for host, why in (("c1", "Check that the programs run: remote_dir is on a file system mounted noexec"),
                          ("c2", f"Not in use: remote_dir {REMOTE} has other files"), ("c3", "Clock: clock (not synchronized|may be)")):
            check(re.search(f"{host} failed while checking: {why}", r.out), r.out)
        check("0 clients, min_clients is 1" in r.out, r.out)
        testbed.call("in", "c2", "rmdir", REMOTE + "/precious")
        testbed.call("in", "c2", "rm", "-r", REMOTE)
        testbed.check_states(before, "the hosts, afterwards")


def test_rehearsal_shows_changes_and_makes_none():
    """Also the control of the settings that are refused, and of remote_dir, which may be where programs run. A single client has no
    other client to start with: its clock does not matter."""
    with Testbed(1) as testbed:
        testbed.call("in", "c1", "mount", "-o", "remount,noexec", "/var/tmp")
        before = testbed.states()
        r = testbed.run("--check", "-e", "small_buffers=true", remote_dir="/root/fleet", clock_error_max=1e-6,
                        **{**SHORT, "time_limit": 201}, connections="0.5k", rate=200)
        check_equal(r.code, 0, f"exit code: {r.out}")
        testbed.check_states(before, "the hosts, afterwards")
        for line in (r"net.ipv4.tcp_syncookies +1 +0 ", r"address 10.77.11.1 +none +on eth0", "check mode: nothing was changed"):
            check(re.search(line, r.out), f"{line} in {r.out}")
        check_equal(re.findall(r"changed=(\d+)", r.out), ["0", "0"], "changed tasks of the hosts")
        check_equal(len(re.findall(r"net.ipv4.tcp_rmem ", r.out)), 1, f"how often small buffers would be set: {r.out}")
        check(not os.path.exists(testbed.directory + "/results"), "no results")


def test_lead_grows_with_the_number_of_hosts():
    playbook, steps, n_before = temp_path("lead.yml"), [], 0
    for n in (1, 64, 65, 200):
        steps += [{"add_host": {"name": "c{{ item }}", "groups": "clients"}, "loop": list(range(n_before, n))},
                  {"debug": {"msg": "{{ groups['clients'] | length }} clients: {{ lead }} s"}}]
        n_before = n
    write_json(playbook, [{"hosts": "localhost", "gather_facts": False,  # JSON is YAML, too
                           "vars_files": [f"{FLEET}/roles/fleet/defaults/main.yml"], "tasks": steps}])
    r = run_command(["ansible-playbook", "-i", "localhost,", playbook], env=ansible_environment())
    check_equal(re.findall(r"(\d+) clients: (\d+) s", r.stdout), [("1", "10"), ("64", "10"), ("65", "15"), ("200", "25")],
                f"lead: {r.stdout} {r.stderr}")


class Controller:
    """A host of the testbed as the controller: a user runs the playbook there, from a home directory below /tmp."""

    def __init__(self, testbed, host, user, inventory):
        self.testbed, self.host, self.home = testbed, host, f"/tmp/{user}"
        self.prefix = ["in", host, "setpriv", f"--reuid={user}", "--clear-groups", "env", f"HOME={self.home}",
                       "LC_ALL=C.UTF-8", f"ANSIBLE_CONFIG={self.home}/fleet/ansible.cfg"]
        rack = testbed.environment["TESTBED"] + "/ctl"
        testbed.call("in", host, "install", "-d", "-o", user, self.home)
        for path, text in (("key", read_text(rack + "/key")), ("known_hosts", read_text(rack + "/known_hosts")),
                           ("ssh_config", read_text(rack + "/ssh_config").replace(rack, self.home)),
                           ("inventory.yml", inventory.replace(rack, self.home))):
            subprocess.run([SCRIPT, *self.prefix, "sh", "-c", f"umask 077; cat >{self.home}/{path}"], input=text,
                           text=True, env=testbed.environment, check=True)
        programs = os.path.dirname(os.path.abspath(TCPCLIENT))
        tree = subprocess.run(["tar", "-c", "-C", SOURCE_DIR, "fleet", "scripts", "-C", programs, "tcpclient", "tcpserver", "tcpreport"],
                              capture_output=True, check=True).stdout
        subprocess.run([SCRIPT, *self.prefix, "tar", "-x", "-C", self.home], input=tree, env=testbed.environment, check=True)

    def start(self, *arguments, **settings):
        return Run(self.testbed, self.prefix, self.home + "/inventory.yml", self.home + "/fleet", arguments,
                   {"programs": self.home, **SMALL, **settings})


def check_run_of(user, r, code, clients):
    check_equal(r.code, code, f"exit code of {user}'s run: {r.out}")
    check_equal(re.findall(r"^ +(c\d) +1\d ", r.out, re.M), clients, f"clients of {user}'s report")
    check_equal(r.testbed.call("in", "c1", "ls", "/var/tmp"), "", "left on the controller")


def check_crash_during_run_of_root(testbed, controller):
    """c3 is named, the others are merged and restored."""
    before, kernel = testbed.states("c1", "c3"), testbed.kernel_states("c3")
    run = controller.start(connections=500, rate=500, duration=6, client_options="--arrival constant")
    moment = run.wait_for_start("c3", 2)
    testbed.call("crash", "c3")
    with stall_may_spoil():
        check(time.time() < moment + 6, "that was while measuring")
    r = run.wait()
    check_run_of("root", r, 2, ["c1", "c2"])
    check(re.search(r"^ +incomplete:\n +c3 was lost while measuring: it did not answer\n"
                    r" +c3 is not reverted: it does not answer; it reverts itself 1800 s after it was tuned\n\n", r.out, re.M), r.out)
    whole = json.loads(testbed.call("in", "c1", "cat", f"{r.results}/all.json"))
    check_equal(([i["name"] for i in whole["instances"]], whole["queries"]["scheduled"]), (["c1", "c2"], 6000), "merged")
    testbed.check_states(before, "the others, afterwards")
    check_equal(testbed.kernel_states("c3"), kernel, "settings, also of the controller")


def test_controller_may_be_a_host_and_have_several_users():
    """During the first one's run a host crashes; the second one's changes nothing on any host, by tune=false."""
    with Testbed(3) as testbed:
        lines = testbed.call("inventory").splitlines(True)
        local = "".join(line.replace("c1: {", "c1: {ansible_connection: local, ") for line in lines)
        root = Controller(testbed, "c1", "root", local)
        add_neighbour(testbed)
        check_crash_during_run_of_root(testbed, root)
        check_equal(neighbour(testbed), "", "the server's neighbour is forgotten: tuned hosts may have moved")
        testbed.call("boot", "c3")
        add_neighbour(testbed)
        without = "".join(re.sub("sources: [^,]*, ", "", line) for line in lines
                          if not re.match(" *(c1|c3|device|source_ports): ", line))
        controller = Controller(testbed, "c1", "nobody", without)
        before, kernel = testbed.states("c1"), testbed.kernel_states()
        run = controller.start("-e", "tune=false")
        run.wait_for_start("c2", 1)
        check_equal(testbed.kernel_states(), kernel, "while measuring")
        check(neighbour(testbed) != "", "the server's neighbour is still there")
        check_run_of("nobody", run.wait(), 0, ["c2"])
        check("over 1 host," in run.out, run.out)
        check("the true spread of the starts is unknown" not in run.out, f"one host has no spread: {run.out}")
        testbed.check_states(before, "the hosts, afterwards")


def unpack(member, data):
    """unpack_deb.py on a package with this member: its exit code, what it says, and the files."""
    package, directory = temp_path("x.deb"), temp_path("unpacked")
    os.makedirs(directory, exist_ok=True)
    with open(package, "wb") as f:
        for name, content in (("debian-binary", b"2.0\n"), (member, data)):
            f.write(b"" if f.tell() else b"!<arch>\n")
            header = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n"
            f.write(header.encode() + content + b"\n" * (len(content) % 2))
    script = FLEET + "/roles/fleet/files/unpack_deb.py"
    r = run_command([sys.executable, script, package, directory])
    return r.returncode, r.stderr, os.listdir(directory)


def test_error_says_what_to_set_if_python_cannot_unpack_a_package():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        archive.addfile(tarfile.TarInfo("file"))
    check_equal(unpack("data.tar.xz", data.getvalue()), (0, "", ["file"]), "the control: as on Debian")
    code, said, files = unpack("data.tar.zst", b"\x28\xb5\x2f\xfd not even zstd")
    check_equal((code, files), (1, []), "exit code and files of zstd")
    check_equal(said, "Python cannot read data.tar.zst here: set programs, or deb to a package built on Debian\n", "why")


def refusal(groups, *arguments):
    """What fleet/run.yml, which fails, says of these hosts, {group: {host: its settings}}; without a testbed."""
    inventory = temp_path("inventory.yml")
    write_json(inventory, {"all": {"children": {group: {"hosts": hosts} for group, hosts in groups.items()}}})
    r = run_command(["ansible-playbook", "-i", inventory, *arguments, FLEET + "/run.yml"], env=ansible_environment())
    check_equal(r.returncode, 2, f"exit code: {r.stdout} {r.stderr}")
    return r.stdout


def test_impossible_settings_are_refused_before_any_host_is_touched():
    for settings, lines in (
            (SHORT, ["add up to 201 s"]),
            ({"duration": "10m", "fetch_also": ["rows.csv", "connections.csv"]},
             ["expected numbers of seconds without units", "expected a list with a different extension for each file"]),
            ({"tcpreport": "/nowhere/tcpreport", "results": "/proc/results"},
             ["/nowhere/tcpreport: not found", "set results to a directory that you can write to, not /proc/results: mkdir: "]),
            ({"tcpreport": of_another_architecture()}, ["Exec format error"])):
        said = refusal({"server": {"srv": {}}, "clients": {"c1": {}}}, "-e", json.dumps({**SMALL, **settings}))
        folded = " ".join(said.split())  # Ansible folds lines
        check_equal([line for line in lines if line not in folded], [], f"missing in {said}")
        check("Not in use" not in said, f"nothing was begun: {said}")


def test_inconsistent_groups_and_unknown_tags_are_refused():
    """The controls are all others."""
    for server, clients, tags, lines in (
            ("a", "ab", "all", ["none in both"]), ("a", "", "all", ["none in both"]),
            ("ab", "c", "tune,revertt", ["none in both", "--tags has revertt: expected tune, run, collect or revert"])):
        groups = {"server": dict.fromkeys(server, {}), "clients": dict.fromkeys(clients, {})}
        said = " ".join(refusal(groups, "--tags", tags).split())
        check_equal([line for line in lines if line not in said], [], f"{groups}, {tags}: missing in {said}")


def test_run_without_an_inventory_says_what_it_expects():
    check("see inventory.example.yml" in " ".join(refusal({}).split()), "no inventory.yml yet")


def test_wrong_paths_on_single_hosts_are_refused():
    """A remote_dir that a shell would split or expand, and files to fetch from elsewhere."""
    wrong = ["/var/tmp/a b", "/var/tmp/it's", "/var/tmp/$USER", "/var/tmp/$(id)", "~/fleet", "fleet", ""]
    clients = {f"h{i}": {"remote_dir": directory} for i, directory in enumerate(wrong)}
    files = {"above": ["../rows.csv"], "elsewhere": ["/tmp/rows.csv"], "no_list": "rows.csv"}
    clients.update({host: {"fetch_also": of_host} for host, of_host in files.items()})
    fine = {"remote_dir": "/var/tmp/fleet_1.0-rc@x", "fetch_also": ["rows.csv", "rows.txt"]}  # the control
    said = refusal({"server": {"fine": fine}, "clients": clients})
    check_equal(sorted(re.findall(r"^fatal: \[(\w+)\]", said, re.M)), sorted(clients), f"refused: {said}")
    for line in "remote_dir is /var/tmp/a b: expected an absolute path", "fetch_also is rows.csv: expected a list":
        check(line in " ".join(said.split()), f"{line} in {said}")
    check("Not in use" not in said, f"nothing was begun: {said}")


def prepared(left_s, boot=None):
    """The settings of a host, which is this machine, as --tags tune has left it: it restores its settings in left_s seconds,
    after that boot. None: it is not tuned."""
    directory = temp_path("fleet")
    os.makedirs(directory + "/bin")
    write_program(directory + "/bin/tcpclient", "#!/bin/sh\n")  # whose plan says that everything fits
    files = {"owner": "us\n", "rows.csv": "of an earlier run\n"}
    if left_s is not None:
        uptime_s = int(float(read_text("/proc/uptime").split()[0]))
        files["tuned"] = f"{boot or read_text('/proc/sys/kernel/random/boot_id').strip()} {uptime_s + left_s}\n"
    for name, text in files.items():
        write_text(os.path.join(directory, name), text)
    return {"ansible_connection": "local", "remote_dir": directory}


def test_hosts_that_cannot_run_or_do_not_stay_tuned_are_refused():
    """The host that takes part forgets what an earlier run has left; the others keep it."""
    need_program("ssh")
    python = write_program(temp_path("python3"), """#!/bin/sh
        printf "Traceback (most recent call last):\nModuleNotFoundError: No module named 'zipfile'\n" >&2; exit 1""")
    hosts = {"reverted": prepared(-1), "restarted": prepared(3600, "another"), "soon": prepared(199), "never": prepared(None),
             "bare": {**prepared(3600), "ansible_python_interpreter": python},
             "closed": {"ansible_host": "127.0.0.1", "ansible_port": 1}, "ready": prepared(3600)}  # the control
    settings = {"owner": "us", "results": temp_path("results"), "tcpreport": os.path.abspath(TCPREPORT), "clock_error_max": "",
                "fetch_also": ["rows.csv"], "connect_timeout": 100, "lead": 10, "warmup": 0, "duration": 10, "collect_timeout": 100}
    server = {"reverted": hosts["reverted"]}
    clients = {host: of_host for host, of_host in hosts.items() if host not in server}
    said = refusal({"server": server, "clients": clients}, "--tags", "run", "-e", json.dumps(settings))
    why = dict(re.findall(r"^ +(\w+) failed while checking: Not in use: (.*)$", said, re.M))
    check_equal(sorted(why), ["bare", "never", "restarted", "reverted", "soon"], f"refused: {said}")
    check_equal(why.pop("bare"), "ModuleNotFoundError: No module named 'zipfile'", said)
    check(re.search("^ +closed was lost while checking: .* (via|over) ssh: ", said, re.M), said)
    check(re.match(r"restores its settings in \d+ s, but a run may take 220 s: ", why.pop("soon")), said)
    check_equal(set(why.values()), {"not tuned, or no longer tuned: --tags revert, then --tags tune; or set tune to false"},
                "the others")
    check(re.search(r"^ +no server$", said, re.M), f"why there was no run: {said}")
    del hosts["closed"]
    check_equal([host for host, of_host in hosts.items() if not os.path.exists(of_host["remote_dir"] + "/rows.csv")], ["ready"],
                "hosts without the rows of an earlier run")


def test_host_whose_tuning_failed_is_not_taken_for_tuned():
    scripts = temp_directory()
    for name in ("setup-server.sh", "setup-client.sh"):
        write_program(os.path.join(scripts, name), "#!/bin/sh\necho refused >&2\nexit 3\n")
    hosts = {host: {"ansible_connection": "local", "remote_dir": temp_path("fleet")} for host in ("srv", "c1")}
    settings = {"scripts": scripts, "programs": os.path.dirname(os.path.abspath(TCPCLIENT)), "clock_error_max": ""}
    said = refusal({"server": {"srv": hosts["srv"]}, "clients": {"c1": hosts["c1"]}}, "--tags", "tune", "-e", json.dumps(settings))
    check("Tune: refused" in said, said)
    check_equal([read_text(of_host["remote_dir"] + "/tuned") for of_host in hosts.values()], ["", ""], "when the hosts revert")


if __name__ == "__main__":
    main()
