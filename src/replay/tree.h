/* tree: removes a folder with all that is in it, whatever a program has done to the permissions. */
#ifndef MR_REPLAY_TREE_H
#define MR_REPLAY_TREE_H

#include <stdbool.h>

/* Links are not followed. True: it is gone, or was not there. */
bool mr_tree_remove(const char *path);

#endif
