#include "run_info.h"

#include "base/memory.h"
#include "formats/mrt/mrt_positions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum { PATH_BYTES = 4096 };

const char *const mr_run_info_hidden[] = {"_", "MAXRACE_SYMBOL_CACHE", NULL};

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "reading how the program was run");
}

static bool push(mr_texts *texts, char *text)
{
    void *items = texts->items;
    if (!text || !mr_grow(&items, &texts->capacity, texts->count + 2, sizeof *texts->items)) {
        free(text);
        return false;
    }
    texts->items = items;
    texts->items[texts->count++] = text;
    texts->items[texts->count] = NULL;
    return true;
}

/* The value of a line, without escapes. NULL: no memory. */
static char *unescape(const char *text, size_t length)
{
    char *copy = mr_malloc(length + 1, 0);
    size_t used = 0;
    for (size_t i = 0; copy && i < length; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < length)
            c = text[++i] == 'n' ? '\n' : text[i];
        copy[used++] = c;
    }
    if (copy)
        copy[used] = '\0';
    return copy;
}

/* "NUMBER START END BIAS BUILD-ID PATH" */
static bool take_module(mr_run_info *info, const char *text)
{
    unsigned long long number, start, end, bias;
    char id[80];
    int used = 0;
    void *modules = info->modules;
    /* The trace is of the recorder's making. NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(text, "%llu %llx %llx %llx %79s %n", &number, &start, &end, &bias, id, &used) < 5 ||
        !used || number != info->module_count)
        return true;
    if (!mr_grow(&modules, &info->module_capacity, info->module_count + 1, sizeof *info->modules))
        return false;
    info->modules = modules;
    mr_run_module *module = &info->modules[info->module_count++];
    *module = (mr_run_module){.start = start,
                              .end = end,
                              .bias = bias,
                              .build_id = mr_strndup(id, strlen(id)),
                              .path = mr_strndup(text + used, strlen(text + used))};
    return module->build_id && module->path;
}

static bool set(char **text, char *value)
{
    free(*text);
    *text = value;
    return value != NULL;
}

/* Takes the value over. */
static bool take(mr_run_info *info, const char *key, size_t length, char *value)
{
    static const char *const keys[] = {"arg",  "env",    "cwd",      "schedule",
                                       "seed", "module", "deadlock", "fd"};
    enum { ARG, ENV, CWD, SCHEDULE, SEED, MODULE, DEADLOCK, DESCRIPTOR, KEYS };
    int which = 0;
    bool ok = value != NULL;
    while (which < KEYS && (strlen(keys[which]) != length || memcmp(keys[which], key, length) != 0))
        which++;
    if (ok && which == ARG)
        return push(&info->arguments, value);
    if (ok && which == ENV)
        return push(&info->environment, value);
    if (ok && which == CWD)
        return set(&info->folder, value);
    if (ok && which == SCHEDULE)
        return set(&info->schedule, value);
    if (ok && which == SEED)
        info->seed = strtoull(value, NULL, 10);
    if (ok && which == MODULE)
        ok = take_module(info, value);
    if (ok && which == DEADLOCK)
        info->waits_in_deadlock = strcmp(value, "wait") == 0;
    if (ok && which == DESCRIPTOR)
        ok = mr_descriptors_take(&info->descriptors, value);
    free(value);
    return ok;
}

mr_status mr_run_info_read(mr_run_info *info, const char *lines, mr_error *error)
{
    while (lines && *lines) {
        const char *end = strchr(lines, '\n'), *space = strchr(lines, ' ');
        if (!end)
            end = lines + strlen(lines);
        if (space && space < end &&
            !take(info, lines, (size_t)(space - lines),
                  unescape(space + 1, (size_t)(end - space) - 1)))
            return no_memory(error);
        lines = *end ? end + 1 : end;
    }
    return MR_OK;
}

static void free_texts(mr_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free((void *)texts->items[i]);
    free(texts->items);
}

void mr_run_info_free(mr_run_info *info)
{
    free_texts(&info->arguments);
    free_texts(&info->environment);
    mr_descriptors_free(&info->descriptors);
    free(info->folder);
    free(info->schedule);
    for (size_t i = 0; i < info->module_count; i++) {
        free(info->modules[i].build_id);
        free(info->modules[i].path);
    }
    free(info->modules);
    *info = (mr_run_info){.folder = NULL};
}

/* What a shell sets anew for each command, and what only maxrace reads: no program gets it. */
static bool is_ours(const char *entry)
{
    for (size_t i = 0; mr_run_info_hidden[i]; i++) {
        size_t length = strlen(mr_run_info_hidden[i]);
        if (strncmp(entry, mr_run_info_hidden[i], length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

static void write_command(mr_bytes *lines, const char *const *arguments,
                          const char *const *environment, const char *folder,
                          bool waits_in_deadlock, const mr_descriptors *descriptors)
{
    char ours[PATH_BYTES];
    if (!environment)
        environment = (const char *const *)environ;
    for (; *arguments; arguments++)
        mr_run_line(lines, "arg", *arguments);
    if (folder || getcwd(ours, sizeof ours))
        mr_run_line(lines, "cwd", folder ? folder : ours);
    mr_run_line(lines, "deadlock", waits_in_deadlock ? "wait" : "stop");
    for (const char *const *entry = environment; *entry; entry++)
        if (!is_ours(*entry))
            mr_run_line(lines, "env", *entry);
    if (descriptors)
        mr_descriptors_write(lines, descriptors);
}

void mr_run_info_lines(mr_bytes *lines, const char *const *arguments, bool waits_in_deadlock,
                       const mr_descriptors *descriptors)
{
    write_command(lines, arguments, NULL, NULL, waits_in_deadlock, descriptors);
}

void mr_run_info_of_command(mr_bytes *lines, const char *const *arguments,
                            const char *const *environment, const char *folder,
                            const mr_descriptors *descriptors)
{
    write_command(lines, arguments, environment, folder, false, descriptors);
}

void mr_run_info_again(mr_bytes *lines, const mr_run_info *info)
{
    for (size_t i = 0; i < info->arguments.count; i++)
        mr_run_line(lines, "arg", info->arguments.items[i]);
    if (info->folder)
        mr_run_line(lines, "cwd", info->folder);
    mr_run_line(lines, "deadlock", info->waits_in_deadlock ? "wait" : "stop");
    for (size_t i = 0; i < info->environment.count; i++)
        mr_run_line(lines, "env", info->environment.items[i]);
    mr_descriptors_write(lines, &info->descriptors);
}

/* All of a file, as a text. NULL: error. */
static char *read_text(const char *path, mr_error *error)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0)
        text = mr_malloc((size_t)size + 1, 0);
    if (text)
        text[fread(text, 1, (size_t)size, file)] = '\0';
    else
        mr_error_set(error, MR_ERR_IO, path, 0, "cannot read: %s", strerror(errno));
    if (file)
        fclose(file);
    return text;
}

mr_status mr_run_info_of_schedule(mr_run_info *info, const char *path, mr_error *error)
{
    static const char first[] = "maxrace schedule 1\n";
    char *text = read_text(path, error);
    if (!text)
        return error->status;
    mr_status status =
        strncmp(text, first, strlen(first)) == 0
            ? mr_run_info_read(info, text, error)
            : mr_error_set(error, MR_ERR_TRACE, path, 1, "this is no schedule of version 1");
    free(text);
    return status;
}
