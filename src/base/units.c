/* SPDX-License-Identifier: MIT
 * units: see base/units.h. */
#include "base/units.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* No valid figure has more digits, and a long double stays exact to the last unit. */
enum { MAX_DIGITS = 20 };

struct unit {
    const char *name;
    long double factor;
};

static const struct unit duration_units[] = {
    {"", 1e9L}, {"ns", 1}, {"us", 1e3L}, {"ms", 1e6L}, {"s", 1e9L}, {"m", 60e9L}, {"h", 3600e9L},
};
static const struct unit count_units[] = {{"", 1}, {"k", 1e3L}, {"M", 1e6L}, {"G", 1e9L}};
static const struct unit byte_units[] = {
    {"", 1},          {"k", 1e3L},        {"M", 1e6L},           {"G", 1e9L},
    {"KiB", 1024.0L}, {"MiB", 1048576.L}, {"GiB", 1073741824.L},
};

static const struct unit percent_units[] = {{"%", 0.01L}};

#define N_UNITS(table) (sizeof(table) / sizeof *(table))

/* Digits, optionally with a fraction: *digits / *scale.  strtold(3) would accept signs, "inf",
 * hexadecimal and the locale's decimal point. */
static int parse_decimal(const char **text, long double *digits, long double *scale)
{
    int n_digits = 0;
    const char *t = *text;

    *scale = 1;
    for (*digits = 0; *t >= '0' && *t <= '9'; t++, n_digits++)
        *digits = *digits * 10 + (*t - '0');
    if (n_digits == 0)
        return -1;
    if (*t == '.') {
        const char *fraction = ++t;

        for (; *t >= '0' && *t <= '9'; t++, n_digits++) {
            *digits = *digits * 10 + (*t - '0');
            *scale *= 10;
        }
        if (t == fraction)
            return -1;
    }
    *text = t;
    return n_digits <= MAX_DIGITS ? 0 : -1;
}

/* Divides last: 8.1 has no exact value, 81 * 1000 / 10 has. */
static int parse(const char *text, const struct unit *units, size_t n_units, long double *value)
{
    long double digits, scale;

    if (parse_decimal(&text, &digits, &scale) != 0)
        return -1;
    for (size_t i = 0; i < n_units; i++)
        if (strcmp(text, units[i].name) == 0) {
            *value = digits * units[i].factor / scale;
            return 0;
        }
    return -1;
}

static int to_whole(long double value, uint64_t *whole)
{
    if (value >= 18446744073709551616.0L)
        return -1;
    *whole = (uint64_t)value;
    return 0;
}

int units_parse_duration(const char *text, uint64_t *ns)
{
    long double value;

    if (parse(text, duration_units, N_UNITS(duration_units), &value) != 0 ||
        (value > 0 && value < 0.5L))
        return -1;
    return to_whole(value + 0.5L, ns);
}

static int parse_whole(const char *text, const struct unit *units, size_t n_units, uint64_t *whole)
{
    long double value;

    if (parse(text, units, n_units, &value) != 0 || value != floorl(value))
        return -1;
    return to_whole(value, whole);
}

int units_parse_count(const char *text, uint64_t *count)
{
    return parse_whole(text, count_units, N_UNITS(count_units), count);
}

int units_parse_share(const char *text, uint64_t *one_in)
{
    uint64_t many;

    if (strncmp(text, "1/", 2) != 0 || units_parse_count(text + 2, &many) != 0 || many == 0)
        return -1;
    *one_in = many;
    return 0;
}

int units_parse_bytes(const char *text, uint64_t *bytes)
{
    return parse_whole(text, byte_units, N_UNITS(byte_units), bytes);
}

int units_parse_rate(const char *text, double *per_s)
{
    long double value;

    if (parse(text, count_units, N_UNITS(count_units), &value) != 0)
        return -1;
    *per_s = (double)value;
    return 0;
}

int units_parse_percent(const char *text, double *part)
{
    long double value;

    if (parse(text, percent_units, N_UNITS(percent_units), &value) != 0)
        return -1;
    *part = (double)value;
    return 0;
}

/* Formats a value below 999.5 with three significant digits. */
static void format_three(char *buffer, double value, const char *unit)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(buffer, UNITS_TEXT_BYTES, "%.*f %s", decimals, value, unit);
}

char *units_format_duration(char *buffer, uint64_t ns)
{
    char seconds[UNITS_TEXT_BYTES];

    if (ns < 1000)
        snprintf(buffer, UNITS_TEXT_BYTES, "%u ns", (unsigned)ns);
    else if ((double)ns < 999.5e3)
        format_three(buffer, (double)ns / 1e3, "us");
    else if ((double)ns < 999.5e6)
        format_three(buffer, (double)ns / 1e6, "ms");
    else if ((double)ns < 999.5e9)
        format_three(buffer, (double)ns / 1e9, "s");
    else
        snprintf(buffer, UNITS_TEXT_BYTES, "%.29s s",
                 units_format_count(seconds, ns / UNITS_NS_PER_S +
                                                 (ns % UNITS_NS_PER_S >= UNITS_NS_PER_S / 2)));
    return buffer;
}

char *units_write_duration(char *buffer, uint64_t ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"s", UNITS_NS_PER_S}, {"ms", UNITS_NS_PER_MS}, {"us", UNITS_NS_PER_US}, {"ns", 1}};
    size_t i = 0;

    while (ns % units[i].ns != 0)
        i++;
    snprintf(buffer, UNITS_TEXT_BYTES, "%llu%s", (unsigned long long)(ns / units[i].ns),
             units[i].name);
    return buffer;
}

/* Below it, the digits after the decimal point matter. */
#define LEAST_WHOLE_RATE 10

/* %.6g would print it with an exponent. */
#define LEAST_SEVEN_DIGITS 999999.5

char *units_format_count(char *buffer, uint64_t count)
{
    char digits[UNITS_TEXT_BYTES];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *out = buffer;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

char *units_format_rate(char *buffer, double per_s)
{
    if (per_s >= LEAST_WHOLE_RATE)
        return units_format_count(buffer, (uint64_t)(per_s + 0.5));
    snprintf(buffer, UNITS_TEXT_BYTES, "%.3g", per_s);
    return buffer;
}

char *units_format_tenths(char *buffer, double per_s)
{
    snprintf(buffer, UNITS_TEXT_BYTES, per_s > 0 && per_s < 1 ? "%.3g" : "%.1f", per_s);
    return buffer;
}

char *units_format_decimal(char *buffer, double n)
{
    snprintf(buffer, UNITS_TEXT_BYTES, n < LEAST_SEVEN_DIGITS ? "%.6g" : "%.0f", n);
    return buffer;
}

double units_round_share(double share, int n_digits)
{
    return share < 1 ? fmin(share, 1 - pow(10, -n_digits)) : share;
}

double units_percent(double share)
{
    return floor(1e6 * share + 1e-9) / 1e4; /* 0.9999 may be a little less */
}

char *units_format_known(char *buffer, uint64_t count)
{
    if (count != UINT64_MAX)
        return units_format_count(buffer, count);
    snprintf(buffer, UNITS_TEXT_BYTES, "unknown");
    return buffer;
}

char *units_format_bytes(char *buffer, uint64_t bytes)
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    size_t i = 0;

    if (bytes < 1024) {
        snprintf(buffer, UNITS_TEXT_BYTES, "%u B", (unsigned)bytes);
        return buffer;
    }
    for (; value >= 1023.5 && i + 1 < N_UNITS(names); i++)
        value /= 1024;
    format_three(buffer, value, names[i]);
    return buffer;
}

const char *units_noun(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}
