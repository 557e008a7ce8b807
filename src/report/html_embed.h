/* embed: the parts of the page around the data, and JSON within it; for the files of src/report only. */
#ifndef MR_REPORT_HTML_EMBED_H
#define MR_REPORT_HTML_EMBED_H

#include "base/bytes.h"
#include "json_object.h"

/* Everything before the data, and everything after it. Errors stay in the stream. */
void mr_page_begin(FILE *stream);
void mr_page_end(FILE *stream);

/* Appends the text of the object, in which nothing ends the script element, and frees the object. MR_ERR_MEMORY. */
mr_status mr_page_text(mr_bytes *to, mr_json value, mr_error *error);
/* Writes it. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_page_json(FILE *stream, mr_json value, mr_error *error);

#endif
