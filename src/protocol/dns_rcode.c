/* SPDX-License-Identifier: MIT
 * dns_rcode: see protocol/dns_rcode.h. */
#include "protocol/dns_rcode.h"

#include <assert.h>

static const char *const names[DNS_RCODE_N] = {
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",  "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
    "NXRRSET", "NOTAUTH", "NOTZONE",  "DSOTYPENI", "RCODE12", "RCODE13", "RCODE14",  "RCODE15",
};

const char *dns_rcode_name(unsigned rcode)
{
    assert(rcode < DNS_RCODE_N);
    return names[rcode];
}
