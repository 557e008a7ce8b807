/* No race: read after it was joined. */
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
    worker.request_stop();
    worker.join();
    int seen = rounds;
    return seen <= 100 ? 0 : 1;
}
