# SPDX-License-Identifier: MIT
"""Hosts for the setup scripts: a network namespace, optionally with its own /proc/sys, /run, /etc and /var/lib."""

from helpers.namespace import *

SERVER = os.path.join(SOURCE_DIR, "scripts/setup-server.sh")
CLIENT = os.path.join(SOURCE_DIR, "scripts/setup-client.sh")


def script(host, path, *arguments, code=0, env=None):
    """Runs a script on the host; the error has its stderr if the exit code differs."""
    r = run_command([*host.prefix, path, *arguments], env={**os.environ, **(env or {})})
    check_equal(r.returncode, code, f"exit code of {os.path.basename(path)} {arguments}: {r.stderr}")
    return r


def check_refused(path, *arguments, contains=""):
    r = run_command([path, *arguments])
    check_equal((r.returncode, r.stdout, len(r.stderr.splitlines())), (2, "", 1), f"{arguments}: {r.stderr}")
    check(contains in r.stderr, f"'{contains}' in: {r.stderr}")


def path_without(program):
    """A PATH with every program of the system but this one."""
    directory = temp_path("without-" + program)
    os.mkdir(directory)
    for name in {name for place in ("/bin", "/sbin", "/usr/bin", "/usr/sbin") for name in os.listdir(place)} - {program}:
        os.symlink(shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") or "/nonexistent", os.path.join(directory, name))
    return {"PATH": directory}


def network(namespace):
    """Rules, addresses and routes, a line each, once every IPv6 address of lo has its route: the kernel adds that a little later."""
    def look():
        text = namespace.run("sh", "-ec", """nft list ruleset; ip -o addr; ip route show table all; ip -6 route show table all
            ! command -v iptables-save >/dev/null || { iptables-save; ip6tables-save; } | grep ^-A || true""").stdout
        addresses = re.findall(r"^\d+: lo +inet6 ([^/]+)/", text, re.M)
        return [text] if all(f"local {address} dev lo " in text for address in addresses) else []
    return wait_for(look, "the routes of lo's addresses")[0].splitlines()


def value(namespace, name):
    """The words of a sysctl."""
    return namespace.run("cat", "/proc/sys/" + name.replace(".", "/")).stdout.split()


def everything(namespace):
    """Everything the scripts can change in a network namespace."""
    sysctls = namespace.run("sh", "-c", "sysctl -a 2>/dev/null | grep -E '^(net|fs)\\.' | "
                            "grep -vE 'file-nr|inode|dentry|aio-nr|random|nf_conntrack_count|"
                            "stable_secret|nr_negative'").stdout
    return [*sysctls.splitlines(), *network(namespace)]


def check_same(got, before, what):
    """Prints only the lines that differ: there are a thousand."""
    check_equal(([line for line in got if line not in before], [line for line in before if line not in got]), ([], []),
                f"{what}: lines that came, lines that went")
    check_equal(got, before, what)


# What a small host has, in the form of the kernel.
SYSCTLS = {
    "fs/file-max": "50000", "fs/file-nr": "1000\t0\t50000", "fs/nr_open": "8192", "fs/epoll/max_user_watches": "1000",
    "kernel/random/boot_id": "first",
    "net/core/netdev_max_backlog": "1000", "net/core/somaxconn": "4096",
    "net/ipv4/ip_local_port_range": "32768\t60999", "net/ipv4/ip_local_reserved_ports": "",
    "net/ipv4/ip_unprivileged_port_start": "1024", "net/ipv4/tcp_max_orphans": "100",
    "net/ipv4/tcp_max_syn_backlog": "128", "net/ipv4/tcp_max_tw_buckets": "100", "net/ipv4/tcp_mem": "100\t200\t300",
    "net/ipv4/tcp_moderate_rcvbuf": "1", "net/ipv4/tcp_rmem": "4096\t131072\t6291456", "net/ipv4/tcp_syncookies": "1",
    "net/ipv4/tcp_timestamps": "0", "net/ipv4/tcp_tw_reuse": "2", "net/ipv4/tcp_wmem": "4096\t16384\t4194304",
    "net/ipv4/neigh/default/gc_thresh2": "512", "net/ipv4/neigh/default/gc_thresh3": "1024",
    "net/ipv6/ip_nonlocal_bind": "0", "net/ipv6/neigh/default/gc_thresh2": "512", "net/ipv6/neigh/default/gc_thresh3": "1024",
    "net/netfilter/nf_conntrack_buckets": "512", "net/netfilter/nf_conntrack_max": "1000",
}
OWN = ("proc/sys", "var/lib", "etc/sysctl.d", "etc/security/limits.d", "etc/systemd", "run")  # mount writes to /run


class Host(Namespace):
    """A network namespace with private copies of these directories: its machine-wide sysctls are plain files. The
    scripts run unchanged."""

    def __init__(self, suffix="", files=None, own=()):
        """files: {path: content} to begin with; own: further directories that are private to the host."""
        super().__init__(suffix)
        self.tree = temp_path("host" + suffix)
        for name in OWN:
            os.makedirs(os.path.join(self.tree, name), mode=0o755)
        for name, content in (files or {}).items():
            self.write(name, content)
        self.boot(SYSCTLS["kernel/random/boot_id"])
        self.mounts = "".join(f"mount --bind {self.tree}/{name} /{name} && " for name in (*own, *OWN))
        self.network_prefix = self.prefix
        self._start()

    def _start(self):
        """A process that keeps the namespaces, for all others to enter."""
        self.keeper = spawn([*self.network_prefix, "sh", "-c", self.mounts + "echo up && exec sleep infinity"],
                            stdout=subprocess.PIPE, text=True)
        check_equal(self.keeper.stdout.readline(), "up\n", "the host")
        self.prefix = ["nsenter", f"--target={self.keeper.pid}", "--mount", "--net"]

    def path(self, name):
        return os.path.join(self.tree, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        write_text(self.path(name), text)

    def value(self, name):
        """The value of a sysctl."""
        return " ".join(read_text(self.path("proc/sys/" + name.replace(".", "/"))).split())

    def boot(self, boot_id):
        """Its sysctls, and then those of /etc/sysctl.d."""
        for name, value in {**SYSCTLS, "kernel/random/boot_id": boot_id}.items():
            self.write("proc/sys/" + name, value + "\n")
        for name in sorted(os.listdir(self.path("etc/sysctl.d"))):
            with open(self.path("etc/sysctl.d/" + name)) as f:
                for line in f:
                    key, _, value = line.strip().lstrip("-").partition(" = ")
                    self.write("proc/sys/" + key.replace(".", "/"), value + "\n")

    def reboot(self, boot_id="second"):
        stop(self.keeper, signal.SIGKILL)
        self.run_outside("ip", "netns", "del", self.name)
        self.run_outside("ip", "netns", "add", self.name)
        self.run_outside(*self.network_prefix, "ip", "link", "set", "lo", "up")
        for name in os.listdir(self.path("run")):
            shutil.rmtree(self.path("run/" + name))
        self.boot(boot_id)
        self._start()

    def everything(self):
        """Every private file and directory with mode and content, and the network."""
        found = []
        for directory, directories, names in os.walk(self.tree):
            for name in directories + names:
                path = os.path.join(directory, name)
                found.append(f"{path} {os.lstat(path).st_mode:o} {os.lstat(path).st_uid} {self._content(path)!r}")
        return sorted(found) + network(self)

    @staticmethod
    def _content(path):
        if not os.path.isfile(path):
            return ""
        text = read_text(path)
        return " ".join(text.split()) if "/proc/sys/" in path else text


# --- the scripts with options for all that they change ---

SOURCES = {"IPv4": "10.9.9.1-3,10.50.0.0/16", "IPv6": "2001:0db8:0:0::1,2001:db8::00b,fd50:0:0::/48",
           "both": "10.9.9.1,10.50.0.0/16,2001:db8::00b,fd50:0:0::/48"}
CONNECTIONS = {SERVER: "20000", CLIENT: "30000"}


def arguments_of(path, family="both"):
    mine = ("--small-buffers",) if path == SERVER else ("--sources", SOURCES[family], "--dev", "lo", "--low-port", "500")
    return ("--connections", CONNECTIONS[path], "--notrack", *mine)


def apply(host, path, *more, family="both", **options):
    return script(host, path, "--apply", *arguments_of(path, family), *more, **options)


def revert(host, path, **options):
    return script(host, path, "--revert", **options)
