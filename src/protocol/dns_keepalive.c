/* SPDX-License-Identifier: MIT
 * dns_keepalive: see protocol/dns_keepalive.h. */
#include "protocol/dns_keepalive.h"

enum {
    FLAGS_END = 5, /* the first byte of the flags, after length and id */
    QUESTIONS_END = 8,
    HEAD_BYTES = 14,
    QUESTION_BYTES = 4,
    RECORD_BYTES = 10, /* type, class, TTL, length */
    OPTION_BYTES = 4,
    TIMEOUT_BYTES = 2
};

enum { FLAG_QR = 0x80, LABEL = 0xc0, POINTER = 0xc0, TYPE_OPT = 41 };

/* ITEM: the first byte of a question's or record's name. */
enum state { HEAD, ITEM, NAME, LABEL_TEXT, POINTER_END, FIXED, CONTENT, OPTION, OPTION_TEXT, DONE };

static void enter(struct dns_keepalive *k, enum state state)
{
    k->state = (uint8_t)state;
    k->n_field = 0;
}

static void fail(struct dns_keepalive *k)
{
    k->found = DNS_KEEPALIVE_MALFORMED;
    enter(k, DONE);
}

/* The next question or record, if there is one. */
static void enter_item(struct dns_keepalive *k)
{
    k->in_record = k->n_questions == 0;
    enter(k, k->n_questions > 0 || k->n_records > 0 ? ITEM : DONE);
}

static void take_head(struct dns_keepalive *k)
{
    const uint8_t n = k->n_field;

    if (n == FLAGS_END && (k->word & FLAG_QR) == 0)
        enter(k, DONE);
    if (n == QUESTIONS_END)
        k->n_questions = k->word;
    if (n == QUESTIONS_END + 2 || n == QUESTIONS_END + 4 || n == HEAD_BYTES)
        k->n_records += k->word;
    if (n == HEAD_BYTES) {
        k->n_additional = k->word;
        enter_item(k);
    }
}

static void take_name(struct dns_keepalive *k)
{
    const uint8_t byte = (uint8_t)k->word;

    if (byte == 0) {
        enter(k, FIXED);
    } else if ((byte & LABEL) == POINTER) {
        enter(k, POINTER_END);
    } else if ((byte & LABEL) != 0) {
        fail(k);
    } else {
        k->n_skip = byte;
        enter(k, LABEL_TEXT);
    }
}

static void end_record(struct dns_keepalive *k)
{
    k->n_records--;
    enter_item(k);
}

/* The next option, if there is one. */
static void enter_option(struct dns_keepalive *k)
{
    if (k->n_options == 0)
        enter(k, DONE);
    else if (k->n_options < OPTION_BYTES)
        fail(k);
    else
        enter(k, OPTION);
}

/* The head of a record is complete: `word` is the length of its content. */
static void enter_content(struct dns_keepalive *k)
{
    if (k->type == TYPE_OPT && k->n_records <= k->n_additional) {
        k->n_options = k->word;
        enter_option(k);
    } else if (k->word > 0) {
        k->n_skip = k->word;
        enter(k, CONTENT);
    } else {
        end_record(k);
    }
}

static void take_fixed(struct dns_keepalive *k)
{
    if (!k->in_record && k->n_field == QUESTION_BYTES) {
        k->n_questions--;
        enter_item(k);
    } else if (k->in_record && k->n_field == 2) {
        k->type = k->word;
    } else if (k->in_record && k->n_field == RECORD_BYTES) {
        enter_content(k);
    }
}

static void take_option(struct dns_keepalive *k)
{
    if (k->n_field == 2)
        k->option = k->word;
    if (k->n_field < OPTION_BYTES)
        return;
    k->n_skip = k->word;
    k->n_options = (uint16_t)(k->n_options - OPTION_BYTES);
    if (k->n_skip > k->n_options ||
        (k->option == DNS_KEEPALIVE_OPTION && k->n_skip != TIMEOUT_BYTES)) {
        fail(k);
        return;
    }
    k->n_options = (uint16_t)(k->n_options - k->n_skip);
    if (k->n_skip > 0)
        enter(k, OPTION_TEXT);
    else
        enter_option(k);
}

/* The text of an option, or of a label, or the content of a record has been read. */
static void end_skip(struct dns_keepalive *k)
{
    if (k->state == LABEL_TEXT) {
        enter(k, NAME);
    } else if (k->state == CONTENT) {
        end_record(k);
    } else {
        if (k->option == DNS_KEEPALIVE_OPTION) {
            k->timeout = k->word;
            k->found = DNS_KEEPALIVE_TIMEOUT;
        }
        enter_option(k);
    }
}

static void take_byte(struct dns_keepalive *k)
{
    switch ((enum state)k->state) {
    case HEAD:
        take_head(k);
        break;
    case ITEM:
    case NAME:
        take_name(k);
        break;
    case POINTER_END:
        enter(k, FIXED);
        break;
    case FIXED:
        take_fixed(k);
        break;
    case OPTION:
        take_option(k);
        break;
    case LABEL_TEXT:
    case CONTENT:
    case OPTION_TEXT:
        if (--k->n_skip == 0)
            end_skip(k);
        break;
    case DONE:
        break;
    }
}

void dns_keepalive_read(struct dns_keepalive *k, const uint8_t *data, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes && k->state != DONE; i++) {
        k->word = (uint16_t)(k->word << 8 | data[i]);
        k->n_field++;
        take_byte(k);
    }
}

/* An error answer may be a bare header, even if its counts announce records: it is not truncated.
 */
enum dns_keepalive_found dns_keepalive_end(struct dns_keepalive *k)
{
    const bool is_cut = k->state != DONE && k->state != ITEM;
    const enum dns_keepalive_found found =
        is_cut ? DNS_KEEPALIVE_MALFORMED : (enum dns_keepalive_found)k->found;

    *k = (struct dns_keepalive){.timeout = k->timeout};
    return found;
}
