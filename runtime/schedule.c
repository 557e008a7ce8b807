#include "schedule.h"

#include "log.h"
#include "sys.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { THREADS_MAX = 1 << 16, MODULES_MAX = 1 << 12 };

static const char *const kind_names[] = {
#define MR_LOG_KIND_NAME(name, words) [MR_LOG_##name] = #name,
    MR_LOG_KIND_MAP(MR_LOG_KIND_NAME)
#undef MR_LOG_KIND_NAME
};

const char *mr_log_kind_name(unsigned kind)
{
    return kind < MR_LOG_KIND_COUNT ? kind_names[kind] : "?";
}

/* A line that is read, from left to right. */
typedef struct line {
    const char *at, *end;
    bool wrong;
} line;

typedef struct word {
    const char *text;
    size_t bytes;
} word;

static word next_word(line *self)
{
    while (self->at < self->end && *self->at == ' ') {
        self->at++;
    }
    word found = {self->at, 0};
    while (self->at < self->end && *self->at != ' ') {
        self->at++;
        found.bytes++;
    }
    return found;
}

static bool is_word(word is, const char *wanted)
{
    size_t i = 0;
    while (i < is.bytes && wanted[i] != '\0' && wanted[i] == is.text[i]) {
        i++;
    }
    return i == is.bytes && wanted[i] == '\0';
}

static bool is_there(const line *self)
{
    const char *at = self->at;
    while (at < self->end && *at == ' ') {
        at++;
    }
    return at < self->end;
}

/* Decimal, with a sign, or hexadecimal after 0x. */
static uint64_t number_of(line *self)
{
    word is = next_word(self);
    size_t i = is.bytes > 0 && is.text[0] == '-';
    bool negative = i == 1;
    unsigned base = is.bytes > i + 2 && is.text[i] == '0' && is.text[i + 1] == 'x' ? 16 : 10;
    uint64_t value = 0;
    i += base == 16 ? 2 : 0;
    self->wrong = self->wrong || i == is.bytes;
    for (; i < is.bytes; i++) {
        char c = is.text[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 99;
        self->wrong = self->wrong || digit >= base;
        value = value * base + digit;
    }
    return negative ? -value : value;
}

static uint32_t role_of(line *self, const mr_schedule *schedule)
{
    uint64_t role = number_of(self);
    self->wrong = self->wrong || role >= schedule->role_count;
    return self->wrong ? 0 : (uint32_t)role;
}

static uint8_t kind_of(line *self)
{
    word is = next_word(self);
    for (unsigned kind = 0; kind < MR_LOG_KIND_COUNT; kind++) {
        if (is_word(is, kind_names[kind])) {
            return (uint8_t)kind;
        }
    }
    self->wrong = true;
    return 0;
}

static void take_rest(line *self, const char **text, uint32_t *bytes)
{
    while (self->at < self->end && *self->at == ' ') {
        self->at++;
    }
    *text = self->at;
    *bytes = (uint32_t)(self->end - self->at);
}

/* "module NUMBER START END BIAS BUILD-ID PATH" */
static void take_module(line *self, mr_schedule *schedule)
{
    uint64_t number = number_of(self);
    if (number >= schedule->module_count) {
        self->wrong = true;
        return;
    }
    mr_schedule_module *module = &schedule->modules[number];
    module->start = number_of(self);
    module->end = number_of(self);
    number_of(self);
    word id = next_word(self);
    module->id = id.text;
    module->id_digits = (uint32_t)id.bytes;
    take_rest(self, &module->path, &module->path_bytes);
}

/* "thread NUMBER PARENT NTH NAME"; the main thread has "-" for the parent. */
static void take_thread(line *self, mr_schedule *schedule)
{
    mr_role *role = &schedule->roles[role_of(self, schedule)];
    line parent = *self;
    if (is_word(next_word(self), "-")) {
        role->parent = MR_ROLE_NONE;
    } else {
        *self = parent;
        role->parent = role_of(self, schedule);
    }
    role->nth = (uint32_t)number_of(self);
    take_rest(self, &role->name, &role->name_bytes);
}

/* "at THREAD POSITION KIND MODULE OFFSET [VALUE]"; without a module "-" and the address. */
static void take_expected(line *self, mr_schedule *schedule)
{
    mr_role *role = &schedule->roles[role_of(self, schedule)];
    mr_expected is = {.position = number_of(self), .kind = kind_of(self)};
    line module = *self;
    if (!is_word(next_word(self), "-")) {
        *self = module;
        uint64_t number = number_of(self);
        self->wrong = self->wrong || number >= schedule->module_count;
        is.module = (uint32_t)number + 1;
    }
    is.offset = number_of(self);
    is.has_value = is_there(self);
    is.value = is.has_value ? (int64_t)number_of(self) : 0;
    if (role->next > 0 && role->expected[role->next - 1].position >= is.position) {
        self->wrong = true; /* not in order */
    } else if (!self->wrong) {
        role->expected[role->next++] = is;
    }
}

/* "handler THREAD POSITION": the operation of the last line "at" of the thread is the first one of a
 * handler. */
static void take_handler(line *self, mr_schedule *schedule)
{
    mr_role *role = &schedule->roles[role_of(self, schedule)];
    uint64_t position = number_of(self);
    if (self->wrong || role->next == 0 || role->expected[role->next - 1].position != position) {
        self->wrong = true;
        return;
    }
    role->expected[role->next - 1].is_handler = true;
    schedule->has_handlers = true;
}

/* "task THREAD POSITION MAKER AT": by the operation of the last line "at" the thread takes the task that MAKER made by its operation AT. */
static void take_task(line *self, mr_schedule *schedule)
{
    mr_role *role = &schedule->roles[role_of(self, schedule)];
    uint64_t position = number_of(self);
    uint32_t maker = role_of(self, schedule);
    uint64_t at = number_of(self);
    if (self->wrong || role->next == 0 || role->expected[role->next - 1].position != position) {
        self->wrong = true;
        return;
    }
    mr_expected *is = &role->expected[role->next - 1];
    is->is_task = true;
    is->has_value = false;
    is->maker = maker;
    is->value = (int64_t)at;
}

static void take_step(line *self, mr_schedule *schedule, mr_step_kind kind)
{
    mr_schedule_step *step = &schedule->steps[schedule->step_count++];
    step->kind = kind;
    if (kind == MR_STEP_RUN || kind == MR_STEP_STOP) {
        step->role = role_of(self, schedule);
        step->position = number_of(self);
        step->any_place = is_there(self);
    }
}

/* "wake THREAD POSITION WOKEN" */
static void take_wake(line *self, mr_schedule *schedule)
{
    mr_schedule_wake *wake = &schedule->wakes[schedule->wake_count++];
    wake->role = role_of(self, schedule);
    wake->position = number_of(self);
    wake->woken = role_of(self, schedule);
}

/* Words that it does not know are for others. */
static void take_line(line *self, mr_schedule *schedule)
{
    word what = next_word(self);
    if (is_word(what, "at")) {
        take_expected(self, schedule);
    } else if (is_word(what, "run")) {
        take_step(self, schedule, MR_STEP_RUN);
    } else if (is_word(what, "stop")) {
        take_step(self, schedule, MR_STEP_STOP);
    } else if (is_word(what, "goal")) {
        take_step(self, schedule, MR_STEP_GOAL);
    } else if (is_word(what, "hold")) {
        take_step(self, schedule, MR_STEP_HOLD);
    } else if (is_word(what, "wake")) {
        take_wake(self, schedule);
    } else if (is_word(what, "module")) {
        take_module(self, schedule);
    } else if (is_word(what, "thread")) {
        take_thread(self, schedule);
    } else if (is_word(what, "handler")) {
        take_handler(self, schedule);
    } else if (is_word(what, "task")) {
        take_task(self, schedule);
    } else if (is_word(what, "loose")) {
        schedule->is_loose = true;
    }
}

/* "count MODULES THREADS STEPS WAKES", then for each thread "expect THREAD COUNT", come before what
 * they count, so that there is room. */
static bool make_room(line *self, mr_schedule *schedule)
{
    schedule->module_count = number_of(self);
    schedule->role_count = number_of(self);
    uint64_t steps = number_of(self), wakes = number_of(self);
    if (self->wrong || schedule->module_count > MODULES_MAX || schedule->role_count == 0 ||
        schedule->role_count > THREADS_MAX || steps > UINT32_MAX || wakes > UINT32_MAX) {
        return false;
    }
    schedule->modules = mr_pages((schedule->module_count + 1) * sizeof *schedule->modules);
    schedule->roles = mr_pages(schedule->role_count * sizeof *schedule->roles);
    schedule->steps = mr_pages((steps + 1) * sizeof *schedule->steps);
    schedule->wakes = mr_pages((wakes + 1) * sizeof *schedule->wakes);
    return schedule->modules != NULL && schedule->roles != NULL && schedule->steps != NULL &&
           schedule->wakes != NULL;
}

static bool make_expected(line *self, mr_schedule *schedule)
{
    mr_role *role = &schedule->roles[role_of(self, schedule)];
    role->expected_count = number_of(self);
    if (self->wrong || role->expected_count > UINT32_MAX || role->expected != NULL) {
        return false;
    }
    role->expected = mr_pages((role->expected_count + 1) * sizeof *role->expected);
    return role->expected != NULL;
}

/* Has a step or a wake more room than was asked for, or an operation? */
static bool has_room(const mr_schedule *schedule, word what, line rest, uint64_t steps,
                     uint64_t wakes)
{
    if (is_word(what, "at")) {
        uint32_t number = role_of(&rest, schedule);
        return !rest.wrong && schedule->roles[number].next < schedule->roles[number].expected_count;
    }
    if (is_word(what, "wake")) {
        return schedule->wake_count < wakes;
    }
    return schedule->step_count < steps;
}

static bool refuse(mr_schedule *schedule, const char *problem, uint64_t number)
{
    schedule->problem = problem;
    schedule->line = number;
    return false;
}

static bool read_lines(const char *at, const char *end, mr_schedule *schedule)
{
    uint64_t number = 0, steps = 0, wakes = 0;
    for (; at < end; at++) {
        line self = {at, at, false};
        while (self.end < end && *self.end != '\n') {
            self.end++;
        }
        at = self.end;
        line start = self;
        word what = next_word(&self);
        bool ok = true;
        if (number++ == 0) {
            ok = is_word((word){start.at, (size_t)(start.end - start.at)}, MR_SCHEDULE_FIRST_LINE);
        } else if (is_word(what, "count")) {
            ok = schedule->roles == NULL && make_room(&self, schedule);
            self = start;
            next_word(&self);
            number_of(&self);
            number_of(&self);
            steps = number_of(&self);
            wakes = number_of(&self);
        } else if (is_word(what, "expect")) {
            ok = schedule->roles != NULL && make_expected(&self, schedule);
        } else if (is_word(what, "at") || is_word(what, "run") || is_word(what, "stop") ||
                   is_word(what, "goal") || is_word(what, "hold") || is_word(what, "wake")) {
            ok = schedule->roles != NULL && has_room(schedule, what, self, steps, wakes);
        } else if (is_word(what, "thread") || is_word(what, "module") || is_word(what, "handler") ||
                   is_word(what, "task")) {
            ok = schedule->roles != NULL;
        }
        if (ok && number > 1) {
            take_line(&start, schedule);
        }
        if (!ok || start.wrong || self.wrong) {
            return refuse(schedule, "makes no sense", number);
        }
    }
    for (uint64_t i = 0; i < schedule->role_count; i++) {
        schedule->roles[i].expected_count = schedule->roles[i].next;
        schedule->roles[i].next = 0;
    }
    return schedule->roles != NULL || refuse(schedule, "it has no threads", 0);
}

bool mr_schedule_read(const char *path, mr_schedule *schedule)
{
    struct stat is;
    long fd = mr_sys(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0, 0, 0);
    if (fd < 0) {
        return refuse(schedule, "it cannot be opened", 0);
    }
    bool regular = fstat((int)fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0;
    long map = regular ? mr_sys(SYS_mmap, 0, is.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : -1;
    mr_sys(SYS_close, fd, 0, 0, 0, 0, 0);
    if (mr_sys_failed(map)) {
        return refuse(schedule, "it is no regular file, or empty", 0);
    }
    return read_lines((const char *)map, (const char *)map + is.st_size, schedule);
}
