/* Race on the object's table pointer: destroyed while another thread calls it. Predicted from the
 * orders in which the call comes first. */
#include <thread>

static int gone;

struct shape {
    virtual int corners() const
    {
        return 0;
    }
    virtual ~shape()
    {
        gone++; /* clang leaves the table as it is when the destructor has nothing to do */
    }
};

struct square : shape {
    int corners() const override
    {
        return 4;
    }
    ~square() override
    {
    }
};

alignas(square) static char memory[sizeof(square)];

int main()
{
    shape *object = new (memory) square;
    int seen = 0;
    std::thread user([&] { seen = object->corners(); });
    object->~shape();
    user.join();
    return seen == 4 || seen == 0 ? 0 : 1;
}
