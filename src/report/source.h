/*
 * source: lines of the source of a recorded program, from the folder of the option source_dir. The file
 * of a place is looked for there with its whole path, then with fewer and fewer folders of the path.
 * Files are read once. For the files of src/report only.
 */
#ifndef MR_REPORT_SOURCE_H
#define MR_REPORT_SOURCE_H

#include "listing/listing.h"

typedef struct mr_source_file {
    char *name;   /* as in places; owned */
    char *text;   /* owned; its newlines are zeros; NULL: there is no such file */
    char **lines; /* in `text`, by line - 1; owned */
    size_t line_count;
} mr_source_file;

typedef struct mr_source {
    const char *folder; /* on loan; "": none */
    mr_source_file *files;
    size_t count, capacity;
} mr_source;

void mr_source_init(mr_source *source, const mr_config *config);
void mr_source_free(mr_source *source);
/* The file that the place names; NULL: it is not there, or no memory. */
const mr_source_file *mr_source_find(mr_source *source, mr_place place);
/* The line of "file:line:column", without blanks at its start; NULL: it is not known. */
const char *mr_source_line(mr_source *source, const char *place);

#endif
