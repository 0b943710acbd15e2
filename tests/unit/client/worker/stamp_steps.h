/* SPDX-License-Identifier: MIT
 * stamp_steps: a recvmsg(2) that the tests of receiving share. */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_WORKER_STAMP_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_WORKER_STAMP_STEPS_H

#include <time.h> /* linux/errqueue.h uses struct timespec without declaring it */

#include <linux/errqueue.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What arrives, arrives now. */
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    const struct cmsghdr head = {.cmsg_len = CMSG_LEN(sizeof(struct scm_timestamping)),
                                 .cmsg_level = SOL_SOCKET,
                                 .cmsg_type = SCM_TIMESTAMPING};
    struct scm_timestamping stamps = {0};
    const ssize_t n = syscall(SYS_recvmsg, fd, message, flags);

    if (n <= 0)
        return n;
    clock_gettime(CLOCK_REALTIME, (struct timespec *)&stamps.ts[0]);
    message->msg_controllen = CMSG_SPACE(sizeof stamps);
    memcpy(message->msg_control, &head, sizeof head);
    memcpy(CMSG_DATA((struct cmsghdr *)message->msg_control), &stamps, sizeof stamps);
    return n;
}

#endif
