/*
 * settings: what a hunt was begun with, in its journal: a line "arg …" for each argument of the program, lines for the flags of
 * inputs that were given ("inputs DIR", "generate COMMAND", "args-file FILE", "input-search WORD"), lines "fd …" for the descriptors
 * that the program begins with (replay/descriptors.h), and "seed N". A hunt that goes on has the same program, arguments, flags of
 * inputs and descriptors: its behaviours belong to them.
 */
#ifndef MR_HUNT_SETTINGS_H
#define MR_HUNT_SETTINGS_H

#include "hunt.h"

/* Writes the lines. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_settings_write(mr_store_folder *store, const mr_hunt_options *options,
                            mr_error *error);

/* Compares the lines with the options, and takes the descriptors from them (none: an older hunt). MR_ERR_USAGE: they differ, and the first difference; MR_ERR_IO, MR_ERR_TRACE: there is no
 * journal, or it is damaged; MR_ERR_MEMORY. */
mr_status mr_settings_check(const mr_store_folder *store, const mr_hunt_options *options,
                            mr_descriptors *descriptors, mr_error *error);

#endif
