// Drives the work queue of sskit/parallel/work_queue.hpp with a leader and several helpers, and ends
// with 1 and a line on stderr at the first answer that is wrong. All that passes between the
// threads are plain numbers, so that a sanitizer of threads sees each meeting that orders nothing.
//
// usage: driver n_rounds n_helpers seed
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "work_queue.hpp"

using Questions = std::vector<long>;
constexpr long NEVER = -1;

#define EXPECT(truth, ...)                    \
    do {                                      \
        if (!(truth)) {                       \
            std::fprintf(stderr, __VA_ARGS__); \
            std::fputc('\n', stderr);         \
            std::exit(1);                     \
        }                                     \
    } while (0)

// The state of a team: the queue, and plain fields that the calling thread sets between rounds.
struct Team {
    sskit::WorkQueue queue;
    const Questions* questions = nullptr;
    Questions answers;      // by question: one more for each time it was answered
    long fails_at = NEVER;  // the item that fails
    long slow_at = NEVER;   // the question that takes so long that the others have to wait
};

struct Member {
    long number = 0;
    long n_rounds = 0;
    long failed = NEVER;  // the question it gave up in this round; the leader reads and resets it
};

static void work(Team& team, Member& member) {
    std::ptrdiff_t start, stop;
    while (team.queue.take(member.number, &start, &stop)) {
        for (std::ptrdiff_t k = start; k < stop; ++k) {
            if (k == team.fails_at) {
                team.queue.cancel();
                member.failed = k;
                EXPECT(!team.queue.take(member.number, &start, &stop), "question %ld is after the end", long(start));
                return;
            }
            if (k == team.slow_at) std::this_thread::sleep_for(std::chrono::microseconds(300));
            team.answers[k] += (*team.questions)[k];
        }
    }
}

static void help(Team& team, Member& member) {
    long last = 0, before = 0;
    while (team.queue.enter(&last)) {
        EXPECT(last > before, "round %ld was entered after round %ld", last, before);
        before = last;
        ++member.n_rounds;
        work(team, member);
        team.queue.leave();
    }
}

// One round of the calling thread; the results are checked when all threads have left. The last
// may be closed early: a thread inside goes on, and no other one comes.
static void lead(Team& team, std::vector<Member>& members, long n, long chunk, long fails_at,
                 long slow_at, bool close_early) {
    const Questions questions(n, 1);
    team.questions = &questions;
    team.answers.assign(n, 0);
    team.fails_at = fails_at;
    team.slow_at = slow_at;
    // parts with owners, if there are few enough and none is cancelled
    if (n <= sskit::WorkQueue::MOST_PARTS && fails_at == NEVER && n % 3 == 0)
        team.queue.open_parts(n);
    else
        team.queue.open(n, chunk);
    if (close_early) team.queue.close();
    work(team, members[0]);
    // half of the time with a wait that ends now and then
    while (!team.queue.finish(n % 2 ? 1e-4 : 60.0)) continue;
    team.questions = nullptr;

    long failed = NEVER;
    for (Member& member : members) {
        EXPECT(failed == NEVER || member.failed == NEVER, "question %ld was given up twice", failed);
        if (member.failed != NEVER) failed = member.failed;
        member.failed = NEVER;
    }
    const bool fails = fails_at >= 0 && fails_at < n;
    EXPECT(failed == (fails ? fails_at : NEVER), "question %ld failed, not %ld", failed, fails_at);
    for (long k = 0; k < n; ++k) {
        const long got = team.answers[k];
        EXPECT(got == 0 || got == 1, "question %ld was answered %ld times", k, got);
        EXPECT(got == 1 || (fails && k >= fails_at), "question %ld was not answered", k);
    }
}

// Start threads, run some rounds, end: at once after the last round, when many have not woken yet.
static long drive(long n_rounds, long n_helpers, std::mt19937& random) {
    auto draw = [&](long least, long most) {
        return std::uniform_int_distribution<long>(least, most)(random);
    };
    auto team = std::make_unique<Team>();
    std::vector<Member> members(1 + n_helpers);
    std::vector<std::thread> threads;
    for (long k = 0; k <= n_helpers; ++k) members[k].number = k;
    for (long k = 1; k <= n_helpers; ++k)
        threads.emplace_back(help, std::ref(*team), std::ref(members[k]));
    for (long r = 0; r < n_rounds; ++r) {
        const long n = draw(0, 9) ? draw(1, 200) : 0;
        const long fails_at = n && draw(0, 3) == 0 ? draw(0, n - 1) : NEVER;
        const long slow_at = draw(0, 9) ? NEVER : draw(0, 200);
        lead(*team, members, n, draw(1, 9), fails_at, slow_at, r == n_rounds - 1 && draw(0, 1));
        if (draw(0, 7) == 0) std::this_thread::yield();
    }
    team->queue.close();
    for (std::thread& thread : threads) thread.join();
    long n_entered = 0;
    for (const Member& member : members) n_entered += member.n_rounds;
    return n_entered;
}

int main(int, char** argv) {
    const long n_rounds = std::atol(argv[1]), n_helpers = std::atol(argv[2]);
    std::mt19937 random(std::atol(argv[3]));
    long n_entered = drive(n_rounds, n_helpers, random);
    // short lives: closed before the first round, after it, or a little later
    for (long r = 0; r < n_rounds / 50; ++r) n_entered += drive(r % 3, n_helpers, random);
    std::printf("%ld\n", n_entered);
    return 0;
}
