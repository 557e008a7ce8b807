/*
 * orders: time and memory of the whole-trace orders, beside mawk on the same text, as Markdown
 * (make bench-orders).
 *
 *   orders MAXRACE FOLDER TRACE…
 *
 * MAXRACE is the program to measure. Each trace (plain or packed) is measured from plain text and
 * from .mrt; what is not there yet is made in FOLDER. All rows of a table are measured in turn,
 * ROUNDS times, and the best time of each counts; what takes longer than ONCE_SECONDS is measured
 * once. Environment: LIMIT_SECONDS for one run (default 300).
 */
#include "base/seconds.h"
#include "command.h"
#include "formats/pack/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, ROUNDS = 3, ONCE_SECONDS = 60, BLOCK_BYTES = 1 << 20, RELATIONS = 6 };

/* The relation alone: no marking of candidates, no witnesses. */
static const char *const order_flags[] = {"order", "--quiet", "--no-mark", "--no-witness-check",
                                          "--format=json"};
enum { ORDER_FLAGS = sizeof order_flags / sizeof *order_flags };

static const char *const relations[RELATIONS] = {"hb", "fhb", "shb", "wcp", "syncp", "cp"};

static const char mawk_program[] = "{n[$1]++} END{for(k in n) print k, n[k]}";

typedef struct cell {
    mr_bench_run best; /* without output */
    bool measured, found;
    uint64_t racy_events, racy_locations;
} cell;

typedef struct input {
    const char *maxrace, *folder;
    char name[256], text[PATH_BYTES], packed[PATH_BYTES]; /* `packed` is the .mrt */
    uint64_t events, text_bytes, packed_bytes;            /* 0 packed bytes: it could not be made */
    double read_seconds;
    cell mawk, from_text[RELATIONS], from_packed[RELATIONS];
} input;

static unsigned limit_seconds(void)
{
    const char *limit = getenv("LIMIT_SECONDS");
    return limit != NULL ? (unsigned)strtoul(limit, NULL, 10) : 300;
}

/* Preparing an input. */

static uint64_t file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* Is there a file `made` that is not older than `from`? */
static bool up_to_date(const char *made, const char *from)
{
    struct stat a, b;
    if (stat(made, &a) != 0 || stat(from, &b) != 0)
        return false;
    return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec > b.st_mtim.tv_sec
                                                : a.st_mtim.tv_nsec >= b.st_mtim.tv_nsec;
}

/* The base name without what stands after its first dot. */
static void set_name(input *self, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    snprintf(self->name, sizeof self->name, "%.*s", (int)strcspn(base, "."), base);
}

static bool unpack_to(mr_input *from, FILE *to)
{
    static char block[BLOCK_BYTES];
    mr_error error;
    size_t got = 0;
    while (mr_input_read(from, block, sizeof block, &got, &error) == MR_OK) {
        if (got == 0)
            return true;
        if (fwrite(block, 1, got, to) != got)
            return false;
    }
    return false;
}

static bool unpack(const char *path, const char *to)
{
    mr_input *from = NULL;
    mr_error error;
    FILE *file = fopen(to, "wb");
    bool ok = file != NULL && mr_input_open(path, &from, &error) == MR_OK && unpack_to(from, file);
    mr_input_close(from);
    ok = file != NULL && fclose(file) == 0 && ok;
    if (!ok) {
        fprintf(stderr, "orders: cannot unpack %s to %s\n", path, to);
        remove(to);
    }
    return ok;
}

/* Where the plain text of the trace is: itself, or an unpacked copy in the folder. */
static bool find_text(input *self, const char *path)
{
    size_t length = strlen(path);
    bool packed = length > 4 &&
                  (strcmp(path + length - 4, ".zst") == 0 || strcmp(path + length - 3, ".gz") == 0);
    if (!packed)
        return snprintf(self->text, PATH_BYTES, "%s", path) < PATH_BYTES;
    if (snprintf(self->text, PATH_BYTES, "%s/%s.std", self->folder, self->name) >= PATH_BYTES)
        return false;
    return up_to_date(self->text, path) || unpack(path, self->text);
}

/* The .mrt is made anew for another program, too: its format may be another. */
static bool find_packed(input *self)
{
    if (snprintf(self->packed, PATH_BYTES, "%s/%s.mrt", self->folder, self->name) >= PATH_BYTES)
        return false;
    if (up_to_date(self->packed, self->text) && up_to_date(self->packed, self->maxrace))
        return true;
    const char *words[] = {self->maxrace, "convert", self->text, self->packed, NULL};
    remove(self->packed);
    return mr_bench_run_command(words, 0, false).status == 0;
}

static uint64_t count_lines(const char *block, size_t count, char *before)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < count; i++) {
        lines += *before == '\n' && block[i] != '#' && block[i] != '\n';
        *before = block[i];
    }
    return lines;
}

/* Counts the events, which are the lines; after that the file is in memory, as far as it fits.
 * Then reads it once more, for the time that takes. */
static bool read_text(input *self)
{
    static char block[BLOCK_BYTES];
    char before = '\n';
    size_t got;
    FILE *file = fopen(self->text, "rb");
    if (file == NULL)
        return false;
    setvbuf(file, NULL, _IONBF, 0);
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        self->events += count_lines(block, got, &before);
    rewind(file);
    double start = mr_seconds();
    while (fread(block, 1, sizeof block, file) > 0)
        ;
    self->read_seconds = mr_seconds() - start;
    bool ok = ferror(file) == 0;
    fclose(file);
    return ok;
}

/* Measuring. */

static bool find_number(const char *text, const char *key, uint64_t *number)
{
    const char *at = text != NULL ? strstr(text, key) : NULL;
    if (at == NULL)
        return false;
    at += strlen(key);
    at += strspn(at, " :\t\n");
    *number = strtoull(at, NULL, 10);
    return *at >= '0' && *at <= '9';
}

static bool finished(const cell *it)
{
    return it->best.status == 0 || it->best.status == 1; /* 1: races */
}

/* It ended with an error; one that was stopped after the limit has not failed. */
static bool failed(const cell *it)
{
    return it->measured && !finished(it) && it->best.status != -1;
}

static void measure(cell *it, const char *const *words)
{
    if (it->measured && (!finished(it) || it->best.seconds > ONCE_SECONDS))
        return;
    mr_bench_run run = mr_bench_run_command(words, limit_seconds(), true);
    it->found = find_number(run.output, "\"racy_events\"", &it->racy_events) &&
                find_number(run.output, "\"racy_locations\"", &it->racy_locations);
    free(run.output);
    run.output = NULL;
    if (!it->measured || run.seconds < it->best.seconds)
        it->best = run;
    it->measured = true;
}

static void measure_order(const input *self, cell *it, const char *relation, const char *path)
{
    const char *words[ORDER_FLAGS + 5] = {self->maxrace};
    memcpy(words + 1, order_flags, sizeof order_flags);
    words[ORDER_FLAGS + 1] = "--relation";
    words[ORDER_FLAGS + 2] = relation;
    words[ORDER_FLAGS + 3] = path;
    measure(it, words);
}

static void measure_all(input *self)
{
    const char *mawk[] = {"mawk", "-F|", mawk_program, self->text, NULL};
    for (int round = 0; round < ROUNDS; round++) {
        measure(&self->mawk, mawk);
        for (int r = 0; r < RELATIONS; r++) {
            measure_order(self, &self->from_text[r], relations[r], self->text);
            if (self->packed_bytes > 0)
                measure_order(self, &self->from_packed[r], relations[r], self->packed);
        }
    }
}

/* Printing. */

static void print_ratio(double a, double b)
{
    if (a > 0 && b > 0)
        printf(" %.2f |", a / b);
    else
        printf(" |");
}

static double seconds_of(const cell *it)
{
    return it->measured && finished(it) ? it->best.seconds : 0;
}

static double cpu_of(const cell *it)
{
    return it->measured && finished(it) ? it->best.cpu_seconds : 0;
}

static void print_seconds(const cell *it)
{
    if (!it->measured)
        printf(" – |");
    else if (it->best.status == -1)
        printf(" > %u |", limit_seconds());
    else if (!finished(it))
        printf(" status %d |", it->best.status);
    else
        printf(" %.3f |", it->best.seconds);
}

static void print_rates(const input *self, const cell *it)
{
    double seconds = seconds_of(it);
    if (seconds > 0)
        printf(" %.1f | %.1f | %.3f | %.0f |", seconds * 1e9 / (double)self->events,
               (double)self->events / seconds / 1e6, it->best.cpu_seconds,
               (double)it->best.peak_bytes / (1 << 20));
    else
        printf(" | | | |");
}

/* False: text and .mrt disagree. */
static bool print_races(const cell *text, const cell *packed)
{
    const cell *either = text->found ? text : packed;
    if (either->found)
        printf(" %" PRIu64 " / %" PRIu64 " |\n", either->racy_events, either->racy_locations);
    else
        printf(" |\n");
    return !text->found || !packed->found ||
           (text->racy_events == packed->racy_events &&
            text->racy_locations == packed->racy_locations);
}

static bool print_relation(const input *self, int r)
{
    const cell *text = &self->from_text[r], *packed = &self->from_packed[r];
    printf("| %s |", relations[r]);
    print_seconds(text);
    print_seconds(packed);
    print_ratio(seconds_of(text), seconds_of(packed));
    print_ratio(seconds_of(text), seconds_of(&self->mawk));
    print_ratio(cpu_of(text), cpu_of(&self->mawk));
    print_ratio(seconds_of(text), seconds_of(&self->from_text[0]));
    print_ratio(seconds_of(packed), seconds_of(&self->from_packed[0]));
    print_rates(self, text);
    print_rates(self, packed);
    bool same = print_races(text, packed), ran = !failed(text) && !failed(packed);
    if (!same)
        fprintf(stderr, "orders: %s: %s differs between text and .mrt\n", self->name, relations[r]);
    if (!ran)
        fprintf(stderr, "orders: %s: %s did not finish\n", self->name, relations[r]);
    return same && ran;
}

static void print_head(const input *self)
{
    double events = (double)self->events;
    printf("\n### %s\n\n%" PRIu64 " events; text %.1f MB, %.1f bytes an event", self->name,
           self->events, (double)self->text_bytes / 1e6, (double)self->text_bytes / events);
    if (self->packed_bytes > 0)
        printf("; .mrt %.1f MB, %.1f bytes an event", (double)self->packed_bytes / 1e6,
               (double)self->packed_bytes / events);
    printf("; reading the text alone %.3f s; ", self->read_seconds);
    if (finished(&self->mawk))
        printf("mawk %.3f s (CPU %.3f s), %.0f MB/s.\n\n", self->mawk.best.seconds,
               self->mawk.best.cpu_seconds,
               (double)self->text_bytes / self->mawk.best.seconds / 1e6);
    else
        printf("mawk is not there, so nothing is compared with it.\n\n");
    puts("| relation | text s | .mrt s | text / .mrt | text / mawk | CPU: text / mawk | text / HB "
         "| .mrt / HB "
         "| text: ns/event | M events/s | CPU s | peak MiB | .mrt: ns/event | M events/s | CPU s | "
         "peak MiB "
         "| racy events / locations |");
    puts("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
}

static bool measure_trace(const char *maxrace, const char *folder, const char *path)
{
    input *self = calloc(1, sizeof *self);
    if (self == NULL)
        return false;
    self->maxrace = maxrace;
    self->folder = folder;
    set_name(self, path);
    bool ok = find_text(self, path) && read_text(self) && self->events > 0;
    if (ok) {
        self->text_bytes = file_bytes(self->text);
        self->packed_bytes = find_packed(self) ? file_bytes(self->packed) : 0;
        measure_all(self);
        print_head(self);
        for (int r = 0; r < RELATIONS; r++)
            ok = print_relation(self, r) && ok;
        fflush(stdout);
    } else {
        fprintf(stderr, "orders: cannot read %s\n", path);
    }
    free(self);
    return ok;
}

/* The machine. */

/* GB/s of one copy (read and written bytes both count) and of one sum over the same memory. */
static void print_bandwidth(void)
{
    const size_t count = (size_t)32 << 20; /* 256 MiB, far more than any cache */
    uint64_t *from = malloc(count * sizeof *from), *to = malloc(count * sizeof *to), sum = 0;
    double copied = 0, read = 0;
    if (from != NULL && to != NULL) {
        memset(from, 1, count * sizeof *from);
        memset(to, 2, count * sizeof *to);
        for (int round = 0; round < 5; round++) {
            double start = mr_seconds();
            memcpy(to, from, count * sizeof *from);
            double middle = mr_seconds();
            for (size_t i = 0; i < count; i++)
                sum += to[i];
            double end = mr_seconds(), bytes = (double)(count * sizeof *from) / 1e9;
            copied = 2 * bytes / (middle - start) > copied ? 2 * bytes / (middle - start) : copied;
            read = bytes / (end - middle) > read ? bytes / (end - middle) : read;
            from[0] = sum; /* so that nothing is left out */
        }
    }
    printf("memory: copies %.1f GB/s (read and written), reads %.1f GB/s, one thread, "
           "256 MiB\n",
           copied, read);
    free(from);
    free(to);
}

static void print_machine(void)
{
    char line[256], model[256] = "unknown processor";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        snprintf(model, sizeof model, "%s", colon + 1 + strspn(colon + 1, " "));
        model[strcspn(model, "\n")] = '\0';
        break;
    }
    if (file != NULL)
        fclose(file);
    printf("%s, %ld processors; ", model, sysconf(_SC_NPROCESSORS_ONLN));
    print_bandwidth();
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fputs("usage: orders MAXRACE FOLDER TRACE…\n", stderr);
        return 2;
    }
    bool ok = true;
    print_machine();
    for (int i = 3; i < argc; i++)
        ok = measure_trace(argv[1], argv[2], argv[i]) && ok;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
