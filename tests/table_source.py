"""The rows of a table as what the search for one rule after another looks into: a second engine."""


class TableSource:
    """Answers from the rows, by the definitions."""

    clauses = None

    def __init__(self, rows, width):
        self.width, self.rows = width, sorted(set(rows), key=int.bit_count, reverse=True)

    def positive(self, above, without):
        """The largest row above a set that lacks a variable (below 0: whatever it has)."""
        for row in self.rows:
            if above & ~row == 0 and (without < 0 or not row >> without & 1):
                return row
        return None

    def reason(self, x, head):
        """A minimal subset of x that has the same effect."""
        for i in range(self.width):
            smaller = x & ~(1 << i)
            if smaller != x and self.positive(smaller, head) is None:
                x = smaller
        return x
