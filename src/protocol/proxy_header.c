/* SPDX-License-Identifier: MIT
 * proxy_header: see protocol/proxy_header.h. */
#include "protocol/proxy_header.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { SIGNATURE_BYTES = 12, V2_START_BYTES = 16, LINE_BYTES = PROXY_HEADER_V1_MAX_BYTES + 1 };
enum { AT_COMMAND = 12, AT_FAMILY = 13, AT_LENGTH = 14 };
enum { COMMAND_LOCAL = 0x20, COMMAND_PROXY = 0x21 };
enum { FAMILY_TCP4 = 0x11, FAMILY_TCP6 = 0x21 };
enum { MAX_FAMILY = 3, MAX_TRANSPORT = 2 };

static const uint8_t signature[SIGNATURE_BYTES] = {'\r', '\n', '\r', '\n', 0,   '\r',
                                                   '\n', 'Q',  'U',  'I',  'T', '\n'};
static const char v1_start[] = "PROXY ";

static size_t address_bytes(int family)
{
    return family == AF_INET ? 4 : 16;
}

/* --- writing --- */

static size_t write_v1(const struct proxy_header *h, uint8_t *out)
{
    char line[LINE_BYTES], source[INET6_ADDRSTRLEN], destination[INET6_ADDRSTRLEN];
    int n;

    if (h->family == AF_UNSPEC) {
        n = snprintf(line, sizeof line, "PROXY UNKNOWN\r\n");
    } else {
        inet_ntop(h->family, h->source, source, sizeof source);
        inet_ntop(h->family, h->destination, destination, sizeof destination);
        n = snprintf(line, sizeof line, "PROXY TCP%c %s %s %u %u\r\n",
                     h->family == AF_INET ? '4' : '6', source, destination, h->source_port,
                     h->destination_port);
    }
    memcpy(out, line, (size_t)n);
    return (size_t)n;
}

static uint8_t *put(uint8_t *out, const void *bytes, size_t n_bytes)
{
    memcpy(out, bytes, n_bytes);
    return out + n_bytes;
}

static uint8_t *put_u16(uint8_t *out, uint16_t value)
{
    value = htons(value);
    return put(out, &value, sizeof value);
}

static size_t write_v2(const struct proxy_header *h, uint8_t *out)
{
    const size_t n = h->family == AF_UNSPEC ? 0 : address_bytes(h->family);
    uint8_t *at = put(out, signature, sizeof signature);

    *at++ = n > 0 ? COMMAND_PROXY : COMMAND_LOCAL;
    *at++ = n == 0 ? 0 : h->family == AF_INET ? FAMILY_TCP4 : FAMILY_TCP6;
    at = put_u16(at, n > 0 ? (uint16_t)(2 * n + 4) : 0);
    if (n > 0) {
        at = put(at, h->source, n);
        at = put(at, h->destination, n);
        at = put_u16(at, h->source_port);
        at = put_u16(at, h->destination_port);
    }
    return (size_t)(at - out);
}

size_t proxy_header_write(const struct proxy_header *h, uint8_t out[PROXY_HEADER_V1_MAX_BYTES])
{
    return h->version == PROXY_HEADER_V1 ? write_v1(h, out) : write_v2(h, out);
}

/* --- version 1 --- */

/* Cuts off the next word, which ends at a blank; the last one ends with the line.  Returns NULL if
 * there is none. */
static char *take_word(char **rest)
{
    char *word = *rest, *blank;

    if (word == NULL)
        return NULL;
    blank = strchr(word, ' ');
    *rest = blank != NULL ? blank + 1 : NULL;
    if (blank != NULL)
        *blank = '\0';
    return word;
}

static bool take_address(char **rest, int family, uint8_t *address)
{
    const char *word = take_word(rest);

    return word != NULL && inet_pton(family, word, address) == 1;
}

/* No leading zeros, at most 65535. */
static bool take_port(char **rest, uint16_t *port)
{
    const char *word = take_word(rest);
    const size_t n = word != NULL ? strspn(word, "0123456789") : 0;
    unsigned value = 0;

    if (n == 0 || n > 5 || word[n] != '\0' || (n > 1 && word[0] == '0'))
        return false;
    for (size_t i = 0; i < n; i++)
        value = value * 10 + (unsigned)(word[i] - '0');
    *port = (uint16_t)value;
    return value <= UINT16_MAX;
}

/* rest: what follows "PROXY ", without the end of the line. */
static bool parse_line(char *rest, struct proxy_header *h)
{
    const char *family = take_word(&rest);

    if (strcmp(family, "UNKNOWN") == 0)
        return true;
    h->family = strcmp(family, "TCP4") == 0   ? AF_INET
                : strcmp(family, "TCP6") == 0 ? AF_INET6
                                              : AF_UNSPEC;
    return h->family != AF_UNSPEC && take_address(&rest, h->family, h->source) &&
           take_address(&rest, h->family, h->destination) && take_port(&rest, &h->source_port) &&
           take_port(&rest, &h->destination_port) && rest == NULL;
}

static enum proxy_header_event end_line(const struct proxy_header_stream *s, struct proxy_header *h)
{
    const size_t n = s->n_bytes - 2u - (sizeof v1_start - 1);
    char text[LINE_BYTES];

    memcpy(text, s->bytes + sizeof v1_start - 1, n);
    text[n] = '\0';
    *h = (struct proxy_header){.version = PROXY_HEADER_V1, .family = AF_UNSPEC};
    /* a zero byte would hide the rest */
    return memchr(text, '\0', n) == NULL && parse_line(text, h) ? PROXY_HEADER_COMPLETE
                                                                : PROXY_HEADER_MALFORMED;
}

static enum proxy_header_event take_v1(const struct proxy_header_stream *s, uint8_t byte,
                                       struct proxy_header *h)
{
    const size_t at = s->n_bytes - 1u;

    if (at < sizeof v1_start - 1)
        return byte == (uint8_t)v1_start[at] ? PROXY_HEADER_MORE : PROXY_HEADER_MALFORMED;
    if (s->bytes[at - 1] == '\r')
        return byte == '\n' ? end_line(s, h) : PROXY_HEADER_MALFORMED;
    return byte == '\n' || s->n_bytes == PROXY_HEADER_V1_MAX_BYTES ? PROXY_HEADER_MALFORMED
                                                                   : PROXY_HEADER_MORE;
}

/* --- version 2 --- */

static size_t v2_bytes(const struct proxy_header_stream *s)
{
    return V2_START_BYTES + (size_t)(s->bytes[AT_LENGTH] << 8 | s->bytes[AT_LENGTH + 1]);
}

/* Returns the size of the addresses and ports of a family; 0 if they are not read. */
static size_t v2_address_bytes(const struct proxy_header_stream *s)
{
    static const size_t bytes[MAX_FAMILY + 1] = {0, 12, 36, 216};
    const unsigned family = s->bytes[AT_FAMILY] >> 4, transport = s->bytes[AT_FAMILY] & 0xf;

    return s->bytes[AT_COMMAND] == COMMAND_LOCAL || transport == 0 ? 0 : bytes[family];
}

/* Checks the first 16 bytes. */
static bool is_v2_byte(const struct proxy_header_stream *s, size_t at, uint8_t byte)
{
    if (at < SIGNATURE_BYTES)
        return byte == signature[at];
    if (at == AT_COMMAND)
        return byte == COMMAND_LOCAL || byte == COMMAND_PROXY;
    if (at == AT_FAMILY) /* ignored if LOCAL */
        return s->bytes[AT_COMMAND] == COMMAND_LOCAL ||
               (byte >> 4 <= MAX_FAMILY && (byte & 0xf) <= MAX_TRANSPORT);
    return at == AT_LENGTH || (v2_bytes(s) <= PROXY_HEADER_V2_MAX_BYTES &&
                               v2_bytes(s) >= V2_START_BYTES + v2_address_bytes(s));
}

static uint16_t get_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static void read_v2(const struct proxy_header_stream *s, struct proxy_header *h)
{
    const uint8_t *at = s->bytes + V2_START_BYTES;
    const uint8_t family = s->bytes[AT_FAMILY];
    size_t n;

    *h = (struct proxy_header){.version = PROXY_HEADER_V2, .family = AF_UNSPEC};
    if (s->bytes[AT_COMMAND] == COMMAND_LOCAL || (family != FAMILY_TCP4 && family != FAMILY_TCP6))
        return;
    h->family = family == FAMILY_TCP4 ? AF_INET : AF_INET6;
    n = address_bytes(h->family);
    memcpy(h->source, at, n);
    memcpy(h->destination, at + n, n);
    h->source_port = get_u16(at + 2 * n);
    h->destination_port = get_u16(at + 2 * n + 2);
}

static enum proxy_header_event take_v2(const struct proxy_header_stream *s, uint8_t byte,
                                       struct proxy_header *h)
{
    const size_t at = s->n_bytes - 1u;

    if (at < V2_START_BYTES && !is_v2_byte(s, at, byte))
        return PROXY_HEADER_MALFORMED;
    if (s->n_bytes < V2_START_BYTES || s->n_bytes < v2_bytes(s))
        return PROXY_HEADER_MORE;
    read_v2(s, h);
    return PROXY_HEADER_COMPLETE;
}

/* --- either --- */

enum proxy_header_event proxy_header_next(struct proxy_header_stream *stream,
                                          struct query_input *in, struct proxy_header *h)
{
    enum proxy_header_event event = PROXY_HEADER_MORE;

    while (event == PROXY_HEADER_MORE && in->n_bytes > 0) {
        const uint8_t byte = *in->data++;

        in->n_bytes--;
        if (stream->n_bytes < sizeof stream->bytes)
            stream->bytes[stream->n_bytes] = byte;
        stream->n_bytes++;
        event =
            stream->bytes[0] == signature[0] ? take_v2(stream, byte, h) : take_v1(stream, byte, h);
    }
    return event;
}
