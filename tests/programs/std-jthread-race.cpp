/* Race on rounds: read before the thread was asked to stop. Predicted from every order. */
#include <stop_token>
#include <thread>

int main()
{
    int rounds = 0;
    std::jthread worker([&](std::stop_token stop) {
        do {
            rounds++;
            std::this_thread::yield();
        } while (!stop.stop_requested() && rounds < 100);
    });
    int seen = rounds;
    worker.request_stop();
    worker.join();
    return seen <= 100 ? 0 : 1;
}
