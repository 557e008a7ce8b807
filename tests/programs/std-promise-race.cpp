/* Race on value: written after the promise was kept. Predicted from every order. */
#include <future>
#include <thread>

static int value;

int main()
{
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread sender([&] {
        promise.set_value(1);
        value = 1;
    });
    value = future.get();
    sender.join();
    return value == 1 ? 0 : 1;
}
