"""A pool of threads for the parts of a task, its queue, and a spin lock."""

# Design
#
# What. `ThreadPool` runs the parts of one task on a few threads; `work_queue.hpp` hands out the
# parts; `spin_lock.hpp` takes turns at the interpreter's lock. Users: exact passes and batches of
# oracle calls, rounds of shards, sums of the likelihood, requests.
#
# Why so.
# - A round may take microseconds, many rounds make a pass: threads spin for a moment before they
#   sleep, and a thread that the system wakes late is not waited for.
# - The calling thread takes part, and it alone reads the clock and handles signals, so that Ctrl-C
#   works. Of several errors that of the first item is raised: errors do not depend on timing
#   either.
# - Parts may have owners: a worker prefers the part whose data it has in its cache.
# - Threads are daemons and hold the queue, not the pool: a pool that is dropped ends its threads.
#
# Tried or considered, and left. joblib's threads: they are right for predictions of seconds, but it
# checks only every hundredth of a second whether threads are done. The interpreter's lock alone: a
# thread that waits for it sleeps, and waking takes longer than an oracle holds it; two threads in
# turns were slower than one. Processes are for structures in Python
# (`models/structured/oracle_pool`) and for clusters (`RemotePool`) only.
