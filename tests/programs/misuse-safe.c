/* No error: a recursive mutex, an error-checking one whose errors the program asks for, objects
 * that are made anew by assignment, and a mutex that a child of a fork unlocks. */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int check_errors(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t checked, recursive;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &attributes);
    int failed = pthread_mutex_unlock(&checked) != EPERM;
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_destroy(&recursive);
    pthread_mutex_destroy(&checked);
    pthread_mutexattr_destroy(&attributes);
    return failed;
}

static void make_anew(void)
{
    static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 2; i++) {
        table = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
        other = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        pthread_rwlock_rdlock(&table);
        pthread_rwlock_unlock(&table);
        pthread_mutex_lock(&other);
        pthread_mutex_unlock(&other);
        pthread_rwlock_destroy(&table);
        pthread_mutex_destroy(&other);
    }
}

int main(void)
{
    int status = 0;
    make_anew();
    pthread_mutex_lock(&lock);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_unlock(&lock);
        _exit(0);
    }
    pthread_mutex_unlock(&lock);
    waitpid(child, &status, 0);
    return check_errors() + status;
}
