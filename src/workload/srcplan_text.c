/* SPDX-License-Identifier: MIT
 * srcplan_text: source addresses and ports from their texts; see workload/srcplan.h. */
#include "workload/srcplan.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_BYTES = 512, N_PORTS = 65536, MAX_BRACE_ITEMS = 65536 };

#define ACCEPTED_SOURCES                                                                           \
    "expected ADDRESS, ADDRESS-ADDRESS, ADDRESS-LAST, ADDRESS/BITS, 10.0.{1..9}.{1,5}"
#define ACCEPTED_PORTS "expected PORT, FIRST-LAST and !PORT with ports from 1 to 65535"

/* --- items of a comma list; a comma within braces belongs to the item --- */

static int next_item(const char **list, char item[ITEM_BYTES])
{
    size_t n = 0;
    int depth = 0;

    for (; (*list)[n] != '\0' && ((*list)[n] != ',' || depth > 0); n++)
        depth += ((*list)[n] == '{') - ((*list)[n] == '}');
    if (n >= ITEM_BYTES)
        return -1;
    memcpy(item, *list, n);
    item[n] = '\0';
    *list += n;
    return 0;
}

/* Calls take for each item; empty items are errors, too. */
static int each_item(const char *list, char *error, const char *accepted,
                     int (*take)(void *context, const char *item), void *context)
{
    char item[ITEM_BYTES];

    for (;; list++) {
        if (next_item(&list, item) != 0) {
            snprintf(error, SRCPLAN_ERROR_BYTES, "'%.40s...': too long: %s", list, accepted);
            return -1;
        }
        if (take(context, item) != 0) {
            snprintf(error, SRCPLAN_ERROR_BYTES, "'%.60s': %s", item, accepted);
            return -1;
        }
        if (*list == '\0')
            return 0;
    }
}

/* --- addresses --- */

/* The room doubles at each power of two. */
static int make_room(struct srcplan *p)
{
    struct srcplan_range *ranges = p->ranges;

    if ((p->n_ranges & (p->n_ranges - 1)) == 0)
        ranges = realloc(ranges, 2 * (p->n_ranges + 1) * sizeof *ranges);
    if (ranges == NULL)
        return -1;
    p->ranges = ranges;
    return 0;
}

static int append_range(struct srcplan *p, const struct srcplan_address *first, uint64_t count)
{
    if (p->n_ranges > 0 && p->ranges[0].first.family != first->family)
        return -1;
    if (p->n_ranges == SRCPLAN_MOST_RANGES || make_room(p) != 0)
        return -1;
    p->ranges[p->n_ranges++] = (struct srcplan_range){*first, count, p->n_addresses};
    p->n_addresses += count;
    return 0;
}

static int parse_number(const char *text, uint32_t max, uint32_t *value)
{
    uint64_t number = 0;

    if (*text == '\0')
        return -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        number = number * 10 + (uint64_t)(*text - '0');
        if (number > max)
            return -1;
    }
    *value = (uint32_t)number;
    return *text == '\0' ? 0 : -1;
}

/* fe80::/10, RFC 4291 */
static bool is_link_local(const struct srcplan_address *a)
{
    return a->family == AF_INET6 && a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;
}

static int parse_address(const char *text, struct srcplan_address *a)
{
    const char *zone = strchr(text, '%');
    char host[ITEM_BYTES];

    memset(a, 0, sizeof *a);
    a->family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
    snprintf(host, sizeof host, "%.*s", (int)strcspn(text, "%"), text);
    if (inet_pton(a->family, host, a->bytes) != 1)
        return -1;
    return zone == NULL || (is_link_local(a) && parse_number(zone + 1, INT32_MAX, &a->scope) == 0)
               ? 0
               : -1;
}

static int add_block(struct srcplan *p, const char *address, const char *bits_text)
{
    struct srcplan_address first;
    uint32_t bits, width;

    if (parse_address(address, &first) != 0)
        return -1;
    width = (uint32_t)srcplan_address_bytes(first.family) * 8;
    if (parse_number(bits_text, width, &bits) != 0 || width - bits > 32)
        return -1;
    for (uint32_t i = bits; i < width; i++)
        first.bytes[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
    return append_range(p, &first, 1ull << (width - bits));
}

/* "10.0.0.1-9": the last group counts up.  Writes the end of the range as a complete address. */
static int complete_last(const char *first, const char *last, char out[ITEM_BYTES])
{
    const char separator = strchr(first, ':') != NULL ? ':' : '.';
    const char *group = strrchr(first, separator);

    if (strchr(last, separator) != NULL || group == NULL)
        return snprintf(out, ITEM_BYTES, "%s", last) < ITEM_BYTES ? 0 : -1;
    return snprintf(out, ITEM_BYTES, "%.*s%s", (int)(group + 1 - first), first, last) < ITEM_BYTES
               ? 0
               : -1;
}

static int add_dash_range(struct srcplan *p, const char *first_text, const char *last_text)
{
    struct srcplan_address first, last;
    char full[ITEM_BYTES];
    uint64_t n;

    if (complete_last(first_text, last_text, full) != 0 || parse_address(first_text, &first) != 0 ||
        parse_address(full, &last) != 0 || srcplan_distance(&first, &last, &n) != 0)
        return -1;
    first.scope = last.scope;
    return append_range(p, &first, n + 1);
}

/* An item without braces. */
static int add_plain(struct srcplan *p, char *item)
{
    struct srcplan_address address;
    char *cut = strpbrk(item, "/-");

    if (cut == NULL)
        return parse_address(item, &address) == 0 ? append_range(p, &address, 1) : -1;
    if (*cut == '/') {
        *cut = '\0';
        return add_block(p, item, cut + 1);
    }
    *cut = '\0';
    return add_dash_range(p, item, cut + 1);
}

static int add_braces(struct srcplan *p, const char *item);

static int add_with(struct srcplan *p, const char *head, size_t n_head, const char *choice,
                    const char *tail)
{
    char item[ITEM_BYTES];

    if (snprintf(item, sizeof item, "%.*s%s%s", (int)n_head, head, choice, tail) >= ITEM_BYTES)
        return -1;
    return add_braces(p, item);
}

/* "{10..30}" */
static int add_brace_range(struct srcplan *p, const char *item, size_t n_head, const char *body,
                           const char *tail)
{
    char *dots = strstr(body, ".."), number[16];
    uint32_t first, last;

    *dots = '\0';
    if (parse_number(body, MAX_BRACE_ITEMS, &first) != 0 ||
        parse_number(dots + 2, MAX_BRACE_ITEMS, &last) != 0 || first > last)
        return -1;
    for (; first <= last; first++) {
        snprintf(number, sizeof number, "%u", first);
        if (add_with(p, item, n_head, number, tail) != 0)
            return -1;
    }
    return 0;
}

/* Replaces the first pair of braces by each of its choices, recursively. */
static int add_braces(struct srcplan *p, const char *item)
{
    const char *open = strchr(item, '{'), *close;
    char body[ITEM_BYTES], *choice, *rest;
    size_t n_head;

    snprintf(body, sizeof body, "%s", item);
    if (open == NULL)
        return add_plain(p, body);
    close = strchr(open, '}');
    if (close == NULL)
        return -1;
    n_head = (size_t)(open - item);
    snprintf(body, sizeof body, "%.*s", (int)(close - open - 1), open + 1);
    if (strstr(body, "..") != NULL)
        return add_brace_range(p, item, n_head, body, close + 1);
    for (rest = body; (choice = strsep(&rest, ",")) != NULL;)
        if (add_with(p, item, n_head, choice, close + 1) != 0)
            return -1;
    return 0;
}

static int take_source(void *context, const char *item)
{
    return add_braces(context, item);
}

int srcplan_add_sources(struct srcplan *p, const char *list, char *error)
{
    const size_t n_ranges = p->n_ranges;
    const uint64_t n_addresses = p->n_addresses;

    if (each_item(list, error, ACCEPTED_SOURCES, take_source, p) == 0)
        return 0;
    if (p->n_ranges == SRCPLAN_MOST_RANGES)
        snprintf(error, SRCPLAN_ERROR_BYTES,
                 "'%.40s': more than %u parts: expected ranges as ADDRESS/BITS or ADDRESS-ADDRESS",
                 list, SRCPLAN_MOST_RANGES);
    p->n_ranges = n_ranges;
    p->n_addresses = n_addresses;
    return -1;
}

/* --- ports --- */

struct port_set {
    bool excluded[N_PORTS], included[N_PORTS];
    uint16_t order[N_PORTS]; /* included ports, in the order given */
    uint32_t n;
};

static int take_ports(void *context, const char *item)
{
    struct port_set *set = context;
    const bool exclude = item[0] == '!';
    char text[ITEM_BYTES], *dash;
    uint32_t first, last;

    snprintf(text, sizeof text, "%s", item + exclude);
    dash = strchr(text, '-');
    if (dash != NULL)
        *dash = '\0';
    if (parse_number(text, N_PORTS - 1, &first) != 0 || first == 0 ||
        parse_number(dash != NULL ? dash + 1 : text, N_PORTS - 1, &last) != 0 || last < first)
        return -1;
    for (uint32_t port = first; port <= last; port++) {
        if (exclude) {
            set->excluded[port] = true;
        } else if (!set->included[port]) {
            set->included[port] = true;
            set->order[set->n++] = (uint16_t)port;
        }
    }
    return 0;
}

static int apply_ports(struct srcplan *p, const struct port_set *set, const char *list, char *error)
{
    uint16_t *ports = malloc(N_PORTS * sizeof *ports);
    uint32_t n = 0;

    if (ports == NULL) {
        snprintf(error, SRCPLAN_ERROR_BYTES, "out of memory");
        return -1;
    }
    for (uint32_t i = 0; i < set->n; i++)
        if (!set->excluded[set->order[i]])
            ports[n++] = set->order[i];
    if (n == 0) {
        snprintf(error, SRCPLAN_ERROR_BYTES, "'%.60s' leaves no port: %s", list, ACCEPTED_PORTS);
        free(ports);
        return -1;
    }
    free(p->ports);
    p->ports = ports;
    p->n_ports = n;
    return 0;
}

int srcplan_add_ports(struct srcplan *p, const char *list, char *error)
{
    struct port_set *set = calloc(1, sizeof *set);
    int failed = -1;

    if (set == NULL) {
        snprintf(error, SRCPLAN_ERROR_BYTES, "out of memory");
        return -1;
    }
    for (uint32_t i = 0; i < p->n_ports; i++) {
        set->included[p->ports[i]] = true;
        set->order[set->n++] = p->ports[i];
    }
    if (each_item(list, error, ACCEPTED_PORTS, take_ports, set) == 0)
        failed = apply_ports(p, set, list, error);
    free(set);
    return failed;
}
