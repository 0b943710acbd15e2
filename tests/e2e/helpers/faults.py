# SPDX-License-Identifier: MIT
"""The misbehaving server, the slow wire and the restricted kernel of tests/fault."""

from helpers.harness import *

FAULT = os.path.join(SOURCE_DIR, "tests/fault")
# followed by what the kernel shall lack, "--" and a command
DENY = [*BARE_PYTHON, os.path.join(FAULT, "deny.py")]


def counts_at_end(process):
    """Ends one of these programs; returns the counts that it then prints."""
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=HANGS_S)
    return json.loads(out)


class FaultServer:
    program = "faultserver.py"

    def __init__(self, *arguments, prefix=()):
        self.process = spawn([*prefix, *BARE_PYTHON, os.path.join(FAULT, self.program), *[str(a) for a in arguments]],
                             stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])

    def stop(self):
        return counts_at_end(self.process)


class UdpServer(FaultServer):
    program = "udpserver.py"

    def stop(self):
        """Its counts. What it could not read in time is its own loss, and no test counts on it."""
        did = super().stop()
        check_equal(did["wrong"], 0, "datagrams that are no query")
        if did["overflown"]:
            raise Spoiled(f"the server was too slow for {did['overflown']} datagrams")
        return did


class Wire:
    """10.99.0.1 in namespace a, 10.99.0.2 in namespace b, and a delay or losses between them."""

    def __init__(self, a, b, *arguments):
        if not os.path.exists("/dev/net/tun"):
            skip("no /dev/net/tun")
        self.process = spawn([*BARE_PYTHON, os.path.join(FAULT, "tunrelay.py"), a.name, b.name,
                              *[str(a) for a in arguments]], stdout=subprocess.PIPE, text=True)
        check_equal(self.process.stdout.readline(), "ready\n", "what the relay says")

    def stop(self):
        return counts_at_end(self.process)
