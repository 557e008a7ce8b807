/* Callbacks of stop tokens run in the thread that asks to stop, and before the end of their destructor elsewhere. */
#include <stop_token>
#include <thread>

static int stopped;

int main()
{
    std::stop_source source;
    std::jthread first([token = source.get_token()] {
        int here = 0;
        {
            std::stop_callback callback(token, [&] { here = 1; });
            while (!token.stop_requested())
                std::this_thread::yield();
        }
        stopped = here;
    });
    std::jthread second([&] { source.request_stop(); });
    first.join();
    second.join();
    return stopped == 1 ? 0 : 1;
}
