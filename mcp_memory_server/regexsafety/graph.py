"""Strongly connected components."""

from __future__ import annotations

from collections.abc import Sequence


def strong_components(targets: Sequence[Sequence[int]]) -> list[int]:  # noqa: C901  # one algorithm, known in this form
    """For each node the number of its component; an edge never leads to a higher number.

    Tarjan 1972, "Depth-first search and linear graph algorithms", with the call stack made explicit.
    """
    count = len(targets)
    order, low, component = [-1] * count, [0] * count, [-1] * count
    path: list[int] = []
    clock = finished = 0
    for root in range(count):
        if order[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                order[node] = low[node] = clock
                clock += 1
                path.append(node)
            descended = False
            for position in range(at, len(targets[node])):
                target = targets[node][position]
                if order[target] < 0:
                    work.extend(((node, position + 1), (target, 0)))
                    descended = True
                    break
                if component[target] < 0:
                    low[node] = min(low[node], order[target])
            if descended:
                continue
            if low[node] == order[node]:
                while component[node] < 0:
                    component[path.pop()] = finished
                finished += 1
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[node])
    return component
