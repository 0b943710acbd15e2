/* SPDX-License-Identifier: MIT
 * source_list: see host/source_list.h. */
#include "host/source_list.h"

#include "base/inputs.h"
#include "base/textfile.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MARK  '@'
#define IFACE_MARK "iface:"

enum { MOST_TEXT_BYTES = 4 << 20 };

static char *trim(char *text)
{
    text[strcspn(text, "#\r")] = '\0';
    text += strspn(text, " \t");
    for (size_t n = strlen(text); n > 0 && strchr(" \t", text[n - 1]) != NULL; n--)
        text[n - 1] = '\0';
    return text;
}

/* Converts "fe80::1%eth0" to the form of srcplan, "fe80::1%2". */
static int add_zoned(struct srcplan *p, const char *item, const char *zone, char *error)
{
    char name[IF_NAMESIZE], numbered[256];
    const size_t n_name = strcspn(zone + 1, "/");
    unsigned index = 0;

    if (n_name < sizeof name) {
        snprintf(name, sizeof name, "%.*s", (int)n_name, zone + 1);
        index = if_nametoindex(name);
    }
    if (index == 0) {
        snprintf(error, SRCPLAN_ERROR_BYTES,
                 "invalid value '%.80s': expected an interface of this host after %%", item);
        return -1;
    }
    if (snprintf(numbered, sizeof numbered, "%.*s%%%u%s", (int)(zone - item), item, index,
                 zone + 1 + n_name) >= (int)sizeof numbered)
        numbered[0] = '\0';
    return srcplan_add_sources(p, numbered, error);
}

static int add_addresses(struct srcplan *p, const char *item, char *error)
{
    const char *zone = strchr(item, '%');

    return zone != NULL ? add_zoned(p, item, zone, error) : srcplan_add_sources(p, item, error);
}

static int add_lines(struct srcplan *p, const char *file, char *text, char *error)
{
    char *line, reason[SRCPLAN_ERROR_BYTES];

    for (unsigned number = 1; (line = strsep(&text, "\n")) != NULL; number++) {
        const char *item = trim(line);

        if (*item != '\0' && add_addresses(p, item, reason) != 0) {
            snprintf(error, SOURCE_LIST_ERROR_BYTES, "%.80s:%u: %s", file, number, reason);
            return -1;
        }
    }
    return 0;
}

static int add_file(struct srcplan *p, const char *name, char *error)
{
    const uint64_t n_before = p->n_addresses;
    size_t n_bytes;
    char *text = textfile_read(name, MOST_TEXT_BYTES, &n_bytes);
    int failed;

    inputs_add(name);
    if (text == NULL || memchr(text, 0, n_bytes) != NULL) {
        snprintf(error, SRCPLAN_ERROR_BYTES, "'@%.80s': %s", name,
                 text != NULL ? "not a text file" : strerror(errno));
        free(text);
        return -1;
    }
    failed = add_lines(p, name, text, error);
    free(text);
    if (!failed && p->n_addresses == n_before) {
        snprintf(error, SRCPLAN_ERROR_BYTES, "'@%.80s': no address found", name);
        return -1;
    }
    return failed;
}

static bool is_link_local(const struct sockaddr *a)
{
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static const void *bytes_of(const struct sockaddr *a)
{
    return a->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)a)->sin_addr
                                   : &((const struct sockaddr_in6 *)a)->sin6_addr;
}

static int add_address(struct srcplan *p, const struct sockaddr *a, char *error)
{
    char text[INET6_ADDRSTRLEN];

    inet_ntop(a->sa_family, bytes_of(a), text, sizeof text);
    return srcplan_add_sources(p, text, error);
}

/* Of one family. */
static int by_bytes(const void *a, const void *b)
{
    const struct sockaddr *x = a, *y = b;

    return memcmp(bytes_of(x), bytes_of(y), srcplan_address_bytes(x->sa_family));
}

/* An address with two prefix lengths is listed twice. */
static int add_once(struct srcplan *p, const struct sockaddr *a, void **seen, char *error)
{
    const void *const *first = tsearch(a, seen, by_bytes);

    if (first == NULL) {
        snprintf(error, SRCPLAN_ERROR_BYTES, "out of memory");
        return -1;
    }
    return *first == a ? add_address(p, a, error) : 0;
}

static bool is_usable(const struct ifaddrs *i, const char *name, int family)
{
    return strcmp(i->ifa_name, name) == 0 && i->ifa_addr != NULL &&
           i->ifa_addr->sa_family == family && !is_link_local(i->ifa_addr);
}

static void keep(void *address)
{
    (void)address;
}

/* Returns 1, 0 if the interface has no address of the family, or -1. */
static int add_family(struct srcplan *p, const struct ifaddrs *list, const char *name, int family,
                      char *error)
{
    void *seen = NULL; /* a tree of search.h */
    int found = 0;

    for (; list != NULL && found >= 0; list = list->ifa_next)
        if (is_usable(list, name, family))
            found = add_once(p, list->ifa_addr, &seen, error) == 0 ? 1 : -1;
    tdestroy(seen, keep);
    return found;
}

static int add_interface(struct srcplan *p, const char *name, char *error)
{
    struct ifaddrs *list;
    int found;

    if (getifaddrs(&list) != 0) {
        snprintf(error, SRCPLAN_ERROR_BYTES, "'iface:%.60s': %s", name, strerror(errno));
        return -1;
    }
    found = add_family(p, list, name, AF_INET, error);
    if (found == 0)
        found = add_family(p, list, name, AF_INET6, error);
    freeifaddrs(list);
    if (found == 0)
        snprintf(error, SRCPLAN_ERROR_BYTES,
                 "'iface:%.60s': no such interface, or it has no address", name);
    return found > 0 ? 0 : -1;
}

static int add_item(struct srcplan *p, const char *item, char *error)
{
    if (item[0] == FILE_MARK)
        return add_file(p, item + 1, error);
    if (strncmp(item, IFACE_MARK, strlen(IFACE_MARK)) == 0)
        return add_interface(p, item + strlen(IFACE_MARK), error);
    return add_addresses(p, item, error);
}

/* The end of the first item; a comma within braces belongs to it. */
static char *end_of_item(char *list)
{
    int depth = 0;

    for (; *list != '\0' && (*list != ',' || depth > 0); list++)
        depth += (*list == '{') - (*list == '}');
    return list;
}

/* The tuples of a repeated address would be counted, and tried, more than once. */
static int refuse_repeat(const struct srcplan *p, char *error)
{
    struct srcplan_address repeated;
    char text[INET6_ADDRSTRLEN];
    const int found = srcplan_find_repeat(p, &repeated);

    if (found < 0)
        snprintf(error, SRCPLAN_ERROR_BYTES, "out of memory");
    else if (found)
        snprintf(error, SRCPLAN_ERROR_BYTES, "'%s': expected each address only once",
                 inet_ntop(repeated.family, repeated.bytes, text, sizeof text));
    return found ? -1 : 0;
}

int source_list_add(struct srcplan *p, const char *list, char *error)
{
    char *copy = strdup(list), *item = copy;
    int failed = 0;

    if (copy == NULL) {
        snprintf(error, SRCPLAN_ERROR_BYTES, "out of memory");
        return -1;
    }
    for (bool more = true; more && !failed;) {
        char *end = end_of_item(item);

        more = *end == ',';
        *end = '\0';
        failed = add_item(p, item, error);
        item = end + 1;
    }
    free(copy);
    return failed ? failed : refuse_repeat(p, error);
}
