/* SPDX-License-Identifier: MIT
 * test_sock_resolve: which address of a name is chosen, and what is said when it cannot be looked
 * up. */
#include "net/sock_resolve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 2 };

static int result, n_lists;
static struct addrinfo hints_given, listed[MOST];
static struct sockaddr_in addresses[MOST];

/* Called by sock_resolve(). */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **list)
{
    (void)name;
    (void)service;
    hints_given = *hints;
    *list = result == 0 ? listed : NULL;
    n_lists += result == 0;
    errno = EMFILE;
    return result;
}

void freeaddrinfo(struct addrinfo *list)
{
    assert_ptr_equal(list, listed);
    n_lists--;
}

/* --- names that cannot be looked up --- */

static void errors_are_named(void **state)
{
    static const struct {
        int code, family;
        const char *why;
    } cases[] = {
        {EAI_SYSTEM, AF_UNSPEC, "'host': "},
        {EAI_NONAME, AF_UNSPEC, "'host': "},
        {EAI_NONAME, AF_INET, "'host': no IPv4 address (the family of --source): "},
        {EAI_NONAME, AF_INET6, "'host': no IPv6 address (the family of --source): "},
    };
    const struct endpoint e = {.host = "host"};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sock_address address;
        char error[SOCK_ERROR_BYTES], expected[SOCK_ERROR_BYTES];

        result = cases[i].code;
        snprintf(expected, sizeof expected, "%s%s", cases[i].why,
                 result == EAI_SYSTEM ? strerror(EMFILE) : gai_strerror(result));
        assert_int_equal(sock_resolve(&e, cases[i].family, &address, error), -1);
        assert_string_equal(error, expected);
        assert_int_equal(hints_given.ai_family, cases[i].family);
    }
}

/* --- the address chosen --- */

/* A name with these last bytes of its addresses, 127.0.0.X; 0: none. */
static void list(const int last_bytes[MOST])
{
    memset(listed, 0, sizeof listed);
    for (int i = 0; i < MOST; i++) {
        addresses[i] = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u + (uint32_t)last_bytes[i])};
        listed[i].ai_addr = (struct sockaddr *)&addresses[i];
        listed[i].ai_addrlen = sizeof addresses[i];
        if (i > 0 && last_bytes[i] != 0)
            listed[i - 1].ai_next = &listed[i];
    }
    result = 0;
}

/* Listens on 127.0.0.2 and a free port. */
static int listen_on_2(uint16_t *port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002)};
    socklen_t length = sizeof in;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    assert_int_equal(bind(fd, (const struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &length), 0);
    *port = ntohs(in.sin_port);
    return fd;
}

static void the_first_address_that_accepts_is_chosen(void **state)
{
    static const struct {
        int last_bytes[MOST];
        bool has_port, is_tried;
        int expected;
    } cases[] = {
        {{3, 2}, true, true, 2},   {{2, 3}, true, true, 2},
        {{3, 4}, true, false, 3},                            /* none accepts */
        {{3, 2}, false, false, 3}, {{2, 0}, true, false, 2}, /* there is no choice */
    };
    static const struct sock_greeting greeting = {.bytes = "hello", .n_bytes = 5};
    struct endpoint e = {.host = "host"};
    uint16_t port;
    const int fd = listen_on_2(&port);
    struct pollfd tried = {.fd = fd, .events = POLLIN};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sock_address a;
        char error[SOCK_ERROR_BYTES], bytes[8];
        int peer;

        list(cases[i].last_bytes);
        e.port = cases[i].has_port ? port : 0;
        assert_int_equal(sock_resolve_server(&e, AF_INET, &greeting, &a, error), 0);
        assert_int_equal(ntohl(((const struct sockaddr_in *)&a.ss)->sin_addr.s_addr),
                         0x7f000000 + cases[i].expected);
        assert_int_equal(sock_port(&a), e.port);
        assert_int_equal(hints_given.ai_family, AF_INET);
        assert_int_equal(n_lists, 0);
        assert_int_equal(poll(&tried, 1, cases[i].is_tried ? -1 : 0), cases[i].is_tried);
        if (!cases[i].is_tried)
            continue;
        peer = accept(fd, NULL, NULL);
        assert_true(peer >= 0);
        assert_int_equal(recv(peer, bytes, sizeof bytes, 0), greeting.n_bytes);
        assert_memory_equal(bytes, "hello", greeting.n_bytes);
        assert_int_equal(recv(peer, bytes, sizeof bytes, 0), -1);
        assert_int_equal(errno, ECONNRESET);
        close(peer);
    }
    close(fd);
}

static void without_a_server_to_try_the_first_address_is_taken(void **state)
{
    const struct endpoint e = {.host = "host", .port = 53};
    struct sock_address a;
    char error[SOCK_ERROR_BYTES];

    (void)state;
    list((int[MOST]){9, 8});
    assert_int_equal(sock_resolve(&e, AF_UNSPEC, &a, error), 0);
    assert_int_equal(ntohl(((const struct sockaddr_in *)&a.ss)->sin_addr.s_addr), 0x7f000009);
    assert_int_equal(sock_port(&a), 53);
    assert_int_equal(n_lists, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_named),
        cmocka_unit_test(the_first_address_that_accepts_is_chosen),
        cmocka_unit_test(without_a_server_to_try_the_first_address_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
