/* Race on the ages: two writers share the lock. Predicted from every order. */
#include <array>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static std::array<int, 3> ages{0, 10, 20};

static void birthday(int who)
{
    std::shared_lock<std::shared_mutex> guard(lock);
    ages[1] += who;
}

int main()
{
    int seen = 0;
    std::thread first(birthday, 1), second(birthday, 1);
    std::thread third([&] {
        std::shared_lock<std::shared_mutex> guard(lock);
        seen = ages.at(2);
    });
    first.join();
    second.join();
    third.join();
    return seen == 20 ? 0 : 1;
}
