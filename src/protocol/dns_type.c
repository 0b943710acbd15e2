/* SPDX-License-Identifier: MIT
 * dns_type: see protocol/dns_type.h. */
#include "protocol/dns_type.h"

#include <string.h>
#include <strings.h>

/* The IANA registry "Resource Record (RR) TYPEs" of 2025; common ones first. */
static const struct {
    const char *name;
    uint16_t number;
} types[] = {
    {"A", 1},           {"AAAA", 28},    {"PTR", 12},        {"NS", 2},       {"MX", 15},
    {"TXT", 16},        {"SOA", 6},      {"SRV", 33},        {"CNAME", 5},    {"HTTPS", 65},
    {"ANY", 255},       {"AFSDB", 18},   {"AMTRELAY", 260},  {"APL", 42},     {"A6", 38},
    {"CAA", 257},       {"CDNSKEY", 60}, {"CDS", 59},        {"CERT", 37},    {"CSYNC", 62},
    {"DHCID", 49},      {"DLV", 32769},  {"DNAME", 39},      {"DNSKEY", 48},  {"DS", 43},
    {"EUI48", 108},     {"EUI64", 109},  {"HINFO", 13},      {"HIP", 55},     {"IPSECKEY", 45},
    {"KEY", 25},        {"KX", 36},      {"L32", 105},       {"L64", 106},    {"LOC", 29},
    {"LP", 107},        {"NAPTR", 35},   {"NID", 104},       {"NSEC", 47},    {"NSEC3", 50},
    {"NSEC3PARAM", 51}, {"NULL", 10},    {"OPENPGPKEY", 61}, {"RP", 17},      {"RRSIG", 46},
    {"SIG", 24},        {"SMIMEA", 53},  {"SPF", 99},        {"SSHFP", 44},   {"SVCB", 64},
    {"TLSA", 52},       {"URI", 256},    {"WKS", 11},        {"X25", 19},     {"ZONEMD", 63},
    {"MD", 3},          {"MF", 4},       {"MB", 7},          {"MG", 8},       {"MR", 9},
    {"MINFO", 14},      {"ISDN", 20},    {"RT", 21},         {"NSAP", 22},    {"NSAP-PTR", 23},
    {"PX", 26},         {"GPOS", 27},    {"NXT", 30},        {"EID", 31},     {"NIMLOC", 32},
    {"ATMA", 34},       {"SINK", 40},    {"NINFO", 56},      {"RKEY", 57},    {"TALINK", 58},
    {"DSYNC", 66},      {"HHIT", 67},    {"BRID", 68},       {"UINFO", 100},  {"UID", 101},
    {"GID", 102},       {"UNSPEC", 103}, {"NXNAME", 128},    {"MAILB", 253},  {"MAILA", 254},
    {"AVC", 258},       {"DOA", 259},    {"RESINFO", 261},   {"WALLET", 262}, {"CLA", 263},
    {"IPN", 264},       {"TA", 32768},
};

/* Zone transfers: their answers are many messages. */
enum { IXFR = 251, AXFR = 252 };

enum { PREFIX_CHARS = 4, MOST_DIGITS = 5 };

/* The number of "TYPE65". */
static int parse_number(const char *text, size_t n, uint16_t *type)
{
    uint32_t number = 0;

    if (n <= PREFIX_CHARS || n > PREFIX_CHARS + MOST_DIGITS ||
        strncasecmp(text, "TYPE", PREFIX_CHARS) != 0)
        return -1;
    for (size_t i = PREFIX_CHARS; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = number * 10 + (uint32_t)(text[i] - '0');
    }
    *type = (uint16_t)number;
    return number <= UINT16_MAX && number != IXFR && number != AXFR ? 0 : -1;
}

int dns_type_parse(const char *text, size_t n, uint16_t *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && strncasecmp(types[i].name, text, n) == 0) {
            *type = types[i].number;
            return 0;
        }
    return parse_number(text, n, type);
}
