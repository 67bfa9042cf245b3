"""The dual variables of factors, by their definitions."""

import numpy as np
from sskit_probes.factor_probe import FactorProbe, mixes, multipliers


def from_scratch(toy, run):
    """w, augmented Lagrangian and infeasibility of the mixes of a run, by their definitions."""
    rho, lam = run.sweep.rho, run.sweep.lam
    probe = FactorProbe(toy.problem.decomposition())
    nodes, edges = mixes(run.sweep)
    messages = multipliers(run.sweep)
    n_states, n_weights = toy.n_states, toy.problem.n_weights
    w, value, distance = np.zeros(n_weights), 0.0, 0.0
    zero = np.zeros(n_weights)
    for i, c in enumerate(toy.pairs.c):
        apart = []
        for j in probe.nodes(i):
            truth, cost = probe.truth(j)
            w += c / lam * probe.node(i, j, truth, zero)[2]
            for y, q in zip(*nodes[j], strict=True):
                w -= c / lam * q * probe.node(i, j, y, zero)[2]
                value -= c * cost * q * (y != truth)
        for e, *ends in probe.edges(i):
            table = np.zeros(n_states * n_states)
            table[edges[e][0]] = edges[e][1]
            pair = probe.truth(ends[0])[0] * n_states + probe.truth(ends[1])[0]
            w += c / lam * probe.edge(i, e, pair, zero)[2]
            for pair in edges[e][0]:
                w -= c / lam * table[pair] * probe.edge(i, e, pair, zero)[2]
            for side in range(2):
                residual = table.reshape(n_states, -1).sum(axis=1 - side)
                residual[nodes[ends[side]][0]] -= nodes[ends[side]][1]
                mu = np.zeros(n_states)
                labels, values = messages[2 * e + side]
                mu[labels] = values
                value += rho * c * c / lam / 2 * (np.sum((residual + mu) ** 2) - np.sum(mu**2))
                apart.append(np.abs(residual).sum() / 2)
        distance += c * np.mean(apart) if apart else 0.0
    return w, value + lam / 2 * float(w @ w), distance


def message(probe, run, edge, side):
    """What an end of an edge hears of it: multipliers and disagreement, (K,)."""
    e, *ends = edge
    (nodes, edges), sent = mixes(run.sweep), multipliers(run.sweep)
    n_states = probe.factors.n_states
    q = np.zeros(n_states**2)
    q[edges[e][0]] = edges[e][1]
    m = q.reshape(n_states, -1).sum(axis=1 - side)
    m[nodes[ends[side]][0]] -= nodes[ends[side]][1]
    m[sent[2 * e + side][0]] += sent[2 * e + side][1]
    return run.sweep.rho * m / run.sweep.lam


def node_gains(probe, run, i, j):
    """Gains of all states of a node, (K,), up to a constant."""
    truth, cost = probe.truth(j)
    gains = probe.node_scores(i, j, run.weights())
    gains[truth] -= cost
    for edge in probe.edges(i):
        for side in range(2):
            if edge[1 + side] == j:
                gains += probe.factors.block_weight[i] * message(probe, run, edge, side)
    return gains


def edge_gains(probe, run, i, edge):
    """Gains of all pairs of states of an edge, (K, K)."""
    one, two = (message(probe, run, edge, side) for side in range(2))
    table = probe.edge_table(i, edge[0], run.weights())
    return table - probe.factors.block_weight[i] * (one[:, None] + two)
