// A destructor waits for the last call of a virtual function; that of the object's own class changes nothing before.
#include <new>
#include <pthread.h>

struct base {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    bool done = false;

    virtual void call() {}
    virtual ~base() {}
    void wait()
    {
        pthread_mutex_lock(&mutex);
        while (!done)
            pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    void finish()
    {
        pthread_mutex_lock(&mutex);
        done = true;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
    }
};

struct derived : base {
    void call() override {}
    ~derived() override { wait(); }
};

static void *caller(void *object)
{
    static_cast<base *>(object)->call();
    static_cast<base *>(object)->finish();
    return nullptr;
}

static char storage[sizeof(derived)] __attribute__((aligned(16)));

int main()
{
    pthread_t thread;
    base *object = new (storage) derived;
    pthread_create(&thread, nullptr, caller, object);
    object->~base();
    pthread_join(thread, nullptr);
}
