/* Race on parts: read without waiting for the latch. Predicted from every order. */
#include <latch>
#include <thread>

int main()
{
    std::latch ready(2);
    static int parts[2]; /* static: clang leaves elements of local arrays out */
    auto work = [&](int which) {
        parts[which] = which + 1;
        ready.count_down();
    };
    std::thread first(work, 0), second(work, 1);
    int sum = parts[0] + parts[1];
    first.join();
    second.join();
    return sum <= 3 ? 0 : 1;
}
