/* Race on parts: the other part is read while it is written for the next phase, by those orders in which it is late. */
#include <barrier>
#include <thread>

static int parts[2], sum; /* static: clang leaves elements of local arrays out */

int main()
{
    auto add = []() noexcept { sum += parts[0] + parts[1]; };
    std::barrier meet(2, add);
    auto work = [&](int which) {
        int seen = 0;
        for (int phase = 1; phase <= 2; phase++) {
            parts[which] = phase + sum - sum;
            meet.arrive_and_wait();
            seen += parts[1 - which];
        }
        return seen;
    };
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
    return sum >= 0 ? 0 : 1;
}
