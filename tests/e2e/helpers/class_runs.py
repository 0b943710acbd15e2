# SPDX-License-Identifier: MIT
"""Runs of several classes of clients, and the check that the results of the classes add up."""

from helpers.harness import *

COUNTS = ("scheduled", "sent", "unsent", "answered", "timeout", "error", "cancelled", "blocked", "rerouted", "unconnected")


def class_arguments(port, *arguments, connections=100, classes=()):
    named = [word for settings in classes for word in ("--class", settings)]
    return ["-p", port, "-c", connections, "--stats-interval", 0, *named, *arguments, "127.0.0.1"]


def run_classes(*arguments, **classes):
    return run_client(*class_arguments(*arguments, **classes))


def check_classes(r):
    """The classes add up, recomputed from the JSON."""
    check_conservation(r)
    classes, latency = r.json["classes"], r.json["latency_ns"]
    with whatever_happens():
        for kind in ("queries", "warmup", "probes"):
            for count in COUNTS:
                check_equal(sum(c[kind][count] for c in classes.values()), r.json[kind][count], f"{kind}: {count}")
        for count in ("attempted", "connected", "proven"):
            check_equal(sum(c["connections"][count] for c in classes.values()), r.json["connections"][count], count)
        for name, c in classes.items():
            q = c["queries"]
            check_equal(q["scheduled"], q["sent"] + q["unsent"], f"{name}: scheduled")
            for metric in ("response", "service"):
                check_equal(latency[f"{metric}:{name}"]["count"], q["answered"], f"{name}: {metric} times")
            check_equal(latency[f"response:{name}"]["over"], q["scheduled"] - q["answered"], f"{name}: unanswered")
        for metric in ("response", "service"):
            of_each = [latency[f"{metric}:{name}"] for name in classes if latency[f"{metric}:{name}"]["count"] > 0]
            check_equal(min(times["min"] for times in of_each), latency[metric]["min"], f"least {metric} time")
            check_equal(max(times["max"] for times in of_each), latency[metric]["max"], f"longest {metric} time")
    return classes


def check_near(value, want, percent, what):
    check(abs(value - want) <= want * percent / 100, f"{what}: {value}, expected {want} +- {percent} %")
