/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* F_OFD_SETLK */

#include "claims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { VALUE_BITS = 59 };

static struct flock lock_of(short type, mr_claim_kind kind, uint64_t value, uint64_t count)
{
    uint64_t mask = (UINT64_C(1) << VALUE_BITS) - 1;
    return (struct flock){.l_type = type,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)((uint64_t)kind << VALUE_BITS | (value & mask)),
                          .l_len = (off_t)count};
}

mr_status mr_claims_open(mr_claims *claims, const char *folder, mr_error *error)
{
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/claims", folder);
    claims->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (claims->file < 0)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    struct flock lock = lock_of(F_WRLCK, MR_CLAIM_MEMBER, 0, 1);
    if (fcntl(claims->file, F_OFD_GETLK, &lock) != 0)
        return mr_error_set(error, MR_ERR_IO, path, 0,
                            "cannot be locked: %s; choose a folder on another file system by --dir",
                            strerror(errno));
    return MR_OK;
}

void mr_claims_close(mr_claims *claims)
{
    if (claims->file >= 0)
        close(claims->file);
    claims->file = -1;
}

bool mr_claims_take(const mr_claims *claims, mr_claim_kind kind, uint64_t value)
{
    struct flock lock = lock_of(F_WRLCK, kind, value, 1);
    /* Where locks fail for another reason, a run that is made twice is better than none. */
    return claims->file < 0 || fcntl(claims->file, F_OFD_SETLK, &lock) == 0 ||
           (errno != EAGAIN && errno != EACCES);
}

void mr_claims_drop(const mr_claims *claims, mr_claim_kind kind, uint64_t value)
{
    struct flock lock = lock_of(F_UNLCK, kind, value, 1);
    if (claims->file >= 0)
        fcntl(claims->file, F_OFD_SETLK, &lock);
}

uint64_t mr_claims_take_from(const mr_claims *claims, mr_claim_kind kind, uint64_t from)
{
    while (!mr_claims_take(claims, kind, from))
        from++;
    return from;
}

bool mr_claims_are_ours(const mr_claims *claims, mr_claim_kind kind)
{
    struct flock lock = lock_of(F_WRLCK, kind, 0, UINT64_C(1) << VALUE_BITS);
    return claims->file < 0 || fcntl(claims->file, F_OFD_GETLK, &lock) != 0 ||
           lock.l_type == F_UNLCK;
}
