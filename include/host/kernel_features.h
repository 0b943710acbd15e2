/* SPDX-License-Identifier: MIT
 * kernel_features: features that a kernel may lack or a container may forbid.  A program uses those
 * it finds and continues without the others, after one warning that names the consequence. */
#ifndef TCPSCALER_HOST_KERNEL_FEATURES_H
#define TCPSCALER_HOST_KERNEL_FEATURES_H

enum {
    FEATURE_FD_TABLES = 1 << 0, /* unshare(CLONE_FILES) */
    FEATURE_STAMPS = 1 << 1,    /* SO_TIMESTAMPING */
    FEATURE_SOCK_DIAG = 1 << 2, /* sock_diag(7) */
    FEATURE_IPV6 = 1 << 3,
    FEATURE_PROC = 1 << 4, /* the files under /proc that host/limits.h and host/counters.h read */
    FEATURE_DROPS = 1 << 5 /* SO_MEMINFO */
};

/* Checks for each feature of the set; one line on stderr for each that is missing.  Main thread. */
void kernel_features_warn(unsigned wanted);

#endif
