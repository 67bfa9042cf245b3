// A queue of numbered items for the threads of a pool: the calling thread opens a round, all take
// items until none is left, and the calling thread returns when no thread is in the round any more.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <immintrin.h>
#endif

namespace sskit {

// a spin-wait hint to the processor
static inline void pause_briefly() {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_pause();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
    asm volatile("yield");
#endif
}

// A round may take microseconds: waiting threads spin for a moment before they sleep, worker
// threads are not waited for unless they have entered, so that one which the system wakes late
// costs nothing, and only sleeping threads are notified.
class WorkQueue {
    static constexpr int SPINS = 2000;  // tens of microseconds
    static constexpr int YIELDS = 4;    // another thread may need this core
    std::mutex mutex;
    std::condition_variable opened, emptied;
    std::atomic<long> round{0};
    std::atomic<int> inside{0};
    int asleep = 0;
    std::atomic<bool> open_now{false}, closed_for_good{false};
    std::atomic<std::ptrdiff_t> next{0};
    // Of parts with owners: one bit for each that has not been taken.
    std::atomic<std::uint64_t> untaken{0};
    std::ptrdiff_t count = 0, chunk = 1;

    // spin until done() is true, for a moment; whether it is
    template <class Done>
    static bool spin(Done done) {
        for (int k = 0; k < SPINS; ++k) {
            if (done()) return true;
            pause_briefly();
        }
        for (int k = 0; k < YIELDS; ++k) {
            if (done()) return true;
            std::this_thread::yield();
        }
        return done();
    }

    void begin() {
        std::lock_guard<std::mutex> lock(mutex);
        ++round;
        open_now = true;
        if (asleep) opened.notify_all();
    }

public:
    // parts with owners that there can be at most
    static constexpr std::ptrdiff_t MOST_PARTS = 64;

    // calling thread: items 0, .., n - 1 may be taken, `size` at a time, in this order
    void open(std::ptrdiff_t n, std::ptrdiff_t size) {
        next = 0;
        untaken = 0;
        count = n;
        chunk = size;
        begin();
    }

    // calling thread: n parts may be taken; part k is best taken by worker k, which has its data
    // cached
    void open_parts(std::ptrdiff_t n) {
        next = 0;
        count = 0;
        chunk = 1;
        untaken = n >= MOST_PARTS ? ~std::uint64_t(0) : (std::uint64_t(1) << n) - 1;
        begin();
    }

    // worker thread: wait for a round after `last`, which becomes its number; false if there is
    // none
    bool enter(long* last) {
        const auto called = [&] { return closed_for_good || (open_now && round != *last); };
        spin(called);
        std::unique_lock<std::mutex> lock(mutex);
        ++asleep;
        opened.wait(lock, called);
        --asleep;
        if (closed_for_good) return false;
        *last = round;
        ++inside;
        return true;
    }

    void leave() {
        std::lock_guard<std::mutex> lock(mutex);
        if (--inside == 0) emptied.notify_one();
    }

    // in a round: the next items [start, stop), or a part; false if none is left
    bool take(std::ptrdiff_t worker, std::ptrdiff_t* start, std::ptrdiff_t* stop) {
        std::uint64_t left = untaken;
        while (left) {
            const std::uint64_t own =
                worker < MOST_PARTS ? std::uint64_t(1) << worker : std::uint64_t(0);
            const std::uint64_t bit = left & own ? own : left & (~left + 1);
            if (!untaken.compare_exchange_weak(left, left & ~bit)) continue;
            *start = 0;
            while (bit >> *start != 1) ++*start;
            *stop = *start + 1;
            return true;
        }
        *start = next.fetch_add(chunk);
        if (*start >= count) return false;
        *stop = std::min(*start + chunk, count);
        return true;
    }

    // in a round: give out no further items. All that precede an item taken earlier have been
    // taken too.
    void cancel() { next = count; }

    // calling thread: close the round, and wait until the last thread has left it, for at most so
    // many seconds; false if one has not
    bool finish(double patience) {
        open_now = false;
        spin([&] { return inside == 0; });
        std::unique_lock<std::mutex> lock(mutex);
        return emptied.wait_for(
            lock, std::chrono::duration<double>(patience), [&] { return inside == 0; });
    }

    void close() {
        std::lock_guard<std::mutex> lock(mutex);
        closed_for_good = true;
        opened.notify_all();
    }
};

}  // namespace sskit
