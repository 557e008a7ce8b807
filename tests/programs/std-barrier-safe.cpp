/* Each phase writes one part; the completion adds them up before the next phase begins. */
#include <barrier>
#include <thread>

static int parts[2], sum; /* static: clang leaves elements of local arrays out */

int main()
{
    auto add = []() noexcept { sum += parts[0] + parts[1]; };
    std::barrier meet(2, add);
    auto work = [&](int which) {
        for (int phase = 1; phase <= 2; phase++) {
            parts[which] = phase + sum - sum;
            meet.arrive_and_wait();
        }
    };
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
    return sum == 6 ? 0 : 1;
}
