// Where a leader and its helpers meet: the leader opens a round of numbered questions, everybody
// takes numbers until none is left, and the leader goes on when nobody is inside any more.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace sskit {

// A round takes microseconds where it can: helpers sleep between rounds but are not waited for
// unless they have entered, so one that the system wakes late costs the leader nothing.
class WorkQueue {
    std::mutex door;
    std::condition_variable opened, emptied;
    long round = 0;
    int inside = 0;
    bool open_now = false, closed_for_good = false;
    std::atomic<std::ptrdiff_t> next{0};
    std::ptrdiff_t count = 0, chunk = 1;

public:
    // leader: questions 0, .., n - 1 may be taken, `size` at a time
    void open(std::ptrdiff_t n, std::ptrdiff_t size) {
        {
            std::lock_guard<std::mutex> lock(door);
            next = 0;
            count = n;
            chunk = size;
            ++round;
            open_now = true;
        }
        opened.notify_all();
    }

    // helper: wait for a round after `last`, which becomes its number; false if there is none
    bool enter(long* last) {
        std::unique_lock<std::mutex> lock(door);
        opened.wait(lock, [&] { return closed_for_good || (open_now && round != *last); });
        if (closed_for_good) return false;
        *last = round;
        ++inside;
        return true;
    }

    void leave() {
        std::lock_guard<std::mutex> lock(door);
        if (--inside == 0) emptied.notify_one();
    }

    // anybody inside: the next questions [start, stop); false if none is left
    bool take(std::ptrdiff_t* start, std::ptrdiff_t* stop) {
        *start = next.fetch_add(chunk);
        if (*start >= count) return false;
        *stop = std::min(*start + chunk, count);
        return true;
    }

    // anybody inside: hand out no further questions. All that precede a question taken earlier
    // have been taken too.
    void cancel() { next = count; }

    // leader: let nobody in, and wait until the last has left
    void finish() {
        std::unique_lock<std::mutex> lock(door);
        open_now = false;
        emptied.wait(lock, [&] { return inside == 0; });
    }

    // the same for at most so many seconds; false if somebody is inside still
    bool finish(double patience) {
        std::unique_lock<std::mutex> lock(door);
        open_now = false;
        return emptied.wait_for(
            lock, std::chrono::duration<double>(patience), [&] { return inside == 0; });
    }

    void close() {
        {
            std::lock_guard<std::mutex> lock(door);
            closed_for_good = true;
        }
        opened.notify_all();
    }
};

}  // namespace sskit
