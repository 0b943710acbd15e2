# SPDX-License-Identifier: MIT
"""Compiler hardening: each feature is found in the binaries, and not in a binary built without it."""

import platform

from helpers.harness import *

CONTROL = r"""
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char text[64];
    sprintf(text, "%s", argv[argc - 1]);
    return (int)strlen(text);
}
"""
WITHOUT = ["-O2", "-no-pie", "-fno-pie", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-Wl,-z,norelro", "-Wl,-z,lazy",
           "-Wl,-z,execstack", "-Wl,-rpath,/tmp"]
ENDBR64 = "f3 0f 1e fa"


def output_of(*argv):
    r = run_command(argv, env={**os.environ, "LC_ALL": "C"})
    check_equal(r.returncode, 0, f"{argv}: {r.stderr}")
    return r.stdout


def flags_of(dynamic):
    """The words of FLAGS and FLAGS_1."""
    return set(re.findall(r"\b[A-Z_]+\b", " ".join(re.findall(r"\(FLAGS(?:_1)?\)(.*)", dynamic))))


def find(path):
    """Returns the protections that a binary has."""
    segments, dynamic = output_of("readelf", "-lW", path), output_of("readelf", "-dW", path)
    imported = set(re.findall(r"UND (\w+)", output_of("readelf", "--dyn-syms", "-W", path)))
    stack = re.search(r"GNU_STACK +(?:0x\w+ +){5}(\S+)", segments)
    begin = re.search(r"<main>:\n.*?\t([0-9a-f ]+?) *\t", output_of("objdump", "-d", "--disassemble=main", path))
    found = {
        "position-independent": "DYN (" in segments and "PIE" in flags_of(dynamic),
        "read-only relocations": "GNU_RELRO" in segments,
        "bound at the start": "NOW" in flags_of(dynamic),
        "no code on the stack": stack is not None and "E" not in stack[1],
        "stack protector": "__stack_chk_fail" in imported,
        "fortified": any(re.fullmatch(r"__\w+_chk", name) for name in imported - {"__stack_chk_fail"}),
        "assertions": "__assert_fail" in imported,
        "no library path": not re.search(r"\((RPATH|RUNPATH)\)", dynamic),
    }
    if platform.machine() == "x86_64":
        found["marked jump targets"] = begin is not None and begin[1].startswith(ENDBR64)
    return found


def test_programs_have_every_protection():
    need_program("readelf", "objdump")
    for path in filter(None, [TCPSERVER, TCPCLIENT, TCPREPORT]):
        check_equal([name for name, there in find(path).items() if not there], [], f"missing in {path}")


def test_a_binary_without_them_is_noticed():
    need_program("readelf", "objdump", "cc")
    path = temp_path("control")
    cet = ["-fcf-protection=none"] if platform.machine() == "x86_64" else []
    subprocess.run(["cc", "-w", *WITHOUT, *cet, "-x", "c", "-o", path, "-"], input=CONTROL, text=True, check=True,
                   timeout=HANGS_S)
    check_equal([name for name, there in find(path).items() if there], [], f"found in {path}")


if __name__ == "__main__":
    main()
