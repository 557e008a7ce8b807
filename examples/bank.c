/* A race that most runs hide; docs/tutorial.md walks through it. bank.std is a trace of it. */
#include "bank.h"

int main(void)
{
    pthread_t teller_thread, auditor_thread;

    bank.balance = 100;

    pthread_create(&teller_thread, NULL, teller, NULL);
    pthread_create(&auditor_thread, NULL, auditor, NULL);
    pthread_join(teller_thread, NULL);
    pthread_join(auditor_thread, NULL);
    return 0;
}

/* Pays in 50. */
void *teller(void *unused)
{
    (void)unused;
    bank.balance = 150;
    pthread_mutex_lock(&printer.lock);
    int online = printer.online;
    pthread_mutex_unlock(&printer.lock);
    return online ? &printer : NULL;
}

void *auditor(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&printer.lock);
    int online = printer.online;
    pthread_mutex_unlock(&printer.lock);
    int balance = bank.balance;
    if (online)
        printf("audit: %d\n", balance);
    return NULL;
}

struct account bank = {PTHREAD_MUTEX_INITIALIZER, 0};
struct printer printer = {PTHREAD_MUTEX_INITIALIZER, 1};
