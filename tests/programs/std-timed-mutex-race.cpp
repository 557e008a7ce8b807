/* Race on x: written whether the lock was got or not. Predicted from the orders in which it was
 * not. */
#include <mutex>
#include <thread>

static std::timed_mutex lock;
static int x;

int main()
{
    std::thread first([] {
        std::lock_guard<std::timed_mutex> guard(lock);
        x++;
        x++;
    });
    std::thread second([] {
        bool got = lock.try_lock();
        x++;
        if (got) {
            lock.unlock();
        }
    });
    first.join();
    second.join();
    return x <= 3 ? 0 : 1;
}
