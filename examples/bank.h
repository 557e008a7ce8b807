/* The bank of bank.c and bank-fixed.c: an account, and a printer that teller and auditor share. */
#ifndef BANK_H
#define BANK_H

#include <pthread.h>
#include <stdio.h>

extern struct account {
    pthread_mutex_t lock; /* bank.c forgets it */
    int balance;
} bank;

extern struct printer {
    pthread_mutex_t lock;
    int online;
} printer;

void *teller(void *unused);
void *auditor(void *unused);

#endif
