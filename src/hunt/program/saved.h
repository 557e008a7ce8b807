/* saved: files in the folder of a finding. */
#ifndef MR_HUNT_SAVED_H
#define MR_HUNT_SAVED_H

#include "base/error.h"

/* Writes FOLDER/NAME; nothing when the text is NULL or empty. MR_ERR_IO. */
mr_status mr_saved_text(const char *folder, const char *name, const char *text, mr_error *error);
/* Copies a file. MR_ERR_IO. */
mr_status mr_saved_copy(const char *from, const char *to, mr_error *error);

#endif
