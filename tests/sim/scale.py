#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Twelve million connections in virtual time: instances of tcpclient, planned, opened, loaded and reported by its own code,
and merged by tcpreport.

    scale.py BUILD [-n INSTANCES] [-c CONNECTIONS] [-r RATE] [-t SECONDS]

Each instance has 20 source addresses of its own; their ports are planned (--source, --sport).  Prints the memory and the
real time of each instance and of the merge.  Fails if a connection is missing in the merged result.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

ADDRESSES = 20


def run_instance(options, directory, i):
    name = f"{directory}/{i}"
    command = [f"{options.build}/tests/sim/sim", "--program", "--force", "-q", "--threads", "1", "--seed", str(i), "-c", str(options.connections),
               "--source", f"127.1.{i}.1-127.1.{i}.{ADDRESSES}", "--sport", "1024-65535", "-r", str(options.rate), "-t", f"{options.seconds}s",
               "--json", f"{name}.json", "--hlog", f"{name}.hlog", "127.0.0.1:53"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(f"instance {i}: {done.stdout.replace(chr(10), '; ')}".rstrip("; "), flush=True)
    if done.returncode not in (0, 3):
        sys.exit(f"instance {i}: exit code {done.returncode}")
    return [f"{name}.json", f"{name}.hlog"]


def merge(options, directory, files):
    merged = f"{directory}/all.json"
    begin = time.monotonic()
    subprocess.run([f"{options.build}/tcpreport", "merge", "--json", merged, "--hlog", f"{directory}/all.hlog", *files], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"merge of {len(files)} files, {sum(os.path.getsize(f) for f in files)} bytes: {time.monotonic() - begin:.2f} s")
    begin = time.monotonic()
    subprocess.run([f"{options.build}/tcpreport", "show", merged, f"{directory}/all.hlog"], check=True, stdout=subprocess.DEVNULL)
    print(f"report: {time.monotonic() - begin:.2f} s")
    with open(merged, encoding="utf-8") as f:
        return json.load(f)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("-n", dest="instances", type=int, default=10)
    parser.add_argument("-c", dest="connections", type=int, default=1_200_000)
    parser.add_argument("-r", dest="rate", type=int, default=100_000, help="queries per second of each instance")
    parser.add_argument("-t", dest="seconds", type=int, default=5)
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        files = sum((run_instance(options, directory, i) for i in range(options.instances)), [])
        result = merge(options, directory, files)
    proven = result["connections"]["proven"]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{proven} connections proven, {result['queries']['sent']} queries; {time.monotonic() - begin:.0f} s in all; "
          f"largest process {peak / 1024:.0f} MiB, simulation included")
    if proven != options.instances * options.connections:
        sys.exit("connections are missing")


if __name__ == "__main__":
    main()
