/* SPDX-License-Identifier: MIT
 * test_sock_resolve: what is said when a name cannot be looked up. */
#include "net/sock_resolve.h"

#include <errno.h>
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int result;

/* Called by sock_resolve(). */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **list)
{
    (void)name;
    (void)service;
    (void)hints;
    *list = NULL;
    errno = EMFILE;
    return result;
}

static void assert_says(int code, const char *text)
{
    const struct endpoint e = {.host = "host"};
    struct sock_address address;
    char error[SOCK_ERROR_BYTES];

    result = code;
    assert_int_equal(sock_resolve(&e, AF_UNSPEC, &address, error), -1);
    assert_non_null(strstr(error, text));
}

static void an_error_of_the_system_is_named(void **state)
{
    (void)state;
    assert_says(EAI_SYSTEM, strerror(EMFILE));
}

static void an_error_of_the_resolver_is_named(void **state)
{
    (void)state;
    assert_says(EAI_NONAME, gai_strerror(EAI_NONAME));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_of_the_system_is_named),
        cmocka_unit_test(an_error_of_the_resolver_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
