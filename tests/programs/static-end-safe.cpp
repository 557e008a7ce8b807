// No race: a static object that a thread has made is destroyed at the end of the program by another one.
#include <chrono>
#include <thread>

static int x;

struct counted {
    int value;
    counted() : value(1)
    {
    }
    ~counted()
    {
        x = value;
    }
};

static void make()
{
    static counted object;
    std::this_thread::sleep_for(std::chrono::hours(1));
}

int main()
{
    std::thread(make).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 0;
}
