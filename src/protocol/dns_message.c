/* SPDX-License-Identifier: MIT
 * dns_message: see protocol/dns_message.h. */
#include "protocol/dns_message.h"

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
    return edns->udp_bytes > 0 || edns->padding_bytes > 0 || edns->dnssec;
}

/* Appends the head of the option to a message of n_bytes. */
static uint8_t *put_padding(uint8_t *out, size_t block, size_t n_bytes)
{
    const size_t n_padding = (block - n_bytes % block) % block;

    out = put_u16(out, OPTION_BYTES + n_padding); /* total length of all options */
    out = put_u16(out, OPTION_PADDING);
    out = put_u16(out, n_padding);
    memset(out, 0, n_padding);
    return out + n_padding;
}

/* Appends the OPT record to a message of n_bytes. */
static uint8_t *put_opt(uint8_t *out, const struct dns_edns *edns, size_t n_bytes)
{
    *out++ = 0; /* the root */
    out = put_u16(out, TYPE_OPT);
    out = put_u16(out, edns->udp_bytes > 0 ? edns->udp_bytes : DNS_MESSAGE_UDP_BYTES);
    out = put_u16(out, 0); /* extended RCODE, version */
    out = put_u16(out, edns->dnssec ? EDNS_DO : 0);
    return edns->padding_bytes > 0
               ? put_padding(out, edns->padding_bytes, n_bytes + OPT_BYTES + OPTION_BYTES)
               : put_u16(out, 0);
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
