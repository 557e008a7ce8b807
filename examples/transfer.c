/* Transfers between two accounts, each with its lock: two transfers in opposite directions can wait
 * for each other for ever. docs/tutorial.md. */
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account bob = {PTHREAD_MUTEX_INITIALIZER, 100};

static void transfer(struct account *from, struct account *to, int amount)
{
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *alice_pays(void *unused)
{
    (void)unused;
    transfer(&alice, &bob, 30);
    return NULL;
}

static void *bob_pays(void *unused)
{
    (void)unused;
    transfer(&bob, &alice, 10);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, alice_pays, NULL);
    pthread_create(&second, NULL, bob_pays, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("alice %d, bob %d\n", alice.balance, bob.balance);
    return 0;
}
