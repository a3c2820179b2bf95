"""What a sifted result claims, worked out by brute force: every cell, every rule, every draw.

For small boxes only. It is written from the definitions, with sets of cells and fractions, so that
neither the checker nor what it checks has a part in it. `problems` lists what does not hold.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cached_property
from hashlib import sha512
from itertools import combinations, product
from math import comb, isclose

from hornlens.formats.spaces import space_from_json

BETS = (Fraction(15, 100), Fraction(4, 10), Fraction(6, 10))


class Naive:
    """A sifted result of a small space."""

    def __init__(self, content):
        self.content, self.sift = content, content["sift"]
        self.space = space_from_json(content)
        self.bit = {name: 1 << i for i, name in enumerate(content["variables"])}
        attributes = self.space.attributes
        own = self.space.leaves if self.space.complete else self.space.axes[: len(attributes)]
        self.levels = [list(levels) for levels in own]
        self.groups = self.space.groups[: len(attributes)]
        labels = () if self.space.label is None else self.space.label.variables
        self.labels = [self.bit[name] for name in labels]
        self.epsilon = Fraction(repr(self.sift["epsilon"]))
        self.varies = self.sift.get("varies", False)

    # --- cells and answers ---

    def mask(self, names):
        return sum({self.bit[name] for name in names})

    def rule(self, line):
        left = self.mask(line["if"])
        return left, None if line["then"] is None else left | self.mask(line["then"])

    @cached_property
    def background(self):
        lines = self.content["background"]
        pairs = [self.rule(line) for line in lines if "if" in line]
        for line in lines:
            if "at_most_one" in line:
                pairs += [(self.mask(two), None) for two in combinations(line["at_most_one"], 2)]
        return pairs

    @cached_property
    def every(self):
        """All combinations of levels, whatever the background says."""
        return [sum(cell) for cell in product(*self.levels)]

    @cached_property
    def cells(self):
        return [c for c in self.every if not any(breaks(c, rule) for rule in self.background)]

    @cached_property
    def policies(self):
        variants = self.content.get("variants", [])
        own = {line["name"]: line.get("policy") or self.content["policy"] for line in variants}
        return own or {None: self.content["policy"]}

    @cached_property
    def answers(self):
        """For each cell, and label (or 0), whether it is accepted: 1, 0, or -1."""
        names = () if self.space.label is None else self.space.label.variables
        lines = {}
        for answer in self.content["answers"]:
            lines.setdefault(self.mask(answer["set"]), {})[answer.get("variant")] = answer
        known = {}
        for cell, own in lines.items():
            status = dict.fromkeys(self.labels or [0], 0)
            for world, policy in self.policies.items():
                answer = own.get(world)
                for k, label in enumerate(status):
                    if answer is None or answer.get("abstained") == "undecided":
                        status[label] = status[label] or -1
                    elif answer["winner"] is None:
                        status[label] = 1 if policy["abstain"] == "accept" else status[label]
                    elif answer["winner"] == (names[k] if names else "yes"):
                        status[label] = 1
            known[cell] = status
        return known

    @cached_property
    def order(self):
        return [self.mask(self.content["answers"][at]["set"]) for at in self.sift["order"]]

    def breaking(self, rule, cell):
        """The labels with which a cell breaks a rule."""
        return [label for label in self.labels or [0] if breaks(cell | label, rule)]

    def room(self, rule):
        return [cell for cell in self.cells if self.breaking(rule, cell)]

    def outcome(self, rule, cell):
        """1 if the answer breaks a rule, -1 if that is not known, 0 if it does not."""
        known = [self.answers[cell][label] for label in self.breaking(rule, cell)]
        return 1 if 1 in known else -1 if -1 in known else 0

    # --- all short rules ---

    @cached_property
    def conditions(self):
        """For each attribute the levels that meet each of its conditions, each set once."""
        found = []
        for i, levels in enumerate(self.levels):
            choices = [c for c in self.space.axes[i] if c]
            parts = {frozenset(x for x in levels if c & ~x == 0) for c in choices}
            found.append([part for part in parts if 0 < len(part) < len(levels)])
        return found

    def boxes(self, most):
        every = range(len(self.levels))
        for size in range(min(most, len(self.levels)) + 1):
            for some in combinations(every, size):
                for parts in product(*(self.conditions[i] for i in some)):
                    yield dict(zip(some, parts, strict=True))

    def inside(self, box, cell):
        return all(cell & self.groups[i] in part for i, part in box.items())

    @cached_property
    def sayings(self):
        """What can be said, as the labels that break it: never one, or always one."""
        labels = self.labels or [0]
        unset = any(policy["label_unset"] == "accept" for policy in self.policies.values())
        never = [("never", frozenset([label])) for label in labels]
        if len(self.labels) < 2 or (unset and not self.space.complete):
            return never
        always = [("always", frozenset(labels) - {label}) for label in labels]
        return always if len(labels) == 2 else [*never, *always]

    def broken_by(self, breaks, box):
        return [
            cell
            for cell in self.order
            if self.inside(box, cell) and any(self.answers[cell][b] == 1 for b in breaks)
        ]

    @cached_property
    def candidates(self):
        """Every rule to be sifted, by its box, that some cell is in."""
        boxes = {key(box): box for box in self.boxes(self.sift["conditions"])}
        return [b for b in boxes.values() if any(self.inside(b, cell) for cell in self.cells)]

    @cached_property
    def first_broken(self):
        """For each saying and box the place of the first answer that breaks it."""
        found = {}
        for saying in self.sayings:
            marks = [any(self.answers[c][b] == 1 for b in saying[1]) for c in self.order]
            hits = [
                (at, cell)
                for at, (cell, hit) in enumerate(zip(self.order, marks, strict=True))
                if hit
            ]
            for box in self.candidates:
                at = next((at for at, cell in hits if self.inside(box, cell)), None)
                found[saying, key(box)] = at
        return found

    def live(self, questions):
        return sum(at is None or at >= questions for at in self.first_broken.values())

    @cached_property
    def almost(self):
        """The rules with exceptions: what they say, and their boxes."""
        return [self.as_candidate(self.rule(line)) for line in self.sift.get("almost", [])]

    def as_candidate(self, rule):
        """A rule as (saying, box, attribute of its value); None for what is no candidate."""
        left, both = rule
        given = [label for label in self.labels if left & label]
        box = {}
        for i, group in enumerate(self.groups):
            if left & group:
                box[i] = frozenset(x for x in self.levels[i] if left & group & ~x == 0)
        new = 0 if both is None else both & ~left
        owner = next((i for i, group in enumerate(self.groups) if new & group), None)
        if new and owner is None:
            saying = "always", frozenset(set(self.labels) - {new})
        else:
            saying = "never", frozenset(given or [0])
            two = ("always", saying[1])
            if two in self.sayings and len(self.labels) == 2:
                saying = two if both is not None else ("none", saying[1])
        return saying, box, owner

    @cached_property
    def wanted(self):
        """What has to be listed or open, by saying, box and attribute: what it concludes."""
        plain = self._plain()
        values = self._values()
        kept = {}
        for saying, box in plain:
            excluded = any(
                saying[0] == "never"
                and own[0] == saying
                and lies_in(box, own[1])
                and all(any(not level >> v & 1 for v in heads) for level in box.get(own[2], [-1]))
                for own, heads in values
            )
            another = any(saying[1] < other[1] and lies_in(box, wide) for other, wide in plain)
            if not excluded and not another:
                kept[saying, key(box), None] = ()
        for (saying, box, i), heads in values:
            kept[saying, key(box), i] = heads
        return kept

    def _plain(self):
        found = []
        for saying in self.sayings:
            live = [b for b in self.candidates if self.first_broken[saying, key(b)] is None]
            for box in live:
                if any(other != box and lies_in(box, other) for other in live):
                    continue
                if not any(saying == s and lies_in(box, b) for s, b, _ in self.almost):
                    found.append((saying, box))
        return found

    def _values(self):
        if self.space.complete:
            return []
        most = self.sift["conditions"] - bool(self.labels)
        boxes = list({key(b): b for b in self.boxes(most)}.values()) if most >= 0 else []
        found = []
        for saying in self.sayings:
            if len(saying[1]) > 1:
                continue
            shared = {}
            for box in boxes:
                hits = self.broken_by(saying[1], box)
                if hits:
                    common = hits[0]
                    for cell in hits:
                        common &= cell
                    shared[key(box)] = box, common
            for box, common in shared.values():
                wider = [c for b, c in shared.values() if b != box and lies_in(box, b)]
                for i, group in enumerate(self.groups):
                    if i in box:
                        continue
                    heads = [
                        v
                        for v in range(group.bit_length())
                        if group >> v & 1
                        and common >> v & 1
                        and not any(c >> v & 1 for c in wider)
                        and any(self.inside(box, c) and not c >> v & 1 for c in self.cells)
                    ]
                    exempt = any(
                        s == saying and i not in wide and lies_in(box, wide)
                        for s, wide, _ in self.almost
                    )
                    if heads and not exempt:
                        found.append(((saying, box, i), heads))
        return found

    def check_rules(self):
        sift, certificate = self.sift, self.content["certificate"]
        count = len(self.candidates) * len(self.sayings)
        if sift["candidates"] != count:
            yield f"{count} candidates"
        if sift["live"] != self.live(len(self.order)):
            yield f"{self.live(len(self.order))} live"
        for asked, live in sift["curve"]:
            if self.live(asked) != live:
                yield f"{self.live(asked)} live after {asked}"
        stated = [self.rule(line) for line in (*self.content["rules"], *self.content["open"])]
        seen = Counter()
        for rule in stated:
            saying, box, i = self.as_candidate(rule)
            name = saying, key(box), i
            seen[name] += 1
            heads = self.wanted.get(name)
            if heads is None or any(not (rule[1] or 0) >> v & 1 for v in heads):
                yield f"{rule} is not one of the most general rules"
            if any(self.outcome(rule, cell) == 1 for cell in self.order):
                yield f"{rule} is broken"
        if max(seen.values(), default=0) > 1:
            yield "a rule stands there twice"
        if len(self.content["rules"]) + certificate.get("open", 0) != len(self.wanted):
            yield f"{len(self.wanted)} rules have to be listed or open"
        if len(self.content["open"]) != certificate.get("open", 0):
            yield "not all open rules are there"

    # --- draws ---

    @cached_property
    def bound(self):
        """The attributes of assumed rules that some combination of levels breaks."""
        rules = [rule for rule in self.background if any(breaks(c, rule) for c in self.every)]
        sides = [left | (both or 0) for left, both in rules]
        return [i for i, group in enumerate(self.groups) if any(side & group for side in sides)]

    def numbered(self, cells):
        order = [i for i in range(len(self.groups)) if i not in self.bound] + self.bound
        return sorted(
            cells, key=lambda c: [self.levels[i].index(c & self.groups[i]) for i in order]
        )

    def base(self, family, line):
        if "rule" in line:
            return self.room(self.rule(family["rules"][line["rule"]]))
        mask = self.mask(line["if"])
        return [cell for cell in self.cells if mask & ~cell == 0]

    def check_draws(self):
        used, bases = Counter(), {}
        last = -1
        for at, f, b in self.sift["draws"]:
            family = self.sift["families"][f]
            if at <= last or at < family["at"]:
                yield f"draw {at} comes too early"
            last = at
            if (f, b) not in bases:
                bases[f, b] = self.numbered(self.base(family, family["bases"][b]))
            asked = set(self.order[:at])
            cells = bases[f, b]
            new = [cell for cell in cells if cell not in asked]
            drawn = None
            while new and drawn is None:
                text = f"hornlens sift {self.sift['seed']} {f} {b} {used[f, b]}"
                used[f, b] += 1
                number = int.from_bytes(sha512(text.encode()).digest(), "big")
                pool = new if len(cells) <= 1024 else cells
                cell = pool[number * len(pool) >> 512]
                drawn = cell if cell not in asked else None
            if drawn != self.order[at]:
                yield f"draw {at} is not what the seed gives"

    # --- what draws show ---

    def family(self, f):
        """For each member: clean draws, hits, E, cells asked before, and whether it is proved."""
        family = self.sift["families"][f]
        epsilon = Fraction(repr(family["epsilon"]))
        tolerant = family["purpose"] == "almost"
        draws = {at: b for at, g, b in self.sift["draws"] if g == f}
        end = max(draws, default=family["at"] - 1) + 1
        bases = [set(self.base(family, line)) for line in family["bases"]]
        shown = []
        for line in family["rules"]:
            rule = self.rule(line)
            cells = set(self.room(rule))
            room = len(cells)
            bad = int(epsilon * room) + 1
            inside = [at for at in range(end) if self.order[at] in cells]
            outcomes = {at: self.outcome(rule, self.order[at]) for at in inside}
            clean = hits = 0
            lost, evidence = False, [Fraction(1)] * (len(BETS) if tolerant else 1)
            for k, at in enumerate(inside):
                known = sum(outcomes[before] != 0 for before in inside[:k])
                left = room - k
                least = epsilon * room - k if self.varies else bad - known
                chance = min(max(least / Fraction(left), Fraction(0)), Fraction(1))
                counts = at >= family["at"] and at in draws and cells <= bases[draws[at]]
                if counts and tolerant:
                    clean += 1
                    hits += outcomes[at] != 0
                    chance = min(chance, Fraction(999, 1000))
                    for n, bet in enumerate(BETS):
                        other = (1 - bet * chance) / (1 - chance)
                        evidence[n] *= bet if outcomes[at] else other
                elif counts and not outcomes[at]:
                    clean += 1
                    evidence[0] *= 10**26 if chance == 1 else 1 / (1 - chance)
                elif counts:
                    lost = True
                lost = lost or (outcomes[at] == 1 and not tolerant)
                lost = lost or (tolerant and known + (outcomes[at] != 0) >= bad)
            whole = len(inside) == room and not any(outcomes.values()) and not self.varies
            e = 0 if lost else sum(evidence) / len(evidence)
            before = sum(at < family["at"] for at in inside)
            shown.append((clean, hits, e, before, whole and not tolerant and not lost, len(inside)))
        return shown

    def passed(self, f):
        """The members of a family that are listed together."""
        family, shown = self.sift["families"][f], self.family(f)
        rest = [(own[2], k) for k, own in enumerate(shown) if not own[4]]
        rest.sort(key=lambda pair: -pair[0])
        delta = Fraction(repr(family["delta"]))
        for many in range(len(rest), 0, -1):
            if rest[many - 1][0] >= (len(rest) - many + 1) / delta * (1 - Fraction(1, 10**8)):
                return {k for _, k in rest[:many]}
        return set()

    def check_warrants(self):
        families = self.sift["families"]
        total = sum(family["delta"] for family in families) + self.sift["spare"]
        if total > self.sift["delta"] * (1 + 1e-8):
            yield "shares of δ are too many"
        for line in self.content["rules"]:
            rule, warrant = self.rule(line), line["warrant"]
            cells = self.room(rule)
            if warrant["kind"] == "proved":
                asked = all(c in self.answers for c in cells)
                if self.varies or not asked or any(self.outcome(rule, c) for c in cells):
                    yield f"{rule} is not proved"
            elif not any(self._bears(rule, warrant, f) for f in range(len(families))):
                yield f"{rule}: {warrant} is not shown"
        for line in self.sift.get("almost", []):
            yield from self._check_almost(line)
        for line in self.sift.get("more_often", []):
            if not any(self._rates(line, f) for f in range(len(families))):
                yield f"{line} is not shown"

    def _place(self, rule, f):
        rules = [self.rule(line) for line in self.sift["families"][f]["rules"]]
        return rules.index(rule) if rule in rules else None

    def _bears(self, rule, warrant, f):
        family, place = self.sift["families"][f], self._place(rule, f)
        if place is None or family["purpose"] not in ("list", "bounds"):
            return False
        clean, _, e, _, _, used = self.family(f)[place]
        if clean != warrant["tested"]:
            return False
        bound, members = warrant["bound"], len(family["rules"])
        within = bound >= family["epsilon"] * (1 - 1e-8)
        if family["purpose"] == "list" and within and place in self.passed(f):
            return True
        if family["purpose"] == "list" and f < len(self.sift["families"]) - 1:
            return False
        delta = family["delta"] if family["purpose"] == "bounds" else self.sift["spare"]
        if not clean or not e or not delta:
            return False
        least = 1 - (delta / members) ** (1 / clean)
        if self.varies:
            room = len(self.room(rule))
            least += used / (room - used) if used < room else 1
        return bound >= least * (1 - 1e-8)

    def _check_almost(self, line):
        rule = self.rule(line)
        broken = [
            at
            for at in self.sift["order"]
            if self.outcome(rule, self.mask(self.content["answers"][at]["set"])) == 1
        ]
        if sorted(broken) != sorted(line["exceptions"]):
            yield f"{line}: not its exceptions"
        if not self.varies and len(broken) > line["bound"] * len(self.room(rule)) * (1 + 1e-8):
            yield f"{line}: too many exceptions"
        for f, family in enumerate(self.sift["families"]):
            place = self._place(rule, f)
            if family["purpose"] == "almost" and place is not None:
                clean, hits, *_ = self.family(f)[place]
                same = (clean, hits) == (line["tested"], line["broken"])
                fits = line["bound"] >= family["epsilon"] * (1 - 1e-8)
                if same and fits and place in self.passed(f):
                    return
        yield f"{line}: is not shown"

    def _rates(self, line, f):
        family = self.sift["families"][f]
        place = self._place((self.mask([*line["if"], line["label"]]), None), f)
        if place is None or family["purpose"] != "rates":
            return False
        rule = self.rule(family["rules"][place])
        owners = [base.get("rule") for base in family["bases"]]
        drawn = [at for at, g, b in self.sift["draws"] if g == f and owners[b] == place]
        given = sum(self.outcome(rule, self.order[at]) == 1 for at in drawn)
        room, before = len(self.room(rule)), self.family(f)[place][3]
        p = line["at_least"] / (1 - before / room)
        n = len(drawn)
        tail = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(given, n + 1))
        level = family["delta"] / len(family["rules"])
        enough = isclose(tail, level, rel_tol=1e-6) or tail < level
        return (n, given) == (line["tested"], line["given"]) and enough and n == 50


def problems(content):
    """What does not hold of a sifted result of a small space."""
    naive = Naive(content)
    return [*naive.check_rules(), *naive.check_draws(), *naive.check_warrants()]


def breaks(x, rule):
    left, both = rule
    return left & ~x == 0 and (both is None or both & ~x != 0)


def key(box):
    return frozenset(box.items())


def lies_in(box, other):
    return all(i in box and box[i] <= part for i, part in other.items())
