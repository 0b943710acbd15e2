# SPDX-License-Identifier: MIT
"""Control groups for one test, below the group that it runs in."""

import contextlib

from helpers.harness import *


def mounts(controller):
    """[(version, mount point)] of the hierarchies that may have it."""
    with open("/proc/self/mountinfo") as f:
        for line in f:
            fields, rest = line.split(" - ")
            kind, _, options = rest.split()[:3]
            if kind == "cgroup2" or (kind == "cgroup" and controller in options.split(",")):
                yield (2 if kind == "cgroup2" else 1), fields.split()[4]


def own_path(version, controller):
    with open("/proc/self/cgroup") as f:
        for line in f:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if controllers == "" if version == 2 else controller in controllers.split(","):
                return path
    return "/"


class Cgroup:
    """With the files of `settings`, by version: {1: {name: value}, 2: {...}}. Skips where the kernel gives no group
    with this controller."""

    def __init__(self, controller, settings):
        need_root()
        why = f"no cgroup with the controller '{controller}' here"
        for self.version, mount in mounts(controller):
            self.path = os.path.join(mount + own_path(self.version, controller), f"tcpscaler-{RUN}-{os.urandom(4).hex()}")
            try:
                os.mkdir(self.path)
                for name, value in settings[self.version].items():
                    self.write(name, value)
                return
            except OSError as error:
                why = f"{why}: {error}"
                with contextlib.suppress(OSError):
                    os.rmdir(self.path)
        skip(why)

    def write(self, name, value):
        with open(os.path.join(self.path, name), "r+") as f:
            f.write(str(value))

    def read(self, name):
        return read_text(os.path.join(self.path, name))

    @property
    def prefix(self):
        """Goes before a command that is to run in the group."""
        return ["sh", "-c", f'echo $$ >{self.path}/cgroup.procs; exec "$@"', "sh"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill_all()
        wait_for(self._is_removed, f"{self.path} to be empty")

    def _is_removed(self):
        with contextlib.suppress(OSError):
            os.rmdir(self.path)
        return not os.path.exists(self.path)


class MemoryCgroup(Cgroup):
    def __init__(self, limit_bytes):
        super().__init__("memory", {1: {"memory.limit_in_bytes": limit_bytes}, 2: {"memory.max": limit_bytes}})
        self.limit_file = "memory.limit_in_bytes" if self.version == 1 else "memory.max"

    def kills(self):
        """How often the kernel has killed a program for this limit."""
        text = self.read("memory.oom_control" if self.version == 1 else "memory.events")
        return int(re.search(r"^oom_kill (\d+)$", text, re.M)[1])


class PidsCgroup(Cgroup):
    def __init__(self, limit):
        super().__init__("pids", {version: {"pids.max": limit} for version in (1, 2)})


class CpuCgroup(Cgroup):
    def __init__(self, quota_us, period_us):
        super().__init__("cpu", {1: {"cpu.cfs_period_us": period_us, "cpu.cfs_quota_us": quota_us},
                                 2: {"cpu.max": f"{quota_us} {period_us}"}})
