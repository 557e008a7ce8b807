/*
 * input_descriptors: what the program reads from a descriptor comes from outside (a file, a
 * terminal, a peer in another process), or from itself: a pipe, a socket pair, a connection with
 * itself, a file that it writes. What comes from outside is fed when the program runs again; the
 * rest happens again.
 *
 * A descriptor gets the number that it had, so that the program sees the same. Where there is
 * nothing to open any more, another file stands for it; its mode is what it was.
 *
 * The caller is inside the runtime.
 */
#ifndef MR_RUNTIME_INPUT_DESCRIPTORS_H
#define MR_RUNTIME_INPUT_DESCRIPTORS_H

#include "inputs.h"

#include <sys/socket.h>
#include <sys/stat.h>

typedef enum mr_descriptor_origin {
    MR_DESCRIPTOR_UNKNOWN, /* its file tells */
    MR_DESCRIPTOR_INSIDE,  /* the program itself is at the other end */
    MR_DESCRIPTOR_PEER,    /* a socket whose other end is in another process */
} mr_descriptor_origin;

bool mr_descriptor_is_inside(int fd);
/* What is written there is not written again. */
bool mr_descriptor_is_peer(int fd);
void mr_descriptor_set(int fd, mr_descriptor_origin origin);
void mr_descriptor_copy(int from, int to);
void mr_descriptor_forget(int fd);

/* The program opened the file for writing. */
void mr_descriptor_written(int fd);

/* A socket of the program, which may be the other end of a connection. After socket, accept and
 * connect: is the other end inside? */
void mr_descriptor_socket(int fd, int type);
mr_descriptor_origin mr_descriptor_peer_of(int fd, const struct sockaddr *peer, bool is_accepted);

/* The socket was to have this address, and has another one; where is a peer inside really? */
void mr_descriptor_moved(int fd, const struct sockaddr *was);
const struct sockaddr *mr_descriptor_lead(const struct sockaddr *address, socklen_t length,
                                          struct sockaddr_storage *led);

/* The number, from 1, of the epoll set or the eventfd that a descriptor leads to; its copies have the same. 0: not
 * known. The first one is called when the set or eventfd is made. */
uint32_t mr_descriptor_new_object(int fd);
uint32_t mr_descriptor_object(int fd);

/* What epoll_ctl asks of a descriptor. */
typedef struct mr_epoll_wanted {
    uint64_t data;
    uint32_t events;
} mr_epoll_wanted;
/* `wanted`, NULL: nothing any more. */
void mr_epoll_keep(int set, int fd, const mr_epoll_wanted *wanted);
/* False: nothing is asked of it, or it is not known. */
bool mr_epoll_kept(int set, int fd, mr_epoll_wanted *wanted);
/* Goes through the descriptors of the set; `*at` is 0 before the first call. False: there are no more. */
bool mr_epoll_next(int set, unsigned *at, int *fd, mr_epoll_wanted *wanted);
/* None was forgotten, because there are many. */
bool mr_epoll_are_all_kept(void);
/* The descriptor that the data stands for, -1: not known; is it inside? */
int mr_epoll_descriptor(int set, uint64_t data);
bool mr_epoll_is_inside(int set, uint64_t data);

/* fstat, with the mode that the file had in the recording. */
int mr_descriptor_stat(int fd, struct stat *to);

/*
 * A new descriptor: first mr_descriptor_expect, then the real call, unless the result is to be a
 * failure; then mr_descriptor_made with its result. Returns what the program gets.
 */
bool mr_descriptor_expect(mr_input *input, uint64_t how);
int mr_descriptor_made(mr_input *input, uint64_t how, int fd, mr_descriptor_origin origin);
/* Gives `fd`, or what stands for it (-1: there is none), the number of the recording. */
int mr_descriptor_place(const mr_input_head *head, mr_input_descriptor was, int fd);

enum { MR_NEW_FILE, MR_NEW_SOCKET, MR_NEW_COPY, MR_NEW_PAIR, MR_NEW_OTHER, MR_NEW_STREAM };

#endif
