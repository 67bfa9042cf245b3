// Where threads wait for each other on their way to the interpreter's lock.
#pragma once
#include <atomic>

#include "work_queue.hpp"

namespace sskit {

// Who waits for the interpreter's lock sleeps until it is free, and to be woken takes longer than
// what the lock is held for where that is some ten microseconds: two threads that take it in turns
// are slower than one. Here they look again and again first. It only ever saves time: who has
// waited too long goes on as if it were his turn, so that nobody waits for ever for somebody who
// waits for the lock, or who is not there in a process that was forked.
class Turnstile {
    static constexpr int LOOKS = 2000;  // some hundred microseconds
    std::atomic<bool> taken{false};

public:
    // wait for my turn; leave() has to follow
    void enter() {
        for (int k = 0; k < LOOKS; ++k) {
            if (!taken.load(std::memory_order_relaxed) &&
                !taken.exchange(true, std::memory_order_acquire))
                return;
            pause_briefly();
        }
    }

    void leave() { taken.store(false, std::memory_order_release); }
};

}  // namespace sskit
