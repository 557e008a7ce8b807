/* No race: written before. */
#include <future>
#include <thread>

static int extra;

int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread worker([&] {
        extra = 1;
        promise.set_value(41);
    });
    int sum = future.get() + extra;
    worker.join();
    return sum == 42 || sum == 41 ? 0 : 1;
}
