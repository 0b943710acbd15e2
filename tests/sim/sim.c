/* SPDX-License-Identifier: MIT
 * sim: runs tcpclient's or tcpserver's workers on a simulated network, scenario after scenario;
 * README.md says how. */
#include "drive.h"
#include "memory.h"
#include "scenario.h"
#include "tls_setup.h"
#include "trial.h"
#include "world.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Each child runs this many seeds, which bounds the memory that they accumulate. */
enum { SEEDS_PER_CHILD = 2000, EXIT_VIOLATED = 1, EXIT_USAGE = 2 };

struct options {
    uint64_t seed, n_seeds; /* UINT64_MAX: no limit */
    double minutes;         /* INFINITY: no limit */
    bool twice, shrinks, goes_on;
    const char *scenario, *replay;
    const char *only; /* fields, separated by commas; NULL: any scenario */
};

/* Memory that a child and its parent share. */
struct progress {
    uint64_t seed; /* the one under way */
    uint64_t n_scenarios, n_started, n_queries, n_calls, n_faults, trace;
    double simulated_s;
};

static struct progress *progress;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- one scenario --- */

/* Returns whether both runs of it are the same. */
static bool run(const struct scenario *s, const struct options *o, struct drive_result *result)
{
    struct drive_result again;

    drive(s, result);
    if (!o->twice)
        return true;
    drive(s, &again);
    return result->trace == again.trace;
}

static void print_failure(const struct scenario *s)
{
    char text[SCENARIO_TEXT_BYTES];

    scenario_print(text, s);
    printf("FAILED: %s\n", text);
}

static int report_failure(struct scenario *s, const struct options *o)
{
    char text[SCENARIO_TEXT_BYTES];

    print_failure(s);
    if (!trial_fails(s, true))
        printf("only after the scenarios before it, or not twice the same\n");
    else if (o->shrinks) {
        trial_shrink(s);
        scenario_print(text, s);
        printf("SHORTENED: %s\n", text);
        trial_fails(s, true);
    }
    return EXIT_VIOLATED;
}

static int run_one(struct scenario *s, const struct options *o)
{
    struct drive_result result;

    if (o->shrinks)
        return trial_fails(s, false) ? report_failure(s, o) : 0;
    if (!run(s, o, &result)) {
        printf("not twice the same\n");
        return EXIT_VIOLATED;
    }
    drive_print(&result);
    return 0;
}

/* --- many --- */

/* Whether the scenario has a field: the one whose name is these n bytes. */
static bool has_field(struct scenario *s, const char *name, size_t n)
{
    for (int i = 0; i < SCENARIO_N_FIELDS; i++)
        if (strlen(scenario_name_of(i)) == n && memcmp(scenario_name_of(i), name, n) == 0)
            return *scenario_field(s, i) != scenario_simplest_of(i);
    return false;
}

/* Whether it has all of these fields. */
static bool has_fields(struct scenario *s, const char *names)
{
    for (size_t n; names != NULL && *names != '\0'; names += n + (names[n] == ',')) {
        n = strcspn(names, ",");
        if (!has_field(s, names, n))
            return false;
    }
    return true;
}

static void count(const struct drive_result *r)
{
    progress->n_scenarios++;
    progress->n_started += r->started;
    progress->n_queries += r->n_queries;
    progress->n_calls += r->n_calls;
    progress->n_faults += r->n_faults;
    progress->simulated_s += (double)r->simulated_ns / 1e9;
    progress->trace = world_mix(progress->trace, r->trace);
}

/* A child: up to `end`, or the time. */
static void run_seeds(const struct options *o, uint64_t end, double end_s)
{
    for (; progress->seed < end && now_s() < end_s; progress->seed++) {
        struct scenario s = drive_random(progress->seed);
        struct drive_result result;

        if (!has_fields(&s, o->only))
            continue;
        trial_limit_time();
        if (!run(&s, o, &result)) {
            fprintf(stderr, "not twice the same\n");
            _exit(EXIT_VIOLATED);
        }
        count(&result);
    }
    _exit(0);
}

static int child_status(const struct options *o, uint64_t end, double end_s)
{
    pid_t child;
    int status;

    fflush(stdout);
    child = fork();
    if (child == 0)
        run_seeds(o, end, end_s);
    while (waitpid(child, &status, 0) != child)
        ;
    return status;
}

static void print_progress(double elapsed_s)
{
    printf("%" PRIu64 " scenarios, %.0f/s: %" PRIu64 " queries, %" PRIu64 " calls, %" PRIu64
           " faults, %.0f s simulated in %.1f s; trace %016" PRIx64 "\n",
           progress->n_scenarios, (double)progress->n_scenarios / elapsed_s, progress->n_queries,
           progress->n_calls, progress->n_faults, progress->simulated_s, elapsed_s,
           progress->trace);
}

static int run_many(const struct options *o)
{
    const double begin_s = now_s();
    const double end_s = begin_s + o->minutes * 60;
    const uint64_t end = o->n_seeds < UINT64_MAX - o->seed ? o->seed + o->n_seeds : UINT64_MAX;
    int result = 0;

    progress->seed = o->seed;
    while (progress->seed < end && now_s() < end_s) {
        const uint64_t next =
            end - progress->seed > SEEDS_PER_CHILD ? progress->seed + SEEDS_PER_CHILD : end;

        if (child_status(o, next, end_s) != 0) {
            struct scenario s = drive_random(progress->seed++);

            result = EXIT_VIOLATED;
            if (!o->goes_on) {
                print_progress(now_s() - begin_s);
                return report_failure(&s, o);
            }
            print_failure(&s);
        }
    }
    print_progress(now_s() - begin_s);
    return result;
}

/* A line for each scenario; '#' begins a comment. */
static int replay(const struct options *o)
{
    FILE *in = fopen(o->replay, "re");
    char line[SCENARIO_TEXT_BYTES];
    int n = 0, failed = 0;

    if (in == NULL) {
        perror(o->replay);
        return EXIT_USAGE;
    }
    while (fgets(line, sizeof line, in) != NULL) {
        struct scenario s;

        line[strcspn(line, "#\n")] = '\0';
        if (line[strspn(line, " ")] == '\0')
            continue;
        if (scenario_parse(&s, line) != 0) {
            printf("%s: not a scenario: %s\n", o->replay, line);
            failed = EXIT_USAGE;
            break;
        }
        n++;
        if (trial_fails(&s, true)) {
            printf("FAILED: %s\n", line);
            failed = EXIT_VIOLATED;
        }
    }
    fclose(in);
    printf("%d scenarios replayed\n", n);
    return n > 0 ? failed : EXIT_USAGE;
}

/* --- options --- */

static void print_usage(void)
{
    fputs("usage: sim [--seed S] [--seeds N] [--minutes M] [--only FIELD,...] [--twice]\n"
          "           [--no-shrink | --go-on]\n"
          "       sim --scenario 'seed=S NAME=VALUE ...' [--trace | --twice | --shrink]\n"
          "       sim --random S            the scenario of a seed, as text\n"
          "       sim --replay FILE\n"
          "       sim [--world 'NAME=VALUE ...'] --program OPTION... HOST:PORT\n"
          "                                 tcpclient's options\n",
          stderr);
}

static int parse(struct options *o, int argc, char **argv)
{
    static const struct option table[] = {{"seed", required_argument, NULL, 's'},
                                          {"seeds", required_argument, NULL, 'n'},
                                          {"minutes", required_argument, NULL, 'm'},
                                          {"twice", no_argument, NULL, '2'},
                                          {"scenario", required_argument, NULL, 'c'},
                                          {"trace", no_argument, NULL, 't'},
                                          {"replay", required_argument, NULL, 'r'},
                                          {"only", required_argument, NULL, 'o'},
                                          {"no-shrink", no_argument, NULL, 'N'},
                                          {"shrink", no_argument, NULL, 'S'},
                                          {"random", required_argument, NULL, 'R'},
                                          {"go-on", no_argument, NULL, 'g'},
                                          {NULL, 0, NULL, 0}};
    char text[SCENARIO_TEXT_BYTES];
    struct scenario s;
    int option, shrink = -1;

    while ((option = getopt_long(argc, argv, "", table, NULL)) != -1)
        switch (option) {
        case 's':
            o->seed = strtoull(optarg, NULL, 10);
            break;
        case 'n':
            o->n_seeds = strtoull(optarg, NULL, 10);
            break;
        case 'm':
            o->minutes = strtod(optarg, NULL);
            break;
        case '2':
            o->twice = true;
            break;
        case 'c':
            o->scenario = optarg;
            break;
        case 't':
            world.prints_trace = true;
            break;
        case 'r':
            o->replay = optarg;
            break;
        case 'o':
            o->only = optarg;
            break;
        case 'g':
            o->goes_on = true;
            break;
        case 'N':
        case 'S':
            shrink = option == 'S';
            break;
        case 'R':
            s = drive_random(strtoull(optarg, NULL, 10));
            scenario_print(text, &s);
            puts(text);
            exit(0);
        default:
            return -1;
        }
    o->shrinks = shrink >= 0 ? shrink : o->scenario == NULL;
    return optind == argc && o->n_seeds > 0 && o->minutes > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct options o = {.seed = 1, .n_seeds = UINT64_MAX, .minutes = INFINITY};
    struct scenario s = scenario_simplest(1);
    const int at = argc > 2 && strcmp(argv[1], "--world") == 0 ? 3 : 1; /* --program */

    if (argc > at && strcmp(argv[at], "--program") == 0 &&
        (at == 1 || scenario_parse(&s, argv[2]) == 0))
        return drive_program(&s, argc - at, argv + at);
    if (parse(&o, argc, argv) != 0) {
        print_usage();
        return EXIT_USAGE;
    }
    memory_prepare();
    tls_setup_prepare();
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        return EXIT_USAGE;
    if (o.replay != NULL)
        return replay(&o);
    if (o.scenario == NULL)
        return run_many(&o);
    if (scenario_parse(&s, o.scenario) != 0) {
        print_usage();
        return EXIT_USAGE;
    }
    return run_one(&s, &o);
}
