/* SPDX-License-Identifier: MIT
 * dns_message: see protocol/dns_message.h. */
#include "protocol/dns_message.h"

#include "protocol/dns_keepalive.h"

#include <string.h>

enum { LENGTH_BYTES = 2, OPT_BYTES = 11, OPTION_BYTES = 4 }; /* both without their content */
enum { FLAG_RD = 0x0100, CLASS_IN = 1, TYPE_OPT = 41, EDNS_DO = 0x8000, OPTION_PADDING = 12 };

static uint8_t *put_u16(uint8_t *out, size_t value)
{
    *out++ = (uint8_t)(value >> 8);
    *out++ = (uint8_t)value;
    return out;
}

static bool has_edns(const struct dns_edns *edns)
{
    return edns->udp_bytes > 0 || edns->padding_bytes > 0 || edns->dnssec || edns->keepalive;
}

/* Appends an option of n zeros. */
static uint8_t *put_option(uint8_t *out, size_t code, size_t n)
{
    out = put_u16(out, code);
    out = put_u16(out, n);
    memset(out, 0, n);
    return out + n;
}

/* Appends the options, and before them their total length, to a message of n_bytes. */
static uint8_t *put_options(uint8_t *out, const struct dns_edns *edns, size_t n_bytes)
{
    const size_t block = edns->padding_bytes, n_keepalive = edns->keepalive ? OPTION_BYTES : 0;
    size_t n_padding = 0, n_options = n_keepalive;

    if (block > 0) {
        n_options += OPTION_BYTES;
        n_padding = (block - (n_bytes + n_options) % block) % block;
    }
    out = put_u16(out, n_options + n_padding);
    if (edns->keepalive)
        out = put_option(out, DNS_KEEPALIVE_OPTION, 0);
    return block > 0 ? put_option(out, OPTION_PADDING, n_padding) : out;
}

/* Appends the OPT record to a message of n_bytes. */
static uint8_t *put_opt(uint8_t *out, const struct dns_edns *edns, size_t n_bytes)
{
    *out++ = 0; /* the root */
    out = put_u16(out, TYPE_OPT);
    out = put_u16(out, edns->udp_bytes > 0 ? edns->udp_bytes : DNS_MESSAGE_UDP_BYTES);
    out = put_u16(out, 0); /* extended RCODE, version */
    out = put_u16(out, edns->dnssec ? EDNS_DO : 0);
    return put_options(out, edns, n_bytes + OPT_BYTES);
}

size_t dns_message_encode(uint8_t out[DNS_MESSAGE_BYTES], const struct dns_question *question,
                          const struct dns_edns *edns)
{
    uint8_t *const message = out + LENGTH_BYTES;
    uint8_t *end = put_u16(message, 0); /* id */

    end = put_u16(end, FLAG_RD);
    end = put_u16(end, 1); /* questions */
    end = put_u16(end, 0);
    end = put_u16(end, 0);
    end = put_u16(end, has_edns(edns)); /* additional records */
    memcpy(end, question->name, question->n_name);
    end = put_u16(end + question->n_name, question->type);
    end = put_u16(end, CLASS_IN);
    if (has_edns(edns))
        end = put_opt(end, edns, (size_t)(end - message));
    put_u16(out, (size_t)(end - message));
    return (size_t)(end - out);
}
