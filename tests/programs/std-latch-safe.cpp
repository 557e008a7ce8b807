/* No race: read after the latch. */
#include <latch>
#include <thread>

int main()
{
    std::latch ready(2);
    int parts[2] = {0, 0};
    auto work = [&](int which) {
        parts[which] = which + 1;
        ready.count_down();
    };
    std::thread first(work, 0), second(work, 1);
    ready.wait();
    int sum = parts[0] + parts[1];
    first.join();
    second.join();
    return sum <= 3 ? 0 : 1;
}
