/* A coroutine begins in one thread and goes on in another; a mutex hands it over. */
#include "coroutine.h"
#include <mutex>
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
    std::mutex mutex;
    std::coroutine_handle<> parked;
    bool ready = false;
    std::thread other([&] {
        std::coroutine_handle<> mine;
        while (!mine) {
            std::lock_guard lock(mutex);
            if (ready)
                mine = parked;
        }
        mine.resume();
    });
    {
        std::lock_guard lock(mutex);
        body(parked);
        ready = true;
    }
    other.join();
    return value == 2 ? 0 : 1;
}
