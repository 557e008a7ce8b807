/*
 * file_reads: the reads, seeks and stats that streams of <stdio.h> make inside libc, as inputs
 * (inputs.h). Nobody calls a function for them that could be replaced: libc finds them in tables.
 * The entries of these tables are replaced, when inputs are logged or fed.
 */
#ifndef MR_RUNTIME_FILE_READS_H
#define MR_RUNTIME_FILE_READS_H

void mr_file_reads_start(void);

#endif
