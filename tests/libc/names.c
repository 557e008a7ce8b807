/* Says which of the names on standard input no library of the C library has. Read by
 * check_libc.sh. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    void *const libraries[] = {dlopen("libc.so.6", RTLD_NOW), dlopen("libm.so.6", RTLD_NOW),
                               dlopen("libcrypt.so.1", RTLD_NOW)};
    char name[256];
    int missing = 0;
    while (fgets(name, sizeof name, stdin) != NULL) {
        name[strcspn(name, "\n")] = '\0';
        if (dlsym(libraries[0], name) == NULL && dlsym(libraries[1], name) == NULL &&
            dlsym(libraries[2], name) == NULL) {
            printf("%s: libc has no such function\n", name);
            missing++;
        }
    }
    return missing != 0;
}
