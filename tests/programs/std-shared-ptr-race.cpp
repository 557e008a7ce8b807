/* Race on the shared object: its owners write it. Predicted from the orders
 * in which both have their copies at once: the counts say so. */
#include <memory>
#include <thread>

struct node {
    int value = 1;
};

int main()
{
    auto shared = std::make_shared<node>();
    int seen[2];
    auto work = [&seen](std::shared_ptr<node> mine, int which) {
        std::shared_ptr<node> copy = mine;
        seen[which] = copy->value;
        copy->value = 2;
    };
    std::thread first(work, shared, 0), second(work, shared, 1);
    shared.reset();
    first.join();
    second.join();
    return seen[0] + seen[1] >= 2 ? 0 : 1;
}
