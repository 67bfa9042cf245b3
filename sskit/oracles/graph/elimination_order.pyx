"""Orders to eliminate the nodes of a graph in, by minimum fill."""

from libc.string cimport memcmp, memcpy, memmove

MOST_WIDTH = 62


cdef class EliminationOrder:
    """Scratch memory to find orders with; it grows with the graphs (see the .pxd)."""

    def __cinit__(self):
        self.n_nodes = -1

    cdef Py_ssize_t arrange(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends, Py_ssize_t most
    ) except -1 nogil:
        cdef Py_ssize_t i, lowest = 0, n_keys
        cdef int32_t v
        most = max(min(most, MOST_WIDTH), 0)
        if n_nodes == self.n_nodes and n_edges == self.n_edges and most == self.most and (
            n_edges == 0 or not memcmp(ends, self.ends.data(), 2 * n_edges * sizeof(int32_t))
        ):
            return self.width
        self.n_nodes = -1  # should memory end on the way
        self.n_edges, self.most, self.width = n_edges, most, 0
        self.ends.resize(2 * n_edges)
        if n_edges:
            memcpy(self.ends.data(), ends, 2 * n_edges * sizeof(int32_t))
        self.load(n_nodes, n_edges, ends)
        n_keys = most * (most - 1) // 2 + 2
        self.head.refill(n_keys, -1)
        self.tail.refill(n_keys, -1)
        self.next.resize(n_nodes)
        self.previous.resize(n_nodes)
        self.fill.resize(n_nodes)
        self.order.resize(n_nodes)
        self.place.refill(n_nodes, -1)
        self.first.refill(n_nodes + 1, 0)
        self.joined.resize(0)
        for v in range(<int32_t>n_nodes):
            self.count(v)
        for i in range(n_nodes):
            # an elimination lowers these numbers by little
            lowest = 0
            while self.head[lowest] < 0:
                lowest += 1
            if lowest == n_keys - 1:
                self.width = most + 1
                break
            v = self.head[lowest]
            self.order[i], self.place[v] = v, <int32_t>i
            self.eliminate(v)
            self.first[i + 1] = <int32_t>self.joined.size()
            self.width = max(self.width, self.first[i + 1] - self.first[i])
        if self.width <= most:
            self.sort()
        self.n_nodes = n_nodes
        return self.width

    cdef void sort(self) noexcept nogil:
        """Bring the neighbours at each elimination into the order of their own ones."""
        cdef Py_ssize_t i, j, k
        cdef int32_t v
        for i in range(self.place.size()):
            for j in range(self.first[i] + 1, self.first[i + 1]):
                v, k = self.joined[j], j
                while k > self.first[i] and self.place[self.joined[k - 1]] > self.place[v]:
                    self.joined[k] = self.joined[k - 1]
                    k -= 1
                self.joined[k] = v

    cdef int load(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends
    ) except -1 nogil:
        cdef Py_ssize_t k, n_found
        cdef int32_t u, v
        # the edges of each node, at first in `pool`, in their order
        self.start.refill(n_nodes + 1, 0)
        self.joined.resize(2 * n_edges)
        for k in range(2 * n_edges):
            self.start[ends[k] + 1] += 1
        for k in range(n_nodes):
            self.start[k + 1] += self.start[k]
        self.size.refill(n_nodes, 0)
        self.room.resize(n_nodes)
        self.pool.resize(2 * n_edges)
        for k in range(2 * n_edges):
            v = ends[k]
            self.joined[self.start[v] + self.size[v]] = ends[k ^ 1]
            self.size[v] += 1
        for v in range(<int32_t>n_nodes):
            self.room[v], self.size[v] = self.size[v], 0
        # then by number, and each of them once
        for u in range(<int32_t>n_nodes):
            for k in range(self.start[u], self.start[u] + self.room[u]):
                v = self.joined[k]
                n_found = self.start[v] + self.size[v]
                if self.size[v] == 0 or self.pool[n_found - 1] != u:
                    self.pool[n_found] = u
                    self.size[v] += 1
        return 0

    cdef int eliminate(self, int32_t v) except -1 nogil:
        cdef Py_ssize_t i, j, k, begin = self.joined.size(), n = self.size[v]
        cdef int32_t u, w
        self.unlink(v)
        self.joined.resize(begin + n)
        if n:
            memcpy(&self.joined[begin], &self.pool[self.start[v]], n * sizeof(int32_t))
        for i in range(begin, begin + n):
            u = self.joined[i]
            k = self.seek(u, v)
            self.size[u] -= 1
            if k < self.start[u] + self.size[u]:
                memmove(
                    &self.pool[k], &self.pool[k + 1],
                    (self.start[u] + self.size[u] - k) * sizeof(int32_t)
                )
        for i in range(begin, begin + n):
            for j in range(i + 1, begin + n):
                u, w = self.joined[i], self.joined[j]
                if not self.adjacent(u, w):
                    self.credit(u, w)
                    self.insert(u, w)
                    self.insert(w, u)
        for i in range(begin, begin + n):
            self.unlink(self.joined[i])
            self.count(self.joined[i])
        return 0

    cdef Py_ssize_t seek(self, int32_t v, int32_t u) noexcept nogil:
        cdef Py_ssize_t low = self.start[v], high = low + self.size[v], middle
        while low < high:
            middle = (low + high) // 2
            if self.pool[middle] < u:
                low = middle + 1
            else:
                high = middle
        return low

    cdef bint adjacent(self, int32_t v, int32_t u) noexcept nogil:
        cdef Py_ssize_t k
        if self.size[u] < self.size[v]:
            u, v = v, u
        k = self.seek(v, u)
        return k < self.start[v] + self.size[v] and self.pool[k] == u

    cdef int insert(self, int32_t v, int32_t u) except -1 nogil:
        cdef Py_ssize_t k, n = self.size[v], end = self.pool.size()
        if n == self.room[v]:  # moved to where there is more
            self.pool.resize(end + 2 * n + 4)
            if n:
                memcpy(&self.pool[end], &self.pool[self.start[v]], n * sizeof(int32_t))
            self.start[v], self.room[v] = end, <int32_t>(2 * n + 4)
        k, end = self.seek(v, u), self.start[v] + n
        if k < end:
            memmove(&self.pool[k + 1], &self.pool[k], (end - k) * sizeof(int32_t))
        self.pool[k] = u
        self.size[v] += 1
        return 0

    cdef void credit(self, int32_t u, int32_t v) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t x, fill
        if self.size[v] < self.size[u]:
            u, v = v, u
        for k in range(self.start[u], self.start[u] + self.size[u]):
            x = self.pool[k]
            fill = self.fill[x]
            if 0 < fill < self.head.size() - 1 and self.adjacent(x, v):
                self.unlink(x)
                self.link(x, fill - 1)

    cdef void count(self, int32_t v) noexcept nogil:
        cdef Py_ssize_t i, j, end = self.start[v] + self.size[v]
        cdef int32_t fill = 0
        if self.size[v] > self.most:
            self.link(v, <int32_t>(self.head.size() - 1))
            return
        for i in range(self.start[v], end):
            for j in range(i + 1, end):
                fill += not self.adjacent(self.pool[i], self.pool[j])
        self.link(v, fill)

    cdef void link(self, int32_t v, int32_t fill) noexcept nogil:
        cdef int32_t last = self.tail[fill]
        self.fill[v], self.next[v], self.previous[v] = fill, -1, last
        if last >= 0:
            self.next[last] = v
        else:
            self.head[fill] = v
        self.tail[fill] = v

    cdef void unlink(self, int32_t v) noexcept nogil:
        cdef int32_t before = self.previous[v], after = self.next[v]
        if before < 0:
            self.head[self.fill[v]] = after
        else:
            self.next[before] = after
        if after < 0:
            self.tail[self.fill[v]] = before
        else:
            self.previous[after] = before
