/* Race on failures: counted in a handler that has left the lock. Predicted from every order. */
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static int failures;

static void fail(int depth)
{
    if (depth == 0) {
        throw std::runtime_error("no");
    }
    fail(depth - 1);
}

static void work()
{
    try {
        std::lock_guard<std::mutex> guard(lock);
        fail(4);
    } catch (const std::runtime_error &) {
        failures++;
    }
}

int main()
{
    std::thread first(work), second(work);
    first.join();
    second.join();
    return failures <= 2 ? 0 : 1;
}
