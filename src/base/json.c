/* SPDX-License-Identifier: MIT
 * json: see base/json.h. */
#include "base/json.h"

#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void json_init(struct json *j, FILE *out)
{
    *j = (struct json){.out = out};
    j->first[0] = true;
}

static void new_line(struct json *j)
{
    fputc('\n', j->out);
    for (unsigned i = 0; i < j->depth; i++)
        fputs("  ", j->out);
}

static void put_byte(struct json *j, unsigned char byte)
{
    if (byte == '"' || byte == '\\')
        fprintf(j->out, "\\%c", byte);
    else if (byte < 0x20)
        fprintf(j->out, "\\u%04x", byte);
    else
        fputc(byte, j->out);
}

/* File names and arguments may be any bytes; JSON is UTF-8. */
static void put_text(struct json *j, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t character;

    fputc('"', j->out);
    while (*at != '\0') {
        const unsigned n = utf8_take(at, &character);

        if (n == 0)
            fputs(UTF8_REPLACEMENT, j->out);
        else if (n == 1)
            put_byte(j, *at);
        else
            fwrite(at, 1, n, j->out);
        at += n > 0 ? n : 1;
    }
    fputc('"', j->out);
}

/* Writes everything that precedes a value: comma, newline, key. */
static void begin_value(struct json *j, const char *key)
{
    if (!j->first[j->depth])
        fputc(',', j->out);
    j->first[j->depth] = false;
    if (j->depth > 0)
        new_line(j);
    if (key != NULL) {
        put_text(j, key);
        fputs(": ", j->out);
    }
}

static void open_level(struct json *j, const char *key, char bracket)
{
    begin_value(j, key);
    fputc(bracket, j->out);
    j->depth++;
    assert(j->depth < JSON_DEPTH);
    j->first[j->depth] = true;
}

static void close_level(struct json *j, char bracket)
{
    bool empty = j->first[j->depth];

    assert(j->depth > 0);
    j->depth--;
    if (!empty)
        new_line(j);
    fputc(bracket, j->out);
    if (j->depth == 0)
        fputc('\n', j->out);
}

void json_object_begin(struct json *j, const char *key)
{
    open_level(j, key, '{');
}

bool json_object_begin_if(struct json *j, const char *key, bool exists)
{
    if (exists)
        json_object_begin(j, key);
    else
        json_null(j, key);
    return exists;
}

void json_object_end(struct json *j)
{
    close_level(j, '}');
}

void json_array_begin(struct json *j, const char *key)
{
    open_level(j, key, '[');
}

void json_array_end(struct json *j)
{
    close_level(j, ']');
}

void json_string(struct json *j, const char *key, const char *value)
{
    if (value == NULL) {
        json_null(j, key);
        return;
    }
    begin_value(j, key);
    put_text(j, value);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
    begin_value(j, key);
    fprintf(j->out, "%" PRIu64, value);
}

void json_known_u64(struct json *j, const char *key, uint64_t value)
{
    if (value == UINT64_MAX)
        json_null(j, key);
    else
        json_u64(j, key, value);
}

void json_double(struct json *j, const char *key, double value)
{
    char text[32];
    int digits = 15;

    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    begin_value(j, key);
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (strtod(text, NULL) != value && ++digits <= 17);
    fputs(text, j->out);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin_value(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
    begin_value(j, key);
    fputs("null", j->out);
}

void json_raw(struct json *j, const char *key, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    uint32_t character;

    begin_value(j, key);
    while (*at != '\0') {
        const unsigned n = utf8_take(at, &character);

        if (n == 0)
            fputs(UTF8_REPLACEMENT, j->out);
        else if (*at == '\n') /* in a string it would be escaped */
            new_line(j);
        else
            fwrite(at, 1, n, j->out);
        at += n > 0 ? n : 1;
    }
}
