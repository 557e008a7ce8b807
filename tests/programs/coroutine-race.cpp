/* Race on value: a coroutine goes on in another thread while its starter uses what it writes. Predicted from every order. */
#include "coroutine.h"
#include <thread>

static int value;

static task body(std::coroutine_handle<> &parked)
{
    value = 1;
    co_await park{parked};
    value++;
}

int main()
{
    std::coroutine_handle<> parked;
    body(parked);
    std::thread other([parked] { parked.resume(); });
    value = 5;
    other.join();
    return value > 6;
}
