/* witness_dir: one file a finding: DIR/race-0001.std, DIR/race-0002.std …, and likewise
 * DIR/deadlock-0001.std (witness/file.h). */
#ifndef MR_CLI_WITNESS_DIR_H
#define MR_CLI_WITNESS_DIR_H

#include "predict/result.h"

/* Makes the folder, unless it is there. Its parent folder must exist. */
mr_status mr_witness_dir_make(const char *dir, mr_error *error);

/* Writes the file of one witness, DIR/<kind>-<number>.std. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_witness_dir_add(const char *dir, size_t number, const mr_trace *trace,
                             const mr_witness *witness, mr_error *error);

/* Writes one file for each race, in the order of the report. Files of an earlier run are replaced;
 * when that run had more races, its other files stay. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_witness_dir_write(const char *dir, const mr_trace *trace, const mr_result *result,
                               mr_error *error);

#endif
