/*
 * resident: how much memory the process holds, and how much the machine has to give.
 *
 * Anonymous pages are what the program itself has filled: heap, stacks, Z3. Mapped pages are those
 * of files: code, an .mrt file, a spilled event store (trace/spill.h). The system can take the
 * latter back at any time, since they stand in a file; for RSS as `ps` shows it both count.
 */
#ifndef MR_BASE_RESIDENT_H
#define MR_BASE_RESIDENT_H

#include <stdint.h>

typedef struct mr_resident {
    uint64_t anonymous_bytes, mapped_bytes;
} mr_resident;

/* As /proc/self/statm says, about 10 µs; zeros where there is none. */
mr_resident mr_resident_now(void);

/* Memory of the machine, or of the smallest control group (version 1 or 2) that the process is in.
 * 0: not known. */
uint64_t mr_machine_bytes(void);

#endif
