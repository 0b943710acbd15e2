# SPDX-License-Identifier: MIT
"""The state file of the setup scripts: whose it is, whether it is whole, and where it may be."""

from helpers.setup_host import *


def test_changes_of_another_owner_are_not_undone():
    need_program("nft", "ip", "sysctl")
    state = temp_path("state")
    with Namespace() as namespace:
        before = everything(namespace)
        common = ("--connections", "1000", "--state", state)
        script(namespace, SERVER, "--apply", *common, "--owner", "us")
        applied = everything(namespace)
        for who in ((), ("--owner", r"CORP\nina")):
            for what in ("--apply", "--revert"):
                r = script(namespace, SERVER, what, *common, *who, code=3)
                check(f"tuned by 'us', not by '{who[-1] if who else ''}'" in r.stderr, r.stderr)
                check_same(everything(namespace), applied, f"after {what} {who}")
        script(namespace, SERVER, "--check", *common)
        script(namespace, SERVER, "--revert", *common, "--owner", "us")
        check_same(everything(namespace), before, "after its owner's --revert")
        script(namespace, SERVER, "--apply", *common)
        script(namespace, SERVER, "--revert", *common, "--owner", "us", code=3)
        script(namespace, SERVER, "--revert", *common)


def test_persist_takes_nothing_over_from_another_owner():
    with Host() as host:
        before = host.everything()
        script(host, SERVER, "--apply", "--owner", "alice")
        applied = host.everything()
        os.makedirs(host.path("var/lib/tcpscaler"), mode=0o755)
        for what in ("--apply", "--revert"):
            r = script(host, SERVER, what, "--persist", "--owner", "bob", code=3)
            check("tuned by 'alice'" in r.stderr, r.stderr)
            check_equal(host.value("net.core.somaxconn"), "16384", f"somaxconn after {what} of another")
        script(host, SERVER, "--revert", "--owner", "alice")
        check(applied != before and host.value("net.core.somaxconn") == SYSCTLS["net/core/somaxconn"], "reverted by its owner")


def test_partly_written_state_is_ignored():
    need_program("nft", "ip", "sysctl")
    state = temp_path("state")
    with Namespace() as namespace:
        before = everything(namespace)
        common = ("--connections", "1000", "--state", state)
        script(namespace, SERVER, "--apply", *common)
        shutil.copy(state, state + ".new")  # of a script that was killed just before it replaced the old one
        script(namespace, SERVER, "--revert", *common)
        check_same(everything(namespace), before, "after --revert")


def test_interrupted_revert_is_finished_by_the_next():
    need_program("nft", "ip", "sysctl")
    state = temp_path("state")
    with Namespace() as namespace:
        before = everything(namespace)
        common = ("--connections", "1000", "--state", state)
        script(namespace, CLIENT, "--apply", *common, "--sources", "10.9.9.1-3,10.50.0.0/16", "--dev", "lo")
        shutil.copy(state, state + ".copy")
        script(namespace, CLIENT, "--revert", *common)
        shutil.move(state + ".copy", state)  # undone, and still on record
        script(namespace, CLIENT, "--revert", *common)
        check_same(everything(namespace), before, "after the second --revert")


NOBODY = 65534
TRAP = "file\t{}\tnew\nsysctl\tnet.core.somaxconn\t7\n"


def unsafe_states(directory, victim):
    """(what, the path of a state, what is said of it), each created by another user, or replaceable by one."""
    def made(name, mode=0o755, owner=0):
        path = os.path.join(directory, name)
        os.mkdir(path)
        os.chown(path, owner, -1)
        os.chmod(path, mode)
        return path

    def trap(path, mode=0o644, owner=0):
        write_text(path, TRAP.format(victim))
        os.chown(path, owner, -1)
        os.chmod(path, mode)
        return path

    link, link_of_others = (os.path.join(directory, name) for name in ("link", "link-of-others"))
    os.symlink(trap(os.path.join(made("target"), "state")), link)
    os.symlink(made("where"), link_of_others)
    os.chown(link_of_others, NOBODY, -1, follow_symlinks=False)
    return (("a link", link, "is a symbolic link"),
            ("a directory", made("directory"), "is not a regular file"),
            ("a file of somebody else", trap(made("a") + "/state", owner=NOBODY), "is not owned by root"),
            ("a file that others write", trap(made("b") + "/state", mode=0o666), "writable by others"),
            ("a file that a group writes", trap(made("c") + "/state", mode=0o664), "writable by others"),
            ("in a directory of somebody else", trap(made("d", owner=NOBODY) + "/state"), "is not owned by root"),
            ("in one that others write", trap(made("e", 0o777) + "/state"), "writable by others"),
            ("in one as /tmp is", trap(made("f", 0o1777) + "/state"), "writable by others"),
            ("below one of somebody else", os.path.join(made("g", owner=NOBODY), "new/state"), "is not owned by root"),
            ("below one that others write", os.path.join(made("h", 0o777), "new/state"), "writable by others"),
            ("by a link of somebody else", os.path.join(link_of_others, "state"), "is not owned by root"))


def test_state_that_others_could_have_written_is_refused():
    need_root()
    directory = temp_path("states")
    os.mkdir(directory)
    victim = temp_path("victim")
    with open(victim, "w"):
        pass
    with Namespace() as namespace:
        before = everything(namespace)
        for what, state, contains in unsafe_states(directory, victim):
            for mode in ("--apply", "--revert"):
                check_refused(*namespace.prefix, SERVER, mode, "--state", state, contains=contains)
                check(os.path.exists(victim), f"{mode} with {what}: nothing was removed")
        check_same(everything(namespace), before, "nothing was changed")
        # the control: --revert executes the same file if only root can have written it
        own = os.path.join(directory, "own")
        write_text(own, TRAP.format(victim))
        script(namespace, SERVER, "--revert", "--state", own)
        check_equal(value(namespace, "net.core.somaxconn"), ["7"], "somaxconn")
        check(not os.path.exists(victim), "the file that the state says is new")


def test_state_path_may_have_blanks_quotes_and_a_symlink_of_root():
    need_root()
    directory = temp_path("it's a $(state)")
    link = temp_path("link")
    os.symlink(os.path.dirname(directory), link)
    state = os.path.join(link, os.path.basename(directory), "-state *")
    with Namespace() as namespace:
        before = everything(namespace)
        script(namespace, SERVER, "--apply", "--state", state)
        check_equal(os.listdir(directory), ["-state *"], "state files")
        check(everything(namespace) != before, "it has changed something")
        script(namespace, SERVER, "--revert", "--state", state)
        check_same(everything(namespace), before, "after --revert")


if __name__ == "__main__":
    main(own_network=False)  # sysctls that a namespace does not have
