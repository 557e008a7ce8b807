/*
 * Variables of types of C++ that two threads write. Predicted from every order.
 *
 * Type: ready bool
 * Type: count int32
 * Type: paint enum8 red=0 green=1 blue=255
 * Type: plain enum8 red=0 green=1 blue=255
 * Type: distance enum64 far=-5000000000
 * Type: packet.inner pointer
 * Type: packet.size int32
 * Type: packet.rune uint32
 * Type: calls int32
 *
 * Values: plain=green(1) plain=blue(255) distance=far(-5000000000) packet.inner=null packet.size=-1
 */
#include <atomic>
#include <thread>

enum class colour : unsigned char { red, green, blue = 255 };
enum class reach : long { far = -5000000000 };

class counter {
    int number = 0;

public:
    void add() { number++; }
};

static std::atomic<int> count;
static std::atomic<bool> ready;
static std::atomic<colour> paint;
static volatile colour plain;
static volatile reach distance;
static struct box {
    int *inner;
    int size;
    char32_t rune;
} packet;
static counter calls;

static void work(colour mine)
{
    count++;
    ready = true;
    paint = mine;
    plain = mine;
    distance = reach::far;
    packet.inner = nullptr;
    packet.size = -1;
    packet.rune = U'x';
    calls.add();
}

int main()
{
    std::thread thread(work, colour::green);
    work(colour::blue);
    thread.join();
    return 0;
}
