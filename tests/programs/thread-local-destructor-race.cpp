/* Race on total: destructors of thread-local objects write it without a lock. Predicted from every order. */
#include <thread>

static int total;

struct counter {
    int count = 0;
    ~counter() { total += count; }
};

static thread_local counter mine;

static void work()
{
    mine.count++;
}

int main()
{
    std::thread first(work), second(work);
    first.join();
    second.join();
    return 0;
}
