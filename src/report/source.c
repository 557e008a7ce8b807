#include "source.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 8 << 20, PATH_BYTES = 4300 };

void mr_source_init(mr_source *source, const mr_config *config)
{
    *source = (mr_source){.folder = mr_config_text(config, "source_dir")};
}

void mr_source_free(mr_source *source)
{
    for (size_t i = 0; i < source->count; i++) {
        free(source->files[i].name);
        free(source->files[i].text);
        free(source->files[i].lines);
    }
    free(source->files);
    *source = (mr_source){0};
}

/* The whole file, terminated; NULL: there is none, it is too large, or no memory. */
static char *read_file(const char *path, size_t *length)
{
    FILE *stream = fopen(path, "rb");
    char *text = stream ? mr_malloc(FILE_BYTES_MAX, 1) : NULL;
    if (text) {
        *length = fread(text, 1, FILE_BYTES_MAX, stream);
        if (*length == 0 || *length == FILE_BYTES_MAX) {
            free(text);
            text = NULL;
        } else {
            char *fit = mr_realloc(text, *length + 1, 1);
            text = fit ? fit : text;
            text[*length] = '\0';
        }
    }
    if (stream)
        fclose(stream);
    return text;
}

/* Looks for the file with the whole name, then without its first folders. */
static char *find_file(const char *folder, const char *name, size_t *length)
{
    char path[PATH_BYTES];
    for (const char *tail = name; tail; tail = strchr(tail, '/')) {
        tail += strspn(tail, "/");
        snprintf(path, sizeof path, "%s/%s", folder, tail);
        char *text = read_file(path, length);
        if (text)
            return text;
    }
    return NULL;
}

static void split(mr_source_file *file, size_t length)
{
    size_t count = 1;
    for (size_t i = 0; i < length; i++)
        count += file->text[i] == '\n';
    file->lines = mr_calloc(count, sizeof *file->lines);
    if (!file->lines)
        return;
    for (char *at = file->text; file->line_count < count; file->line_count++) {
        file->lines[file->line_count] = at;
        at += strcspn(at, "\n");
        if (*at == '\n')
            *at++ = '\0';
    }
}

const mr_source_file *mr_source_find(mr_source *source, mr_place place)
{
    if (source->folder[0] == '\0' || place.line == 0)
        return NULL;
    for (size_t i = 0; i < source->count; i++)
        if (strlen(source->files[i].name) == place.file_length &&
            memcmp(source->files[i].name, place.file, place.file_length) == 0)
            return source->files[i].text ? &source->files[i] : NULL;
    if (!mr_grow((void **)&source->files, &source->capacity, source->count + 1,
                 sizeof *source->files))
        return NULL;
    mr_source_file *file = &source->files[source->count];
    *file = (mr_source_file){.name = mr_strndup(place.file, place.file_length)};
    if (!file->name)
        return NULL;
    source->count++;
    size_t length = 0;
    file->text = find_file(source->folder, file->name, &length);
    if (file->text)
        split(file, length);
    return file->text ? file : NULL;
}

const char *mr_source_line(mr_source *source, const char *place)
{
    mr_place parsed = mr_place_parse(place, strlen(place));
    const mr_source_file *file = mr_source_find(source, parsed);
    if (!file || parsed.line > file->line_count)
        return NULL;
    const char *line = file->lines[parsed.line - 1];
    return line + strspn(line, " \t");
}
