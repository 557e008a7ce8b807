/* style: colours and the width of lines; for the files of src/report only. */
#ifndef MR_REPORT_STYLE_H
#define MR_REPORT_STYLE_H

#include "config/config.h"

typedef enum mr_tone { MR_TONE_HEAD, MR_TONE_BAD, MR_TONE_DIM, MR_TONE_GOOD } mr_tone;

typedef struct mr_style {
    bool color;
    size_t width; /* of a line, in characters */
} mr_style;

/* By the option color, the environment (NO_COLOR, TERM, COLUMNS), and whether the stream is a
 * terminal. */
mr_style mr_style_of(FILE *stream, const mr_config *config);
/* Around the text of the tone; nothing without colours. */
void mr_style_begin(mr_style style, FILE *stream, mr_tone tone);
void mr_style_end(mr_style style, FILE *stream);

#endif
