# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: the network interface, its interrupts, queues and rings.

# Writes a kernel file that holds one value.
write_value() {
    write_kernel "$1" "$2"
}

# restore_value FILE VALUE: the interrupt or the interface may be gone.
restore_value() {
    [ -e "$1" ] || {
        note "$1: no longer present, skipped"
        return 0
    }
    [ "$(cat -- "$1")" = "$2" ] || write_value "$1" "$2" || {
        note "$1: $why"
        return 1
    }
}

# plain_mask MASK: without the leading zeros that the kernel prints.
plain_mask() {
    echo "$1" | sed 's/^[0,]*//; s/^$/0/'
}

# has_value FILE IS WANTED: lists of CPUs are compared as they are, masks by their value.
has_value() {
    case $1 in
    *_list) [ "$2" = "$3" ] ;;
    *) [ "$(plain_mask "$2")" = "$(plain_mask "$3")" ] ;;
    esac
}

# want_value FILE LABEL WANTED REASON
want_value() {
    [ -r "$1" ] || return 0
    is=$(cat -- "$1" 2>/dev/null) || return 0
    if has_value "$1" "$is" "$3"; then
        show "$2" "$is" "$3" ok "$4"
        claim value "$1"
    else
        show "$2" "$is" "$3" differs "$4"
        change value "$1" "$is" write_value "$1" "$3"
    fi
}

# --- CPUs ---

# list_cpus LIST: expands "0-3,8", one CPU per line.
list_cpus() {
    for span in $(echo "$1" | tr , ' '); do
        at=${span%-*}
        while [ "$at" -le "${span#*-}" ]; do
            echo "$at"
            at=$((at + 1))
        done
    done
}

# device_of IFACE: the device that has the interrupts; for a virtio interface, its parent.
device_of() {
    device=$(readlink -f "/sys/class/net/$1/device")
    [ -d "$device/msi_irqs" ] || device=${device%/*}
    echo "$device"
}

# cpus_of IFACE: the online CPUs of its NUMA node, one per line; all if it has no node.
cpus_of() {
    online=$(list_cpus "$(cat /sys/devices/system/cpu/online)")
    device=$(device_of "$1")
    [ -e "$device/local_cpulist" ] || device=/sys/class/net/$1/device
    near=$(list_cpus "$(cat "$device/local_cpulist" 2>/dev/null)" | grep -Fx -e "$online") || near=$online
    echo "$near"
}

# mask_of CPU...: as hexadecimal groups of 32 bits, the kernel's format.
mask_of() {
    last=0 mask=''
    for cpu; do
        [ "$cpu" -le "$last" ] || last=$cpu
    done
    group=$((last / 32))
    while [ "$group" -ge 0 ]; do
        bits=0
        for cpu; do
            [ $((cpu / 32)) -ne $group ] || bits=$((bits | 1 << cpu % 32))
        done
        mask=$mask${mask:+,}$(printf '%08x' "$bits")
        group=$((group - 1))
    done
    plain_mask "$mask"
}

# --- interrupts ---

# irqs_of IFACE: the numbers of its packet interrupts.  A driver may name them after the device (mlx5_comp0@pci:...,
# virtio2-input.0), so they are taken from the device.
irqs_of() {
    irqs=' '
    for irq in "$(device_of "$1")"/msi_irqs/*; do
        [ ! -e "$irq" ] || irqs="$irqs${irq##*/} "
    done
    awk -v device="$1" -v irqs="$irqs" '
        $1 ~ /^[0-9]+:$/ {
            number = substr($1, 1, length($1) - 1)
            mine = irqs ~ /[0-9]/ ? index(irqs, " " number " ") : $NF == device || index($NF, device "-") == 1
            if (mine && $NF !~ /config|async|control|ctrl|fdir|misc|mbx/)
                print number
        }' /proc/interrupts
}

warn_of_irqbalance() {
    ! grep -qsx irqbalance /proc/[0-9]*/comm ||
        note "irqbalance is running and will move the interrupts: stop it (systemctl stop irqbalance), or ban these interrupts in its settings"
}

# pick N CPU...: the CPU for queue N (from 0), round-robin.
pick() {
    turn=$(($1 % ($# - 1)))
    shift $((turn + 1))
    echo "$1"
}

want_irq() {
    irqs=$(irqs_of "$1")
    [ -n "$irqs" ] || {
        if [ -d "/sys/class/net/$1" ]; then
            note "--irq: $1 has no interrupts"
        else
            note "--irq: no such interface: $1"
        fi
        differing=$((differing + 1)) refused=$((refused + 1))
        return 0
    }
    warn_of_irqbalance
    cpus=$(cpus_of "$1") n=0
    for irq in $irqs; do
        # shellcheck disable=SC2086 # numbers
        want_value "/proc/irq/$irq/smp_affinity_list" "irq $irq of $1" "$(pick $n $cpus)" \
            "one CPU per queue, on the NIC's NUMA node"
        n=$((n + 1))
    done
}

# --- queues ---

# queues_of IFACE rx|tx: in numeric order.
queues_of() {
    number=0
    while [ -d "/sys/class/net/$1/queues/$2-$number" ]; do
        echo "/sys/class/net/$1/queues/$2-$number"
        number=$((number + 1))
    done
}

count_lines() {
    printf '%s' "$1" | grep -c .
}

# If a NIC has fewer receive queues than CPUs, its packets are spread over all CPUs of its node.  Each CPU gets its own
# send queue, as far as there are enough.
want_rps() {
    cpus=$(cpus_of "$1") receiving=$(queues_of "$1" rx) sending=$(queues_of "$1" tx)
    [ -n "$receiving" ] || {
        note "--rps: no such interface: $1"
        differing=$((differing + 1)) refused=$((refused + 1))
        return 0
    }
    n_cpus=$(count_lines "$cpus") n_rx=$(count_lines "$receiving") n_tx=$(count_lines "$sending" || true)
    # shellcheck disable=SC2086 # numbers
    all=$(mask_of $cpus)
    if [ "$n_rx" -lt "$n_cpus" ]; then
        for queue in $receiving; do
            want_value "$queue/rps_cpus" "RPS of $1 ${queue##*/}" "$all" \
                "fewer receive queues ($n_rx) than CPUs ($n_cpus)"
        done
    fi
    [ "$n_tx" -gt 1 ] || return 0
    for queue in $sending; do
        number=${queue##*-} n=0 mine=
        for cpu in $cpus; do
            [ $((n % n_tx)) -ne "$number" ] || mine="$mine $cpu"
            n=$((n + 1))
        done
        # shellcheck disable=SC2086 # numbers
        [ -z "$mine" ] || want_value "$queue/xps_cpus" "XPS of $1 ${queue##*/}" "$(mask_of $mine)" \
            "no send lock shared between CPUs"
    done
}

# --- rings ---

# ring_of IFACE RX|TX 1|2: the maximum (1) or current (2) size as reported by ethtool.
ring_of() {
    ethtool -g "$1" 2>/dev/null | awk -v name="$2:" -v n="$3" '$1 == name && NF == 2 && ++seen == n { print $2 }'
}

set_ring() {
    ethtool -G "$1" "$2" "$3"
}

# undo_ring "IFACE rx|tx" SIZE
undo_ring() {
    # shellcheck disable=SC2086 # words
    set -- $1 "$2"
    if [ -e "/sys/class/net/$1" ] &&
        [ "$(ring_of "$1" "$(echo "$2" | tr '[:lower:]' '[:upper:]')" 2)" != "$3" ]; then
        set_ring "$1" "$2" "$3"
    fi
}

# want_ring IFACE rx|tx RX|TX
want_ring() {
    most=$(ring_of "$1" "$3" 1) is=$(ring_of "$1" "$3" 2)
    if ! is_count "$most" || ! is_count "$is"; then
        note "--rings: $1 has no configurable $2 ring"
    elif [ "$is" -ge "$most" ]; then
        show "$2 ring of $1" "$is" "$most" ok "packets queued in the NIC"
        claim ring "$1 $2"
    else
        show "$2 ring of $1" "$is" "$most" differs "packets queued in the NIC; many NICs drop the link briefly when this changes"
        change ring "$1 $2" "$is" set_ring "$1" "$2" "$most"
    fi
}

# Interrupt coalescing trades latency for CPU time: it is reported, not changed.
show_coalescing() {
    usecs=$(ethtool -c "$1" 2>/dev/null | awk '$1 == "rx-usecs:" { print $2 }')
    adaptive=$(ethtool -c "$1" 2>/dev/null | awk '$1 == "Adaptive" { print $3 }')
    ! is_count "$usecs" || show "coalescing of $1" "$usecs us, adaptive $adaptive" any ok \
        "delays packets by up to this time; 'ethtool -C $1 adaptive-rx off rx-usecs 0' avoids it but costs CPU time"
}

want_rings() {
    command -v ethtool >/dev/null || {
        note "--rings: ethtool is not installed"
        differing=$((differing + 1)) refused=$((refused + 1))
        return 0
    }
    want_ring "$1" rx RX
    want_ring "$1" tx TX
    show_coalescing "$1"
}
