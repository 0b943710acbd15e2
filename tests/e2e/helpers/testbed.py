# SPDX-License-Identifier: MIT
"""The hosts of tests/fleet/testbed.sh, and fleet/run.yml run on them."""

import atexit

from helpers.harness import *

SCRIPT = os.path.join(SOURCE_DIR, "tests", "fleet", "testbed.sh")
FLEET = os.path.join(SOURCE_DIR, "fleet")
REMOTE = "/var/tmp/tcpscaler-fleet"

# What tuning changes: sysctls, addresses, routes and rules; not what the kernel counts.
KERNEL_STATE = """
sysctl -a 2>/dev/null | grep '^net\\.' | grep -vE 'stable_secret|random|nf_conntrack_count'
ip -4 -o addr; ip -4 route show table all; nft list ruleset
"""
# Everything a run could leave on a host, except the processes of this query and sessions that sshd is opening or
# closing. The processes are listed before the list is filtered: a grep that has just been started has no arguments yet.
STATE = KERNEL_STATE + """
find /run /root /tmp /var/tmp
processes=$(ps -eo args=)
echo "$processes" | grep -vE '^(ps|sh -c)|notty|\\[(priv|net|accepted)\\]' | sed 's/ [0-9]* of [0-9-]* startups//'
"""


def newest_ansible():
    """The directory of the programs of PyPI's newest ansible-core for this Python."""
    directory = os.path.join(SOURCE_DIR, "build", "ansible")
    if not os.path.exists(directory + "/complete"):
        skip("run tests/fleet/install-ansible")
    return directory + "/bin"


def ansible_environment():
    """Without PYTHONPYCACHEPREFIX, which hides the compiled modules of the packages."""
    environment = {**os.environ, "ANSIBLE_CONFIG": FLEET + "/ansible.cfg", "LC_ALL": "C.UTF-8"}
    environment.pop("PYTHONPYCACHEPREFIX", None)
    return environment


def fake_tcpreport(merge_code):
    """A tcpreport whose merge ends with this code."""
    return write_program(temp_path("tcpreport"),
                         f'#!/bin/sh\n{os.path.abspath(TCPREPORT)} "$@"\n[ "$1" != merge ] || exit {merge_code}\n')


class Testbed:
    """A server and n clients, each a separate host; always taken down at the end."""

    def __init__(self, n_clients):
        need_root()
        need_program("ansible-playbook", "sshd", "ssh", "nft", "ip", "sysctl", "pgrep")
        self.directory = temp_directory()
        self.environment = {**ansible_environment(), "TESTBED": self.directory + "/rack", "HOME": self.directory}
        self.ansible = []  # use_ansible
        atexit.register(self.down)
        self.call("up", str(n_clients))
        self.hosts = [line.split()[0] for line in self.call("status").splitlines()]
        self.inventory = self.directory + "/inventory.yml"
        write_text(self.inventory, self.call("inventory"))

    def call(self, *arguments, code=0):
        r = run_command([SCRIPT, *arguments], env=self.environment)
        check_equal(r.returncode, code, f"exit code of testbed.sh {arguments}: {r.stderr}")
        return r.stdout

    def down(self):
        subprocess.run([SCRIPT, "down"], env=self.environment, check=True, timeout=HANGS_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.down()

    def use_ansible(self, directory):
        """From now on, uses the programs of this directory."""
        self.ansible = [f"PATH={directory}:{os.environ['PATH']}"]

    def forget_python(self):
        """From now on, lets Ansible search each host for Python, as fleet/ansible.cfg says."""
        write_text(self.inventory, re.sub(r".*ansible_python_interpreter.*\n", "", read_text(self.inventory)))

    def _states(self, command, without=()):
        return {host: self.call("in", host, "sh", "-c", command).splitlines() for host in self.hosts
                if host not in without}

    def states(self, *without):
        return self._states(STATE, without)

    def kernel_states(self, *without):
        return self._states(KERNEL_STATE, without)

    def check_states(self, want, what):
        """Waits until each host of `want` is in that state: processes may still be ending."""
        end = time.monotonic() + HANGS_S
        while True:
            is_over = time.monotonic() >= end
            got = self.states(*set(self.hosts) - set(want))
            changes = {host: [f"-{line}" for line in want[host] if line not in got[host]]
                       + [f"+{line}" for line in got[host] if line not in want[host]] for host in want}
            if not any(changes.values()):
                return
            check(not is_over, f"{what}: {changes}")
            time.sleep(1)

    def has(self, host, name):
        """Whether the run's directory of the host has this file."""
        return subprocess.run([SCRIPT, "in", host, "test", "-e", f"{REMOTE}/{name}"], env=self.environment,
                              capture_output=True).returncode == 0

    def says(self, host):
        """What the program on the host says."""
        return self.call("in", host, "cat", f"{REMOTE}/run.err")

    def ssh_sessions(self):
        return "".join(self.call("in", host, "ss", "-Htn", "sport = :22") for host in self.hosts)

    def start(self, *arguments, **settings):
        """Starts fleet/run.yml."""
        return Run(self, ["in", "ctl", "env", *self.ansible], self.inventory, FLEET, arguments,
                   {"programs": os.path.dirname(os.path.abspath(TCPCLIENT)), **settings})

    def run(self, *arguments, **settings):
        return self.start(*arguments, **settings).wait()


class Run:
    """The machine is not idle: a run may be SUSPECT, any clock is accepted, and no client waits awake."""

    def __init__(self, testbed, prefix, inventory, fleet, arguments, settings):
        """prefix: of testbed.sh, for commands of the controller; fleet: its copy of the playbook."""
        settings = {"may_be_suspect": True, "lead": 8, "clock_error_max": "", **settings}
        settings["client_options"] = f"--pace sleep {settings.get('client_options', '')}"
        self.testbed = testbed
        self.log = temp_path("ansible.log")
        self.begin = time.monotonic()
        with open(self.log, "w") as out:
            self.process = spawn([SCRIPT, *prefix, "ansible-playbook", "-i", inventory, "-e", json.dumps(settings), *arguments,
                                  fleet + "/run.yml"], env=testbed.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                 start_new_session=True)

    def text(self):
        return read_text(self.log)

    def wait_for_file(self, host, name):
        """Waits until the run's directory on the host has this file. Each check from here would take five processes, so
        the host itself checks."""
        asking = spawn([SCRIPT, "in", host, "sh", "-c", f"until [ -e {REMOTE}/{name} ]; do sleep 0.1; done"],
                       env=self.testbed.environment, start_new_session=True)
        try:
            wait_for(lambda: asking.poll() is not None or self.process.poll() is not None, f"{name} on {host}")
            check_equal(asking.poll(), 0, f"{name} on {host}, before the end of {self.text()}")
        finally:
            if asking.poll() is None:
                stop_group(asking)

    def wait_for_start(self, host, seconds):
        """Waits until this many seconds after the announced start time, and returns that."""
        self.wait_for_file(host, "start")
        moment = float(self.testbed.call("in", host, "cat", f"{REMOTE}/start"))
        time.sleep(max(0, moment + seconds - time.time()))
        return moment

    def wait(self, deadline_s=HANGS_S):
        try:
            self.code = self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"not over after {deadline_s} s: {self.text()}")
        self.seconds = time.monotonic() - self.begin
        self.out = self.text()
        found = re.search(r"^ +results: (\S+)", self.out, re.M)
        self.results = found.group(1) if found else None
        return self

    def kill(self):
        """Kills it and everything it started at once, as if the controller was lost."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def result(self, name):
        return read_json(f"{self.results}/{name}.json")

    def spread_ms(self):
        return float(re.search(r"start spread ([\d.]+) ms", self.out).group(1))
