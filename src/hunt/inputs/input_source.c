#include "input_source.h"

#include "base/map.h"
#include "base/memory.h"
#include "input_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum {
    MOST_BYTES = 4096,
    OLD_EVERY = 4, /* so often an input that is known runs again, in another order of its threads */
    ARGUMENTS_MOST = 256,
    NUMBERS = 1 << 30, /* of behaviours and inputs */
};

/* An input that was given out: where it is is said by its number. */
typedef struct source_input {
    uint32_t number;       /* in `inputs` */
    bool is_other;         /* its file is of another session */
    bool is_kept;          /* it is explored */
    mr_run_end *reference; /* owned; NULL: it has not been run */
} source_input;

struct mr_input_source {
    mr_inputs *inputs;
    const char *const *arguments;
    char folder[MR_INPUT_PATH_BYTES - 32];
    bool is_arguments, is_file;
    source_input *items;
    size_t count, capacity;
    uint32_t next;      /* the number of the next new input */
    mr_map places;      /* by number of an input: its index in items + 1 */
    mr_map earlier;     /* by hash of the bytes: the number that an earlier session gave, + 1 */
    mr_u32s kept;       /* their numbers */
    mr_u32s behaviours; /* by behaviour: its input */
    long read_bytes;    /* of the file `behaviours` */
    uint64_t asked;
};

static void path_of(const mr_input_source *source, uint32_t input, char path[MR_INPUT_PATH_BYTES])
{
    snprintf(path, MR_INPUT_PATH_BYTES, "%s/%06" PRIu32, source->folder, input);
}

static bool marks(const char *argument)
{
    return strstr(argument, "@@") != NULL;
}

/* NULL: another session has given it out, and this one has not. */
static source_input *find(const mr_input_source *source, uint32_t input)
{
    uint32_t place = mr_map_get(&source->places, input, 0);
    return place ? &source->items[place - 1] : NULL;
}

/* ---- other sessions ---- */

static void path_of_journal(const mr_input_source *source, char path[MR_INPUT_PATH_BYTES])
{
    snprintf(path, MR_INPUT_PATH_BYTES, "%s/behaviours", source->folder);
}

/* A line of the file `behaviours`. The last one may be a part of one, when who wrote it was killed. */
static bool read_line(char *line, unsigned long *behaviour, unsigned long *input)
{
    char *rest;
    *behaviour = strtoul(line, &rest, 10);
    *input = strtoul(rest, NULL, 10);
    return rest != line && strchr(line, '\n') && *behaviour < NUMBERS && *input < NUMBERS;
}

/* What other sessions know of behaviours. `inputs`: gets the inputs. */
static mr_status take_up(mr_input_source *source, mr_u32s *inputs, mr_error *error)
{
    char line[64], path[MR_INPUT_PATH_BYTES];
    unsigned long behaviour, input;
    path_of_journal(source, path);
    FILE *file = fopen(path, "r");
    if (!file)
        return MR_OK;
    bool done = fseek(file, source->read_bytes, SEEK_SET) == 0;
    while (done && fgets(line, sizeof line, file)) {
        if (!read_line(line, &behaviour, &input))
            continue;
        while (done && source->behaviours.count <= behaviour)
            done = mr_u32s_push(&source->behaviours, MR_NO_SOURCE_INPUT);
        if (done)
            source->behaviours.items[behaviour] = (uint32_t)input;
        if (input >= source->next)
            source->next = (uint32_t)input + 1;
        done = done && mr_u32s_push(inputs, (uint32_t)input);
        source->read_bytes = ftell(file);
    }
    fclose(file);
    return done ? MR_OK : mr_error_memory(error, "reading the inputs of a hunt");
}

/* The numbers that are in use by files. */
static void pass_over_files(mr_input_source *source)
{
    char path[MR_INPUT_PATH_BYTES];
    uint32_t gap = 0, number = source->next;
    for (; gap < 10000; number++) {
        path_of(source, number, path);
        gap++;
        if (access(path, F_OK) == 0) {
            source->next = number + 1;
            gap = 0;
        }
    }
}

/* An input of another session is tried, under its number. */
static mr_status add_other(mr_input_source *source, uint32_t number, mr_error *error)
{
    char path[MR_INPUT_PATH_BYTES];
    uint8_t *bytes;
    size_t size;
    path_of(source, number, path);
    if (access(path, F_OK) != 0) /* somebody has removed it */
        return MR_OK;
    mr_status status = mr_input_file_read(path, MOST_BYTES, &bytes, &size, error);
    if (!status && (!mr_inputs_add(source->inputs, bytes, size) ||
                    !mr_map_at(&source->earlier, XXH3_64bits(bytes, size), number + 1)))
        status = mr_error_memory(error, "reading the inputs of a hunt");
    free(bytes);
    return status;
}

mr_status mr_input_source_read_on(mr_input_source *source, mr_error *error)
{
    mr_u32s inputs = {.count = 0};
    mr_status status = take_up(source, &inputs, error);
    uint32_t last = MR_NO_SOURCE_INPUT;
    for (uint32_t i = 0; i < inputs.count && !status; i++) {
        if (inputs.items[i] != last && !find(source, inputs.items[i]))
            status = add_other(source, inputs.items[i], error);
        last = inputs.items[i];
    }
    mr_u32s_free(&inputs);
    return status;
}

/* ---- the beginning ---- */

static mr_status add_given(mr_input_source *source, const mr_input_options *options, size_t most,
                           mr_error *error)
{
    mr_status status = MR_OK;
    if (options->arguments_file) {
        uint8_t *bytes;
        size_t size;
        status = mr_input_file_read(options->arguments_file, most, &bytes, &size, error);
        if (!status && !mr_inputs_add(source->inputs, bytes, size))
            status = mr_error_memory(error, "reading inputs");
        free(bytes);
    }
    if (!status && options->folder)
        status = mr_inputs_add_folder(source->inputs, options->folder, most, error);
    if (!status && options->generator)
        status = mr_inputs_add_generated(source->inputs, options->generator, options->generated,
                                         most, error);
    if (!status && !mr_inputs_add(source->inputs, NULL, 0) && !options->folder)
        status = mr_error_memory(error, "reading inputs");
    return status;
}

static mr_status open_folder(mr_input_source *source, const char *hunt_folder, mr_error *error)
{
    if (snprintf(source->folder, sizeof source->folder, "%s/inputs", hunt_folder) >=
        (int)sizeof source->folder)
        return mr_error_set(error, MR_ERR_USAGE, hunt_folder, 0,
                            "this path is too long; use a shorter one");
    if (mkdir(source->folder, 0777) != 0 && errno != EEXIST)
        return mr_error_set(error, MR_ERR_IO, source->folder, 0, "cannot be made: %s",
                            strerror(errno));
    mr_status status = mr_input_source_read_on(source, error);
    if (!status)
        pass_over_files(source);
    return status;
}

mr_status mr_input_source_open(const mr_input_options *options, const char *hunt_folder,
                               const char *const *arguments, uint64_t seed,
                               mr_input_source **source, mr_error *error)
{
    mr_inputs_settings settings = {.seed = seed,
                                   .most_bytes =
                                       options->most_bytes ? options->most_bytes : MOST_BYTES,
                                   .solves = options->solves,
                                   .mutates = options->mutates};
    mr_input_source *self = mr_calloc(1, sizeof *self);
    if (self)
        self->inputs = mr_inputs_new(&settings);
    *source = self;
    if (!self || !self->inputs)
        return mr_error_memory(error, "reading inputs");
    self->arguments = arguments;
    self->is_arguments = options->arguments_file != NULL;
    for (size_t i = 1; arguments[i]; i++)
        self->is_file = self->is_file || marks(arguments[i]);
    self->is_file = self->is_file && !self->is_arguments;
    mr_status status = open_folder(self, hunt_folder, error);
    return status ? status : add_given(self, options, settings.most_bytes, error);
}

void mr_input_source_close(mr_input_source *source)
{
    if (!source)
        return;
    for (size_t i = 0; i < source->count; i++)
        if (source->items[i].reference) {
            mr_run_end_free(source->items[i].reference);
            free(source->items[i].reference);
        }
    mr_inputs_free(source->inputs);
    mr_map_free(&source->places);
    mr_map_free(&source->earlier);
    mr_u32s_free(&source->kept);
    mr_u32s_free(&source->behaviours);
    free(source->items);
    free(source);
}

/* ---- what is next ---- */

/* A number that no file has. The file is made, so that no other process takes it. */
static mr_status take_number(mr_input_source *source, uint32_t *input, mr_error *error)
{
    char path[MR_INPUT_PATH_BYTES];
    int file;
    do {
        *input = source->next++;
        path_of(source, *input, path);
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot be written: %s", strerror(errno));
    close(file);
    return MR_OK;
}

static mr_status give(mr_input_source *source, const mr_input_try *next, uint32_t *input,
                      mr_error *error)
{
    char path[MR_INPUT_PATH_BYTES];
    void *items = source->items;
    if (!mr_grow(&items, &source->capacity, source->count + 1, sizeof *source->items))
        return mr_error_memory(error, "making an input");
    source->items = items;
    uint32_t earlier = mr_map_get(&source->earlier, XXH3_64bits(next->bytes, next->size), 0);
    mr_status status = MR_OK;
    *input = earlier - 1;
    if (!earlier)
        status = take_number(source, input, error);
    if (status)
        return status;
    source->items[source->count++] =
        (source_input){.number = next->number, .is_other = earlier != 0};
    if (!mr_map_at(&source->places, *input, (uint32_t)source->count))
        return mr_error_memory(error, "making an input");
    path_of(source, *input, path);
    return earlier ? MR_OK : mr_input_file_write(path, next->bytes, next->size, error);
}

mr_status mr_input_source_next(mr_input_source *source, uint32_t *input, bool *is_try,
                               mr_error *error)
{
    mr_input_try next;
    bool wants_old = source->asked++ % OLD_EVERY == OLD_EVERY - 1 && source->kept.count > 0;
    *is_try = !wants_old && mr_inputs_next(source->inputs, &next);
    if (*is_try)
        return give(source, &next, input, error);
    if (!source->kept.count)
        return mr_error_memory(error, "making an input");
    *input = source->kept.items[source->asked / OLD_EVERY % source->kept.count];
    return MR_OK;
}

mr_status mr_input_source_told(mr_input_source *source, uint32_t input, const mr_input_seen *seen,
                               bool *is_new, mr_error *error)
{
    source_input *item = find(source, input);
    *is_new = false;
    if (!item)
        return MR_OK;
    if (!mr_inputs_feedback(source->inputs, item->number, seen, is_new) ||
        (*is_new && !mr_u32s_push(&source->kept, input)))
        return mr_error_memory(error, "looking at a run");
    item->is_kept = *is_new;
    return MR_OK;
}

bool mr_input_source_is_other(const mr_input_source *source, uint32_t input)
{
    const source_input *item = find(source, input);
    return !item || item->is_other;
}

void mr_input_source_drop(const mr_input_source *source, uint32_t input)
{
    char path[MR_INPUT_PATH_BYTES];
    path_of(source, input, path);
    unlink(path);
}

mr_status mr_input_source_note(mr_input_source *source, uint32_t behaviour, uint32_t input,
                               mr_error *error)
{
    char path[MR_INPUT_PATH_BYTES];
    while (source->behaviours.count <= behaviour)
        if (!mr_u32s_push(&source->behaviours, MR_NO_SOURCE_INPUT))
            return mr_error_memory(error, "noting a behaviour");
    source->behaviours.items[behaviour] = input;
    path_of_journal(source, path);
    FILE *file = fopen(path, "a"); /* not left open: others are to read what is written */
    bool done = file && fprintf(file, "%" PRIu32 " %" PRIu32 "\n", behaviour, input) > 0;
    done = file && fclose(file) == 0 && done;
    return done ? MR_OK
                : mr_error_set(error, MR_ERR_IO, path, 0, "cannot be written: %s", strerror(errno));
}

uint32_t mr_input_source_of(const mr_input_source *source, uint32_t behaviour)
{
    return behaviour < source->behaviours.count ? source->behaviours.items[behaviour]
                                                : MR_NO_SOURCE_INPUT;
}

/* ---- how it ended ---- */

const mr_run_end *mr_input_source_reference(const mr_input_source *source, uint32_t input)
{
    const source_input *item = find(source, input);
    return item ? item->reference : NULL;
}

static char *copy_text(const char *text)
{
    return text ? mr_strndup(text, strlen(text)) : NULL;
}

bool mr_input_source_refer(mr_input_source *source, uint32_t input, const mr_run_end *end)
{
    source_input *item = find(source, input);
    if (!item || item->reference)
        return true;
    item->reference = mr_calloc(1, sizeof *item->reference);
    if (!item->reference)
        return false;
    *item->reference = *end;
    item->reference->output = copy_text(end->output);
    item->reference->errors = copy_text(end->errors);
    return true;
}

uint32_t mr_input_source_tried(const mr_input_source *source)
{
    return (uint32_t)source->count;
}

uint32_t mr_input_source_kept(const mr_input_source *source)
{
    return (uint32_t)source->kept.count;
}

/* ---- how the program gets it ---- */

/* The argument with the path in the place of each @@. */
static char *put_path(char *to, const char *argument, const char *path)
{
    const char *mark;
    while ((mark = strstr(argument, "@@")) != NULL) {
        memcpy(to, argument, (size_t)(mark - argument));
        to += mark - argument;
        to = stpcpy(to, path);
        argument = mark + 2;
    }
    return stpcpy(to, argument) + 1;
}

static size_t count_arguments(const mr_input_source *source, size_t *bytes)
{
    size_t count = 0;
    for (*bytes = 0; source->arguments[count]; count++)
        *bytes += (strlen(source->arguments[count]) + 1) * MR_INPUT_PATH_BYTES / 2;
    return count;
}

/* Lines are arguments; a NUL ends one, too. */
static size_t put_lines(const char **arguments, size_t count, char *to, const uint8_t *bytes,
                        size_t size)
{
    size_t begin = 0, left = ARGUMENTS_MOST;
    for (size_t at = 0; at <= size && left > 0; at++) {
        if (at < size && bytes[at] != '\n' && bytes[at] != '\0')
            continue;
        if (at == size && at == begin)
            break;
        arguments[count++] = to;
        memcpy(to, bytes + begin, at - begin);
        to += at - begin;
        *to++ = '\0';
        begin = at + 1;
        left--;
    }
    return count;
}

static mr_status place_arguments(const mr_input_source *source, mr_input_place *place,
                                 mr_error *error)
{
    uint8_t *bytes;
    size_t size, unused, count = 0;
    mr_status status = mr_input_file_read(place->path, MOST_BYTES, &bytes, &size, error);
    if (status)
        return status;
    place->arguments =
        mr_calloc(count_arguments(source, &unused) + ARGUMENTS_MOST + 1, sizeof *place->arguments);
    place->texts = mr_malloc(2, 2 * size);
    bool is_put = false;
    for (size_t i = 0; place->arguments && place->texts && source->arguments[i]; i++) {
        if (strcmp(source->arguments[i], "@@") != 0 || is_put) {
            place->arguments[count++] = source->arguments[i];
            continue;
        }
        count = put_lines(place->arguments, count, place->texts, bytes, size);
        is_put = true;
    }
    if (place->arguments && place->texts && !is_put)
        put_lines(place->arguments, count, place->texts, bytes, size);
    free(bytes);
    return place->arguments && place->texts ? MR_OK : mr_error_memory(error, "running an input");
}

mr_status mr_input_place_make(const mr_input_source *source, uint32_t input, mr_input_place *place,
                              mr_error *error)
{
    size_t bytes, count = count_arguments(source, &bytes);
    *place = (mr_input_place){.is_stdin = !source->is_arguments && !source->is_file};
    path_of(source, input, place->path);
    if (source->is_arguments)
        return place_arguments(source, place, error);
    place->arguments = mr_calloc(count + 1, sizeof *place->arguments);
    place->texts = mr_malloc(1, bytes);
    if (!place->arguments || !place->texts)
        return mr_error_memory(error, "running an input");
    char *to = place->texts;
    for (size_t i = 0; i < count; i++) {
        place->arguments[i] = source->arguments[i];
        if (i > 0 && source->is_file && marks(source->arguments[i])) {
            place->arguments[i] = to;
            to = put_path(to, source->arguments[i], place->path);
        }
    }
    return MR_OK;
}

void mr_input_place_free(mr_input_place *place)
{
    free(place->arguments);
    free(place->texts);
    place->arguments = NULL;
    place->texts = NULL;
}
