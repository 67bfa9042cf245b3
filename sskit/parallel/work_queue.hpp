// Where a leader and its helpers meet: the leader opens a round of numbered questions, everybody
// takes numbers until none is left, and the leader goes on when nobody is inside any more.
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

// tell the processor, not the system, that somebody waits
static inline void pause_briefly() {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_pause();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
    asm volatile("yield");
#endif
}

// A round takes microseconds where it can: who waits looks again and again for a moment before it
// sleeps, helpers are not waited for unless they have entered, so one that the system wakes late
// costs the leader nothing, and nobody is woken who does not sleep.
class WorkQueue {
    static constexpr int LOOKS = 2000;  // tens of microseconds
    static constexpr int YIELDS = 4;    // somebody else may need this core to get ready
    std::mutex door;
    std::condition_variable opened, emptied;
    std::atomic<long> round{0};
    std::atomic<int> inside{0};
    int asleep = 0;
    std::atomic<bool> open_now{false}, closed_for_good{false};
    std::atomic<std::ptrdiff_t> next{0};
    // Of parts with owners: one bit for each that nobody has taken.
    std::atomic<std::uint64_t> untaken{0};
    std::ptrdiff_t count = 0, chunk = 1;

    // wait a moment for what others will do; whether they did
    template <class Done>
    static bool look(Done done) {
        for (int k = 0; k < LOOKS; ++k) {
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
        std::lock_guard<std::mutex> lock(door);
        ++round;
        open_now = true;
        if (asleep) opened.notify_all();
    }

public:
    // parts with owners that there can be at most
    static constexpr std::ptrdiff_t MOST_PARTS = 64;

    // leader: questions 0, .., n - 1 may be taken, `size` at a time, in this order
    void open(std::ptrdiff_t n, std::ptrdiff_t size) {
        next = 0;
        untaken = 0;
        count = n;
        chunk = size;
        begin();
    }

    // leader: so many parts may be taken; part k is best taken by worker k, who knows its data
    void open_parts(std::ptrdiff_t n) {
        next = 0;
        count = 0;
        chunk = 1;
        untaken = n >= MOST_PARTS ? ~std::uint64_t(0) : (std::uint64_t(1) << n) - 1;
        begin();
    }

    // helper: wait for a round after `last`, which becomes its number; false if there is none
    bool enter(long* last) {
        const auto called = [&] { return closed_for_good || (open_now && round != *last); };
        look(called);
        std::unique_lock<std::mutex> lock(door);
        ++asleep;
        opened.wait(lock, called);
        --asleep;
        if (closed_for_good) return false;
        *last = round;
        ++inside;
        return true;
    }

    void leave() {
        std::lock_guard<std::mutex> lock(door);
        if (--inside == 0) emptied.notify_one();
    }

    // anybody inside: the next questions [start, stop), or a part; false if none is left
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

    // anybody inside: hand out no further questions. All that precede a question taken earlier
    // have been taken too.
    void cancel() { next = count; }

    // leader: let nobody in, and wait until the last has left, for at most so many seconds; false if
    // somebody is inside still
    bool finish(double patience) {
        open_now = false;
        look([&] { return inside == 0; });
        std::unique_lock<std::mutex> lock(door);
        return emptied.wait_for(
            lock, std::chrono::duration<double>(patience), [&] { return inside == 0; });
    }

    void close() {
        std::lock_guard<std::mutex> lock(door);
        closed_for_good = true;
        opened.notify_all();
    }
};

}  // namespace sskit
