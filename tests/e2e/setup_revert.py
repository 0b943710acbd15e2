# SPDX-License-Identifier: MIT
"""The setup scripts revert exactly: both on one host, after reboots and flushes, killed anywhere."""

import errno

from helpers.setup_host import *


def check_tuned(host, path):
    script(host, path, "--check", *arguments_of(path))


def orders():
    """(what is applied first, what is reverted first)."""
    return ((first, reverted) for first in (SERVER, CLIENT) for reverted in (SERVER, CLIENT))


def other(path):
    return CLIENT if path == SERVER else SERVER


def test_both_scripts_on_one_host_in_every_order_leave_no_trace():
    need_program("nft", "ip")
    for first, reverted in orders():
        with Host() as host:
            what, before = f"{first} first, {reverted} reverted first", host.everything()
            for path in (first, other(first), *([first] if reverted != first else [])):  # the other may have raised a value
                apply(host, path)
            for path in (first, other(first)):
                check_tuned(host, path)
            for name, least in (("fs.file-max", 170000), ("fs.nr_open", 40000)):
                check(int(host.value(name)) >= least, f"{what}: {name} for the client: {host.value(name)}")
            check_equal(host.value("net.ipv4.tcp_mem"), "32500 48750 65000", what)
            revert(host, reverted)
            check(host.value("fs.file-max") != SYSCTLS["fs/file-max"], f"{what}: file-max is still needed")
            check_tuned(host, other(reverted))
            revert(host, other(reverted))
            check_same(host.everything(), before, what)


def test_states_in_one_directory_know_each_other():
    directory = temp_path("states")
    os.mkdir(directory)
    with Host() as host:
        before = host.everything()
        for path in (SERVER, CLIENT):
            apply(host, path, "--state", os.path.join(directory, os.path.basename(path)))
        for path in (SERVER, CLIENT):
            script(host, path, "--revert", "--state", os.path.join(directory, os.path.basename(path)))
        check_same(host.everything(), before, "after both --revert")
        check_equal(os.listdir(directory), [], "files left")


def test_directories_made_for_the_state_are_removed():
    top = temp_path("new")
    with Host() as host:
        for path in (SERVER, CLIENT):
            apply(host, path, "--state", os.path.join(top, "a/b", os.path.basename(path)))
        for path in (SERVER, CLIENT):
            script(host, path, "--revert", "--state", os.path.join(top, "a/b", os.path.basename(path)))
    check(not os.path.exists(top), f"{top} is gone")


def test_rules_addresses_and_routes_removed_by_others_do_not_stop_revert():
    removals = {"IPv4": ("ip addr del 10.9.9.1/32 dev lo", "ip route del local 10.50.0.0/16"),
                "IPv6": ("ip -6 addr del 2001:db8::1/128 dev lo", "ip -6 route del local fd50::/48 dev lo")}
    for family, commands in removals.items():
        with Host() as host:
            before = host.everything()
            apply(host, SERVER)
            apply(host, CLIENT, family=family)
            for command in ("nft flush ruleset", *commands):
                host.run(*command.split())  # fails if there is nothing to remove
            for path in (CLIENT, SERVER):
                revert(host, path)
            check_same(host.everything(), before, family)


def test_tools_are_found_with_the_path_of_cron():
    """They are in sbin, which it lacks."""
    need_program("nft", "ip")
    env = {"PATH": "/usr/bin:/bin"}
    with Host() as host:
        before = host.everything()
        apply(host, CLIENT, env=env)
        check(any("notrack" in line for line in network(host)), "the rule")
        revert(host, CLIENT, env=env)
        check_same(host.everything(), before, "after --revert")


def test_revert_without_the_tool_that_finds_a_change_keeps_the_state():
    need_program("nft", "ip")
    with Host() as host:
        before = host.everything()
        apply(host, CLIENT)
        for tool in ("nft", "ip"):
            path = os.path.realpath(shutil.which(tool))
            host.run("mount", "-n", "--bind", "/dev/null", path)
            r = revert(host, CLIENT, code=3)
            host.run("umount", "-n", path)
            check(f"cannot find '{tool}': repeat this" in r.stderr, r.stderr)
            check(os.path.exists(host.path("run/tcpscaler/setup-client.state")), "the state")
        revert(host, CLIENT)
        check_same(host.everything(), before, "after --revert")


def test_address_taken_over_by_somebody_else_stays():
    with Host() as host:
        apply(host, CLIENT)
        host.run("ip", "addr", "del", "10.9.9.1/32", "dev", "lo")
        host.run("ip", "addr", "add", "10.9.9.1/24", "dev", "lo")
        revert(host, CLIENT)
        check(any("inet 10.9.9.1/24" in line for line in network(host)), "the address of another program")


def test_missing_values_do_not_stop_revert():
    with Host() as host:
        apply(host, SERVER)
        os.remove(host.path("proc/sys/net/netfilter/nf_conntrack_max"))  # as when a module is unloaded
        r = revert(host, SERVER)
        check("nf_conntrack_max: no longer in this kernel" in r.stderr, r.stderr)
        check_equal(host.value("fs.file-max"), SYSCTLS["fs/file-max"], "file-max")


def killed(host, path, mode, call, n):
    """Runs the script, to be killed on entering its n-th system call of this kind. Returns whether it was."""
    r = run_command([*host.prefix, "strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                     f"inject={call}:signal=KILL:when={n}", path, mode, *arguments_of(path), "--persist"])
    return r.returncode == -signal.SIGKILL


def kill_points(path, mode, call, step):
    """Applies (and reverts) on one host, killed at one call after the other; after each, --revert restores everything."""
    with Host() as host:
        before, n = host.everything(), 1
        while n < 1000:
            if mode == "--revert":
                apply(host, path, "--persist")
            ended = not killed(host, path, mode, call, n)
            if n % 2 == 0:
                host.run("nft", "flush", "ruleset")
            revert(host, path)
            check_same(host.everything(), before, f"{path} {mode} killed at {call} {n}, then --revert")
            if ended:
                return n
            n += step
    return n


def need_strace():
    need_program("strace")
    if subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        skip("strace cannot trace here")


@plain_build_only
def test_client_killed_at_every_third_write_is_undone_or_finished():
    need_strace()
    for mode in ("--apply", "--revert"):
        check(kill_points(CLIENT, mode, "write", 3) > 10, f"writes of {mode}")


@plain_build_only
@in_deep_only
def test_scripts_killed_at_every_write_are_undone_or_finished():
    need_strace()
    for path in (CLIENT, SERVER):
        for mode in ("--apply", "--revert"):
            check(kill_points(path, mode, "write", 1) > 10, f"writes of {path} {mode}")


@plain_build_only
def test_scripts_killed_while_starting_commands_leave_no_trace():
    need_strace()
    for mode in ("--apply", "--revert"):
        check(kill_points(CLIENT, mode, "clone", 23) > 50, f"commands of {mode}")


def test_scripts_that_run_at_once_wait_for_each_other():
    need_program("flock")
    lock_wait = ("--lock-wait", str(HANGS_S))  # the last one waits for three others
    with Host() as host:
        before = host.everything()
        for mode, of_mode in (("--apply", arguments_of), ("--revert", lambda _: ())):
            running = [spawn([*host.prefix, path, mode, *lock_wait, *of_mode(path)], stderr=subprocess.DEVNULL)
                       for path in (SERVER, CLIENT, SERVER, CLIENT)]
            check_equal([process.wait(HANGS_S) for process in running], [0, 0, 0, 0], f"exit codes of {mode}")
        check_same(host.everything(), before, "after --revert")


def opened_for_a_reader(fifo, process, err):
    """Opens a FIFO for writing once the process reads from it."""
    def look():
        check(process.poll() is None, f"it ended before it read {fifo}: {read_text(err)}")
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            check_equal(error.errno, errno.ENXIO, "no reader yet")
    return wait_for(look, f"a reader of {fifo}")


def test_apply_on_a_full_disk_is_undone_and_can_be_repeated():
    """There is a page for the lock and one for the state, half of which the owner takes: an entry is cut short."""
    need_program("mount")
    with Host() as host:
        directory = temp_path("full")
        os.mkdir(directory)
        host.run("mount", "-t", "tmpfs", "-o", "size=8k,mode=755", "tmpfs", directory)
        before = host.everything()  # mount(8) makes a directory in /run
        state = ("--state", os.path.join(directory, "state"), "--owner", "us" * 1000)
        many = ("--sources", "10.9.9.1-120", "--dev", "lo")
        for _ in range(2):
            r = script(host, CLIENT, "--apply", *many, *state, code=3)
            check("nothing more was changed" in r.stderr, r.stderr)
            check(host.run("tail", "-c", "1", state[1]).stdout != "\n", "the control: an entry that was cut short")
        script(host, CLIENT, "--revert", *state)
        check_same(host.everything(), before, "after --revert")
        script(host, CLIENT, "--apply", *many, *state, code=3)
        host.run("mount", "-o", "remount,size=100k", directory)
        script(host, CLIENT, "--apply", *many, *state)
        script(host, CLIENT, "--revert", *state)
        check_same(host.everything(), before, "after --apply went on, and --revert")


def test_full_disk_loses_no_record():
    """Neither of what a reboot leaves, nor when --persist moves it, or another timer starts."""
    need_program("mount")
    with Host() as host:
        full, durable = temp_path("full"), "/var/lib/tcpscaler"
        for directory in (full, host.path("var/lib/tcpscaler")):
            os.mkdir(directory)
        for directory in (full, durable):
            host.run("mount", "-t", "tmpfs", "-o", "size=100k,mode=755", "tmpfs", directory)
        before, state, timer = host.everything(), ("--state", f"{full}/state"), ("--revert-after", "1h")

        def check_kept(directory, *commands):
            """Each of them fails on a full disk and keeps the files that are there."""
            host.run("sh", "-c", f"! cat /dev/zero >{directory}/fill")
            look = ("sh", "-c", f"ls -A {directory}; grep -v ^timer {directory}/*state || true")
            kept = host.run(*look).stdout
            for command in commands:
                r = script(host, SERVER, *command, code=3)
                check("nothing more was changed; make it writable and repeat " + command[0] in r.stderr, r.stderr)
                check_equal(host.run(*look).stdout, kept, f"files after {command}")
            host.run("rm", f"{directory}/fill")

        script(host, SERVER, "--apply")
        check_kept(durable, ("--apply", "--persist"))
        script(host, SERVER, "--revert")
        script(host, SERVER, "--apply", *state, *timer)
        check_kept(full, ("--apply", *state, *timer))
        script(host, SERVER, "--apply", *state, "--persist")
        host.write("proc/sys/kernel/random/boot_id", "second\n")
        check_kept(full, ("--revert", *state), ("--apply", *state))
        script(host, SERVER, "--revert", *state)
        host.write("proc/sys/kernel/random/boot_id", SYSCTLS["kernel/random/boot_id"] + "\n")
        check_same(host.everything(), before, "after --revert")


def test_truncated_entry_changes_nothing():
    with Host() as host:
        before = host.everything()
        apply(host, SERVER)
        with open(host.path("run/tcpscaler/setup-server.state"), "a") as f:
            f.write("sysctl\tnet.ipv4.tcp_max_orphans\t10")  # of 100
        apply(host, CLIENT)
        revert(host, SERVER)
        revert(host, CLIENT)
        check_same(host.everything(), before, "after both --revert")


def test_revert_that_waited_for_persist_undoes_it():
    need_program("flock")
    with Host() as host:
        before = host.everything()
        somaxconn = host.path("proc/sys/net/core/somaxconn")
        os.unlink(somaxconn)
        os.mkfifo(somaxconn)
        err, err_of_apply = temp_path("err"), temp_path("err")
        with open(err_of_apply, "w") as f:
            applying = spawn([*host.prefix, SERVER, "--apply", "--persist"], stderr=f)
        with os.fdopen(opened_for_a_reader(somaxconn, applying, err_of_apply), "w") as fifo:  # now it reads this, with the lock
            with open(err, "w") as f:
                reverting = spawn([*host.prefix, SERVER, "--revert"], stderr=f)
            wait_for(lambda: "waiting for" in read_text(err), "the one that waits")
            os.unlink(somaxconn)
            host.write("proc/sys/net/core/somaxconn", SYSCTLS["net/core/somaxconn"] + "\n")
            fifo.write(SYSCTLS["net/core/somaxconn"] + "\n")
        check_equal((applying.wait(HANGS_S), reverting.wait(HANGS_S)), (0, 0), "exit codes")
        check_same(host.everything(), before, "after --revert")


def test_waiting_script_names_what_it_waits_for():
    need_program("flock", "pgrep")
    with Host() as host:
        somaxconn = host.path("proc/sys/net/core/somaxconn")
        os.unlink(somaxconn)
        os.mkfifo(somaxconn)  # a script that reads it blocks, with the lock
        holder = spawn([*host.prefix, SERVER, "--apply"], stderr=subprocess.DEVNULL, start_new_session=True)
        wait_for(lambda: os.path.exists(host.path("run/tcpscaler.lock")) and
                 read_text(host.path("run/tcpscaler.lock")), "the lock")
        named = f"process {holder.pid} (setup-server.sh --apply)"
        r = script(host, CLIENT, "--apply", "--lock-wait", "0", code=3)
        check_equal(r.stderr, f"setup-client.sh: nothing was changed: {named} is running (lock: /run/tcpscaler.lock)\n", "stderr")
        r = script(host, CLIENT, "--apply", "--lock-wait", "1", code=3)
        check_equal([named in line for line in r.stderr.splitlines()], [True, True], f"lines: {r.stderr}")
        err = temp_path("err")
        with open(err, "w") as f:
            waiting = spawn([*host.prefix, CLIENT, "--apply"], stderr=f)
        wait_for(lambda: read_text(err), "what it says")
        check_equal(read_text(err), f"setup-client.sh: waiting for {named}, at most 60 s (lock: /run/tcpscaler.lock)\n", "stderr")
        check_equal(waiting.poll(), None, "exit code of the one that waits")
        interrupted = spawn([*host.prefix, CLIENT, "--apply"], stderr=subprocess.PIPE, start_new_session=True)
        interrupted.stderr.readline()
        wait_for(lambda: subprocess.run(["pgrep", "-P", str(interrupted.pid), "-x", "flock"], capture_output=True).returncode == 0,
                 "flock of the one that is told to end")
        os.killpg(interrupted.pid, signal.SIGTERM)
        check_equal(interrupted.wait(HANGS_S), 143, "exit code of one that is told to end while it waits")
        check(os.path.exists(host.path("run/tcpscaler.lock")), "the lock of the holder is still there")
        os.killpg(holder.pid, signal.SIGKILL)
        holder.wait()
        with stall_may_spoil():
            check_equal(waiting.wait(HANGS_S), 0, "exit code after the other has ended")


if __name__ == "__main__":
    main(own_network=False)
