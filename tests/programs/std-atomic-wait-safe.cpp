/* Waiting for the value of atomic variables, of the size of a futex and of others. */
#include <atomic>
#include <thread>

static int value;

int main()
{
    std::atomic<int> ready(0);
    std::atomic<long> again(0);
    std::atomic_flag over = ATOMIC_FLAG_INIT;
    std::thread other([&] {
        ready.wait(0);
        value++;
        again.store(1);
        again.notify_all();
        over.wait(false);
        value++;
    });
    value = 1;
    ready.store(1);
    ready.notify_one();
    again.wait(0);
    value++;
    over.test_and_set();
    over.notify_one();
    other.join();
    return value == 4 ? 0 : 1;
}
