// A spin lock before the interpreter's lock.
#pragma once
#include <atomic>

#include "work_queue.hpp"

namespace sskit {

// A thread that waits for the interpreter's lock sleeps until it is free, and waking takes longer
// than the lock is held where that is some ten microseconds: two threads that take it in turns are
// slower than one. Here they spin first. It only ever saves time: after SPINS a thread goes on as
// if it had the lock, so that there is no deadlock with a thread that waits for the interpreter's
// lock, or that does not exist in a process that was forked.
class SpinLock {
    static constexpr int SPINS = 2000;  // some hundred microseconds
    std::atomic<bool> taken{false};

public:
    // leave() has to follow
    void enter() {
        for (int k = 0; k < SPINS; ++k) {
            if (!taken.load(std::memory_order_relaxed) &&
                !taken.exchange(true, std::memory_order_acquire))
                return;
            pause_briefly();
        }
    }

    void leave() { taken.store(false, std::memory_order_release); }
};

}  // namespace sskit
