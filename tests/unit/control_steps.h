/* SPDX-License-Identifier: MIT
 * control_steps: a control port without a socket, whose requests the test makes.  Tests that
 * include this are linked with --wrap=control_http_start. */
#ifndef TCPSCALER_TESTS_UNIT_CONTROL_STEPS_H
#define TCPSCALER_TESTS_UNIT_CONTROL_STEPS_H

#include "net/control_http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct control_http *started; /* what control_http_start() returns */
static control_http_handler *handler;
static void *handler_context;
static unsigned known_commands;

static char *text; /* the last response */
static struct control_reply reply;

struct control_http *__wrap_control_http_start(struct event_base *base,
                                               struct control_socket *socket,
                                               const struct control_token *token, unsigned known,
                                               control_http_handler *handle, void *context);

struct control_http *__wrap_control_http_start(struct event_base *base,
                                               struct control_socket *socket,
                                               const struct control_token *token, unsigned known,
                                               control_http_handler *handle, void *context)
{
    (void)base, (void)socket, (void)token;
    handler = handle;
    handler_context = context;
    known_commands = known;
    return started;
}

/* Leaves the response in `text`, to be freed. */
static inline enum control_status ask(enum control_command command, uint64_t n)
{
    const struct control_request q = {.command = command, .n = n, .qps = (double)n};
    enum control_status status;
    size_t n_bytes;

    memset(&reply, 0, sizeof reply);
    reply.out = open_memstream(&text, &n_bytes);
    status = handler(handler_context, &q, &reply);
    fclose(reply.out);
    return status;
}

static inline void assert_answer(enum control_command command, uint64_t n, const char *answer)
{
    assert_int_equal(ask(command, n), CONTROL_OK);
    assert_string_equal(text, answer);
    free(text);
}

#endif
