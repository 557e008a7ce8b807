/* Race on value: a promise that is kept at once, before thread-local objects are gone. Predicted from every order. */
#include <future>
#include <thread>

static int value, destroyed[2];

struct result {
    int number = 0, which = 0;
    ~result() { destroyed[which] = number; }
};

struct last {
    ~last() { value++; }
};

int main()
{
    std::promise<result *> promise;
    auto future = promise.get_future();
    std::thread other([promise = std::move(promise)]() mutable {
        static thread_local last here;
        (void)&here;
        value = 1;
        promise.set_value(new result);
    });
    {
        auto mine = std::move(future);
        result *made = mine.get();
        value++;
        made->number = 1;
        delete made;
    }
    other.join();
    return value > 3 || destroyed[0] != 1;
}
