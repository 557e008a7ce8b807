#include "witness_dir.h"
#include "base/memory.h"
#include "output.h"
#include "witness/file.h"
#include "witness/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

mr_status mr_witness_dir_make(const char *dir, mr_error *error)
{
    struct stat info;
    int number = 0;
    if (mkdir(dir, 0777) != 0)
        number = errno;
    if (number == EEXIST)
        number = stat(dir, &info) != 0      ? errno
                 : !S_ISDIR(info.st_mode)   ? ENOTDIR
                 : access(dir, W_OK | X_OK) ? errno
                                            : 0;
    if (number == 0)
        return MR_OK;
    return mr_error_set(error, MR_ERR_IO, dir, 0, "cannot use this folder for witnesses: %s",
                        strerror(number));
}

static mr_status write_one(const char *path, const mr_trace *trace, const mr_witness *witness,
                           mr_error *error)
{
    mr_output output;
    mr_status status = mr_output_open(&output, path, error);
    if (status != MR_OK)
        return status;
    bool good = mr_witness_write(output.stream, trace, witness);
    int number = errno;
    status = mr_output_close(&output, good, error);
    if (status == MR_OK && !good)
        status = mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s",
                              strerror(number != 0 ? number : EIO));
    return status;
}

mr_status mr_witness_dir_add(const char *dir, size_t number, const mr_trace *trace,
                             const mr_witness *witness, mr_error *error)
{
    const char *word = witness->kind <= MR_WITNESS_MEMORY_ORDER
                           ? mr_witness_kind_name(MR_WITNESS_RACE)
                           : mr_witness_kind_name(witness->kind);
    size_t size = strlen(dir) + strlen(word) + 40;
    char *path = mr_malloc(size, 0);
    if (path == NULL)
        return mr_error_memory(error, "writing the witnesses");
    snprintf(path, size, "%s/%s-%04zu.std", dir, word, number);
    mr_status status = write_one(path, trace, witness, error);
    free(path);
    return status;
}

/* The same, of a witness that may be packed. */
static mr_status add_packed(const char *dir, size_t number, const mr_trace *trace,
                            const mr_witness *packed, mr_error *error)
{
    mr_witness room;
    const mr_witness *witness = mr_witness_open(trace, packed, &room);
    mr_status status = witness != NULL ? mr_witness_dir_add(dir, number, trace, witness, error)
                                       : mr_error_memory(error, "writing a witness");
    mr_witness_free(&room);
    return status;
}

mr_status mr_witness_dir_write(const char *dir, const mr_trace *trace, const mr_result *result,
                               mr_error *error)
{
    mr_status status = MR_OK;
    size_t numbers[MR_WITNESS_KINDS] = {0};
    for (size_t i = 0; i < result->race_count && status == MR_OK; i++)
        status = add_packed(dir, i + 1, trace, &result->races[i].witness, error);
    for (size_t i = 0; i < result->finding_count && status == MR_OK; i++) {
        const mr_witness *witness = &result->findings[i].witness;
        status = add_packed(dir, ++numbers[witness->kind], trace, witness, error);
    }
    return status;
}
