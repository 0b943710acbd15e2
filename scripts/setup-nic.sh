# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: the network interface and its interrupts.

# A file of the kernel with one value.
write_value() {
    echo "$2" >"$1"
}

want_irq() {
    n_cpus=$(nproc) cpu=0 found=
    # shellcheck disable=SC2013 # numbers
    for irq in $(awk -v device="$1" 'index($0, device) { sub(":", "", $1); print $1 }' /proc/interrupts); do
        file=/proc/irq/$irq/smp_affinity_list
        [ -r "$file" ] || continue
        found=yes is=$(cat "$file")
        if [ "$is" = "$cpu" ]; then
            show "irq $irq of $1" "cpu $is" "cpu $cpu" ok "a CPU for each queue"
            claim value "$file"
        else
            show "irq $irq of $1" "cpu $is" "cpu $cpu" differs "a CPU for each queue"
            change value "$file" "$is" write_value "$file" "$cpu"
        fi
        cpu=$(((cpu + 1) % n_cpus))
    done
    [ -n "$found" ] || note "$1: no interrupts of this name in /proc/interrupts"
}

# restore_value FILE VALUE: the interrupt or the interface may be gone.
restore_value() {
    [ -e "$1" ] || {
        note "$1: gone, left out"
        return 0
    }
    [ "$(cat -- "$1")" = "$2" ] || write_value "$1" "$2"
}
