/* Race on extra: written after the promise is kept. Predicted from every order. */
#include <future>
#include <thread>

static int extra;

int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread worker([&] {
        promise.set_value(41);
        extra = 1;
    });
    int sum = future.get() + extra;
    worker.join();
    return sum == 42 || sum == 41 ? 0 : 1;
}
