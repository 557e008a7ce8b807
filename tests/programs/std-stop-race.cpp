/* Race on stopped: written after the token told to stop. Predicted from every order. */
#include <stop_token>
#include <thread>

static int stopped;

int main()
{
    std::jthread other([](std::stop_token token) {
        while (!token.stop_requested())
            std::this_thread::yield();
        stopped++;
    });
    other.request_stop();
    stopped = 1;
    other.join();
    return 0;
}
