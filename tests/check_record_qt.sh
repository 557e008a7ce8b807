#!/usr/bin/env bash
# Programs that use Qt 5 and 6, whose libraries are not recorded: what is safe has no race and nothing unseen, what races is found and replayed, and what only the
# library orders is told. TEST_LENGTH=full: from seeds 1 to 3, not 1 alone. Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
. "$(dirname "$0")/support/in_scratch.sh"
unset MAXRACE_CC MAXRACE_CXX
if [ "${TEST_LENGTH:-}" = full ]; then seeds='1 2 3'; else seeds=1; fi

cat >program.cpp <<'END'
#include <QtCore/QCoreApplication>
#include <QtCore/QFutureWatcher>
#include <QtCore/QMutex>
#include <QtCore/QObject>
#include <QtCore/QReadWriteLock>
#include <QtCore/QRunnable>
#include <QtCore/QSemaphore>
#include <QtCore/QSharedPointer>
#include <QtCore/QString>
#include <QtCore/QThread>
#include <QtCore/QThreadPool>
#include <QtCore/QThreadStorage>
#include <QtCore/QTimer>
#include <QtCore/QVector>
#include <QtCore/QWaitCondition>
#include <QtConcurrent/QtConcurrent>
#include <cstring>
#include <functional>

/* A thread of Qt that calls a function. */
class Worker : public QThread {
public:
    explicit Worker(std::function<void()> f) : function(f) { start(); }
    ~Worker() override { wait(); }

protected:
    void run() override { function(); }

private:
    std::function<void()> function;
};

static int word, other;

#ifndef EVENTS
static bool mutexes()
{
    QMutex mutex;
    auto count = [&] {
        for (int i = 0; i < 20; i++) {
            QMutexLocker locker(&mutex);
            word++;
        }
        while (!mutex.tryLock())
            QThread::yieldCurrentThread();
        word++;
        mutex.unlock();
        if (mutex.tryLock(1000)) {
            word++;
            mutex.unlock();
        }
    };
    {
        Worker one(count), two(count);
    }
    return word == 44;
}

static bool recursive()
{
    QRecursiveMutex mutex;
    auto count = [&] {
        for (int i = 0; i < 10; i++) {
            mutex.lock();
            mutex.lock();
            word++;
            mutex.unlock();
            word++;
            mutex.unlock();
        }
    };
    {
        Worker one(count), two(count);
    }
    return word == 40;
}

static bool conditions()
{
    QMutex mutex;
    QWaitCondition filled, emptied;
    int slot = 0, sum = 0, *sent = nullptr;
    {
        Worker takes([&] {
            for (int i = 0; i < 10; i++) {
                QMutexLocker locker(&mutex);
                while (slot == 0)
                    filled.wait(&mutex);
                sum += *sent;
                delete sent;
                slot = 0;
                emptied.wakeAll();
            }
        });
        Worker gives([&] {
            for (int i = 1; i <= 10; i++) {
                int *made = new int(i);
                mutex.lock();
                while (slot != 0)
                    emptied.wait(&mutex);
                slot = 1;
                sent = made;
                filled.wakeOne();
                mutex.unlock();
            }
        });
    }
    mutex.lock();
    bool late = !filled.wait(&mutex, 10);
    mutex.unlock();
    return late && sum == 55;
}

static bool rwlocks()
{
    QReadWriteLock lock;
    QWaitCondition changed;
    int seen = 0;
    bool done = false;
    {
        Worker writes([&] {
            for (int i = 0; i < 10; i++) {
                QWriteLocker locker(&lock);
                word++;
                other++;
            }
            lock.lockForWrite();
            done = true;
            changed.wakeAll();
            lock.unlock();
        });
        auto read = [&] {
            for (int i = 0; i < 10; i++) {
                QReadLocker locker(&lock);
                if (word != other)
                    abort();
            }
        };
        Worker one(read), two(read);
        lock.lockForRead();
        while (!done)
            changed.wait(&lock);
        seen = word;
        lock.unlock();
    }
    return seen == 10 && lock.tryLockForWrite() && (lock.unlock(), true);
}

static bool semaphores()
{
    enum { SIZE = 4, COUNT = 20 };
    int buffer[SIZE], sum = 0;
    QSemaphore room(SIZE), used;
    {
        Worker gives([&] {
            for (int i = 0; i < COUNT; i++) {
                room.acquire();
                buffer[i % SIZE] = i;
                used.release();
            }
        });
        Worker takes([&] {
            for (int i = 0; i < COUNT; i++) {
                while (!used.tryAcquire(1, 5))
                    ;
                sum += buffer[i % SIZE];
                room.release();
            }
        });
    }
    return sum == COUNT * (COUNT - 1) / 2 && room.available() == SIZE;
}

static bool threads()
{
    Worker one([] { word = 1; });
    QThread::msleep(5);
    bool was = one.isFinished();
    if (was)
        word++;
    one.wait();
    word++;
    Worker two([] {});
    for (int i = 0; i < 20; i++) /* starts again */
    {
        two.wait();
        word++;
        two.start();
    }
    return word >= 2;
}

class Task : public QRunnable {
public:
    explicit Task(int *at) : to(at) {}
    void run() override { *to += 1; }
    int *to;
};

static bool pools()
{
    int results[30] = {};
    QThreadPool pool;
    pool.setMaxThreadCount(3);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 30; i++)
            pool.start(new Task(&results[i]));
        pool.waitForDone();
    }
    Task own(&results[0]);
    own.setAutoDelete(false);
    pool.start(&own);
    pool.waitForDone();
    *own.to += 1;
    int sum = 0;
    for (int i : results)
        sum += i;
    return sum == 62;
}

static int square(int x)
{
    return x * x;
}

static bool futures()
{
    word = 2;
    QFuture<int> one = QtConcurrent::run([] {
        other = word + 1;
        return square(3);
    });
    QFuture<int> two = QtConcurrent::run([] { return square(4); });
    int sum = one.result() + two.result();
    one.waitForFinished();
    sum += other;
    QFuture<void> nested = QtConcurrent::run([] { other += QtConcurrent::run(square, 5).result(); });
    nested.waitForFinished();
    return sum + other == 56;
}

/* Strings, vectors and pointers that threads share. */
static bool sharing()
{
    QSharedPointer<int> shared(new int(3));
    QString text = QString("text %1").arg(3);
    QVector<int> list(10, 1);
    QThreadStorage<int> storage;
    auto use = [&](int n) {
        return [=, &storage] {
            QString mine = text;
            QVector<int> own = list;
            QSharedPointer<int> also = shared;
            storage.setLocalData(n);
            mine.append(QString::number(n));
            for (int i = 0; i < 5; i++)
                own[i] += *also;
            own.append(n);
            if (mine.size() < 7 || own[0] != 4 || storage.localData() != n)
                abort();
        };
    };
    {
        Worker one(use(1)), two(use(2));
        text.append('x');
        list[0] = 7;
        shared.reset();
    }
    return list[1] == 1;
}

static bool race()
{
    QMutex mutex;
    Worker one([&] {
        word = 1;
        QMutexLocker locker(&mutex);
        other = 1;
    });
    {
        QMutexLocker locker(&mutex);
        other = 2;
    }
    return word < 2;
}

static bool race_condition()
{
    QMutex mutex;
    QWaitCondition cond;
    bool ready = false;
    Worker one([&] {
        mutex.lock();
        ready = true;
        cond.wakeAll();
        mutex.unlock();
        word = 1;
    });
    mutex.lock();
    while (!ready)
        cond.wait(&mutex);
    mutex.unlock();
    return word < 2;
}

static bool race_semaphore()
{
    QSemaphore ready(0), begin(0), free(2);
    auto add = [&] {
        ready.release();
        begin.acquire();
        free.acquire();
        word++;
        free.release();
    };
    Worker one(add), two(add);
    ready.acquire(2);
    begin.release(2);
    return true;
}

static bool race_rwlock()
{
    QSemaphore ready(0), begin(0);
    QReadWriteLock lock;
    auto add = [&] {
        ready.release();
        begin.acquire();
        QReadLocker locker(&lock);
        word++;
    };
    Worker one(add), two(add);
    ready.acquire(2);
    begin.release(2);
    return true;
}

static bool race_pool()
{
    QThreadPool pool;
    pool.setMaxThreadCount(2);
    pool.start(new Task(&word));
    word++;
    pool.waitForDone();
    return true;
}

static bool race_future()
{
    QFuture<int> one = QtConcurrent::run([] { return word++; });
    word++;
    return one.result() < 2;
}

#else
static bool events()
{
    QThread thread;
    QObject there, here;
    there.moveToThread(&thread);
    int sum = 0, *made = new int(1);
    thread.start();
    QObject::connect(&there, &QObject::objectNameChanged, &here,
                     [&](const QString &name) {
                         sum += name.size();
                         word++;
                         if (name.size() == 3)
                             QCoreApplication::quit();
                     },
                     Qt::QueuedConnection);
    for (int i = 1; i <= 3; i++) {
        other = i;
        QMetaObject::invokeMethod(
            &there,
            [&, i] {
                word++;
                *made += other > 0;
                there.setObjectName(QString(i, 'x'));
            },
            i == 2 ? Qt::BlockingQueuedConnection : Qt::QueuedConnection);
        if (i == 2)
            word++;
        else
            QMetaObject::invokeMethod(&there, [] {}, Qt::BlockingQueuedConnection);
    }
    QCoreApplication::exec();
    QMetaObject::invokeMethod(&there, [&] { there.moveToThread(QCoreApplication::instance()->thread()); },
                              Qt::BlockingQueuedConnection);
    thread.quit();
    thread.wait();
    delete made;
    return sum == 6;
}

static bool timers()
{
    int ticks = 0;
    QThread thread;
    QTimer timer;
    QObject::connect(&thread, &QThread::finished, &timer, [&] {
        word++;
        QCoreApplication::quit();
    });
    QObject::connect(&timer, &QTimer::timeout, [&] {
        if (++ticks == 3)
            thread.quit();
    });
    QObject::connect(&thread, &QThread::started, [] { word = 5; });
    thread.start();
    timer.start(2);
    QCoreApplication::exec();
    thread.wait();
    return word == 6;
}

static bool watchers()
{
    QFutureWatcher<int> watcher;
    int got = 0;
    QObject::connect(&watcher, &QFutureWatcher<int>::finished, [&] {
        got = watcher.result() + word;
        QCoreApplication::quit();
    });
    watcher.setFuture(QtConcurrent::run([] {
        word = 3;
        return 4;
    }));
    QCoreApplication::exec();
    return got == 7;
}

static bool race_event()
{
    QThread thread;
    QObject there;
    there.moveToThread(&thread);
    thread.start();
    QMetaObject::invokeMethod(&there, [] { word++; }, Qt::QueuedConnection);
    word++;
    QMetaObject::invokeMethod(&there, [&] { there.moveToThread(nullptr); }, Qt::BlockingQueuedConnection);
    thread.quit();
    thread.wait();
    return true;
}

#endif

int main(int count, char **names)
{
    static const struct {
        const char *name;
        bool (*function)();
    } all[] = {
#ifndef EVENTS
        {"mutexes", mutexes}, {"recursive", recursive}, {"conditions", conditions}, {"rwlocks", rwlocks}, {"semaphores", semaphores}, {"threads", threads},
        {"pools", pools}, {"futures", futures}, {"sharing", sharing}, {"race", race}, {"race_condition", race_condition}, {"race_semaphore", race_semaphore},
        {"race_rwlock", race_rwlock}, {"race_pool", race_pool}, {"race_future", race_future},
#else
        {"events", events}, {"timers", timers}, {"watchers", watchers}, {"race_event", race_event},
#endif
    };
    QCoreApplication application(count, names);
    for (auto &each : all)
        if (count == 2 && !strcmp(names[1], each.name))
            return !each.function();
    return 2;
}
END

# build VERSION: qtN-locks and qtN-events.
build() {
    local flags libraries="-lQt$1Concurrent -lQt$1Core"
    flags=$(pkg-config --cflags "Qt$1Core" "Qt$1Concurrent") || return 1
    # shellcheck disable=SC2086
    "$maxrace" c++ -std=c++17 -fPIC -g -O1 $flags program.cpp -o "qt$1-locks" $libraries && "$maxrace" c++ -std=c++17 -fPIC -g -O1 -DEVENTS $flags program.cpp -o "qt$1-events" $libraries
}

# record PROGRAM WHAT SEED: trace.mrt.
record() {
    timeout 60 "$maxrace" record --seed "$3" -o trace.mrt "./$1" "$2" >out 2>err </dev/null || { echo "seed $3: status $?"; cat out err; return 1; }
}

is_safe() {
    local seed
    for seed in $seeds; do
        record "$1" "$2" $seed && ! grep 'not recorded' err && "$maxrace" predict trace.mrt >report || { cat report; return 1; }
    done
}

races() {
    local seed
    for seed in $seeds; do
        record "$1" "$2" $seed && ! grep 'not recorded' err && ! "$maxrace" predict trace.mrt >report && grep -q '^Race [12] of [12] on word' report || { cat report; return 1; }
        "$maxrace" replay trace.mrt >report 2>&1
        grep -qE '^(1 of 1|2 of 2) confirmed' report || { cat report; return 1; }
    done
}

is_told() {
    record "$1" "$2" 1 && grep -q '^maxrace: Qt synchronises in ways that are not recorded' err && "$maxrace" convert trace.mrt - | grep -q ' unseen qt$'
}

locks=(mutexes recursive conditions rwlocks semaphores threads pools futures sharing race race_condition race_semaphore race_rwlock race_pool race_future)
events=(events timers watchers race_event)
for version in 5 6; do
    if ! pkg-config --exists "Qt${version}Core" "Qt${version}Concurrent" 2>/dev/null; then
        for name in "${locks[@]}" "${events[@]}"; do skip "record_qt${version}_$name" "there is no Qt $version"; done
        continue
    fi
    check "record_qt${version}_build" build $version
    for name in "${locks[@]}"; do
        case $name in
        race*) check "record_qt${version}_$name" races "qt$version-locks" "$name" ;;
        *) check "record_qt${version}_$name" is_safe "qt$version-locks" "$name" ;;
        esac
    done
    for name in "${events[@]}"; do check "record_qt${version}_$name" is_told "qt$version-events" "$name"; done
done
[ $failures -eq 0 ]
