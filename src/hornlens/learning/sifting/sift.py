"""Sift: all rules with few conditions, from few questions. See docs/theory.md for the proofs.

Eliminate (cells in which many doubtful candidates meet), race (a few draws inside what is left),
confirm (fix a family, draw inside its rules, list what passes). Every rule that holds without
exception follows from the listed and the open ones, whenever it stops.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log, log1p

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.events import Sifting
from hornlens.learning.sifting.axes import Box, Cells, Flags, Ground
from hornlens.learning.sifting.candidates import Candidates, statements_of
from hornlens.learning.sifting.design import Design, Weights
from hornlens.learning.sifting.drawing import Stream
from hornlens.learning.sifting.families import Family, Member, count_in
from hornlens.learning.sifting.tally import Answers, Tally
from hornlens.learning.sifting.tolerating import FEWEST, TolerantFamily
from hornlens.learning.strategies import Lines, Proposal, Steps
from hornlens.logic.batch import unpack
from hornlens.logic.decisions import Policy
from hornlens.logic.rule import Rule
from hornlens.logic.sifting import MOST_OPEN, AlmostShown, Base, Draw, FixedRules, Sifted, SiftRecord
from hornlens.logic.space import Space
from hornlens.logic.warrants import PROVED, Warrant

PROMISED = 0.2
"""A cell is asked for elimination if it promises to break so many candidates, on average."""
DOSE, MORE_DOSE, MOST_DOSE = 6, 3, 24
"""How many draws a survivor gets in a race; more if too many die of them."""
SURPRISE = 20.0
"""By how much (log) a candidate must have survived beyond all chance to be left alone."""
CONFIRMING = 0.6
"""The share of what is left of δ that a family gets."""
TOLERATING = 0.2
"""The share that rules with exceptions get."""
ELIMINATING = 0.7
"""The share of a budget that elimination may take."""
MANY = 30_000
"""With more candidates than this, more cells are asked at a time."""
WORTH = 1.1
"""A draw in a wider box is worth it if it falls into more rules than this, on average."""
LOOSEST = 4
"""A rule whose bound is more than so many times ε is left among the open ones."""
A_RULE = 30
"""Questions that are set aside for each rule whose bound is wanted, within a budget."""


@dataclass(frozen=True)
class Options:
    """What is sifted for: K conditions on attributes, ε, δ, the seed, the questions allowed."""

    conditions: int = 2
    epsilon: float = 0.05
    delta: float = 0.05
    seed: int = 0
    budget: int | None = None
    varies: bool = False
    """Whether asking a cell again may give another answer."""
    classes: bool = False
    """Whether only rules are wanted that say which label is always given."""


class Sift:
    """The strategy. It yields `Lines` to be asked, and `Sifting` events."""

    def __init__(self, space: Space, policies: Sequence[Policy], options: Options):
        """Lay out all candidates of a space; nothing is asked yet."""
        self.space, self.options = space, options
        self.ground = Ground.of(space)
        statements = statements_of(space, policies, options.classes)
        candidates = Candidates.of(self.ground, options.conditions, len(statements))
        concluding = -1
        if not space.complete:
            concluding = options.conditions - (space.label is not None)
        self.tally = Tally(self.ground, candidates, statements, concluding)
        self.rng = np.random.default_rng(options.seed)
        self.design = Design(self.tally, self.rng)
        self.families: list[Family] = []
        self.draws: list[tuple[int, int, int]] = []
        """The place in the order of each cell that was drawn, its family and its base."""
        self.left = options.delta
        """What is left of δ."""
        self.tested: dict[tuple[int, ...], tuple[Member, int]] = {}
        """The members that were listed, each with its clean draws."""
        self.almost: dict[tuple[int, ...], tuple[Member, TolerantFamily]] = {}
        """The rules with exceptions that stand for narrower ones."""
        self._intolerable: set[tuple[int, ...]] = set()
        self.stuck: set[tuple[int, ...]] = set()
        """The members of which no more can be shown."""
        self.curve: list[tuple[int, int]] = []
        self._raced: dict[tuple[int, ...], int] = {}
        self._dose = DOSE
        self._last: Family | None = None
        self._pending: list[NDArray[np.int64]] = []
        self._own_words = self._words_of_own()
        many = candidates.count > MANY
        self._batch, self._group = (64, 8) if many else (32, 4)
        self._prior = log(20 / (candidates.count * len(statements))) - SURPRISE

    # --- asking ---

    @property
    def room(self) -> int:
        """How many questions may still be asked."""
        budget = self.options.budget
        return 1 << 62 if budget is None else max(0, budget - len(self.tally))

    def _ask(self, cells: Sequence[NDArray[np.int64]]) -> Generator[object, Answers, int]:
        """Ask what is new of these cells; return how many that are."""
        new: dict[bytes, NDArray[np.int64]] = {}
        for cell in cells:
            if self.tally.is_new(cell):
                new.setdefault(cell.tobytes(), cell)
        chosen = list(new.values())[: self.room]
        if not chosen:
            return 0
        self._pending = chosen
        rows = np.array(chosen)
        answers = yield Lines(self.ground.masks(rows))
        self._pending = []
        self._take(rows, answers)
        yield Sifting(len(self.tally), self.tally.live, self.tally.possible, self._to_go())
        return len(chosen)

    def _take(self, rows: Cells, answers: Answers) -> None:
        self.tally.grow(rows, self.ground.masks(rows), answers)
        self.curve.append((len(self.tally), self.tally.live))

    def hear(self, cells: Cells, answers: Answers) -> None:
        """Take answers to cells that were asked beforehand: they refute, and support no claim."""
        new: dict[bytes, int] = {}
        for place, cell in enumerate(cells):
            if self.tally.is_new(cell):
                new.setdefault(cell.tobytes(), place)
        if new:
            places = list(new.values())
            self._take(cells[places], answers[places])

    def _to_go(self) -> int | None:
        """Return how many more questions it takes, about; None as long as nobody knows."""
        return None if self._last is None else self._rest

    _rest = 0

    # --- the phases ---

    def steps(self) -> Steps:
        """Ask, phase after phase, until every candidate is dead, listed or stuck."""
        if len(self.ground.axes) == 0:
            yield from self._ask([np.zeros(0, dtype=np.int64)])
            return
        start = min(self.room, 2 * int(self.ground.sizes.max()) + 8)
        first = [] if self.space.complete else list(self.ground.levels([0]))
        if first and not self.ground.allows(first[0][None])[0]:
            first = []
        yield from self._ask([*first, *self.design.random(start)])
        budget = self.options.budget
        while self.room:
            until = None if budget is None else ceil(ELIMINATING * budget)
            yield from self._eliminate(until)
            todo = self.todo()
            if not todo:
                return
            if until is not None and len(self.tally) >= until and not self._affords(todo):
                break
            slow = [m for m in todo if self._raced.get(m.key, 0) < self._dose]
            slow = [m for m in slow if not self._is_whole(m)]
            if slow:
                yield from self._race(slow)
                continue
            if not self._affords(todo):
                break
            if (yield from self._tolerate(todo)):
                continue
            yield from self._confirm(todo)
        if self.room and (todo := self.todo()):
            yield from self._measure(todo)

    def _affords(self, todo: Sequence[Member]) -> bool:
        """Say whether there are questions enough to confirm all that is left."""
        if self.options.budget is None:
            return True
        delta = CONFIRMING * self.left
        each = log(2 / delta) / -np.log1p(-self.options.epsilon)
        return self.room >= each * sum(not self._is_whole(m) for m in todo)

    def weights(self, hidden: Sequence[Member] = ()) -> Weights:
        """Return how likely each candidate is no rule, in spite of what it survived.

        None is in more doubt than those that are more general.
        """
        tally, candidates = self.tally, self.tally.candidates
        weights = np.zeros(tally.survival.shape, dtype=np.float32)
        for r in range(len(weights)):
            live = np.flatnonzero(tally.alive(r))
            doubt = np.clip(self._prior - tally.survival[r, live], -60, 60)
            weights[r, live] = 1 / (1 + np.exp(doubt))
        for r in range(len(weights)):
            own = weights[r]
            dead = tally.dead[r]
            for rank in candidates.ranked(tally.alive(r)[:-1]):
                above = candidates.parents[rank]
                least = np.where(dead[above] | (above == candidates.count), 1, own[above])
                own[rank] = np.minimum(own[rank], least.min(axis=1))
        return weights

    def _eliminate(self, until: int | None) -> Generator[object, Answers, None]:
        while self.room and (until is None or len(self.tally) < until):
            cells, promised = self.design.cells(self._batch, self._group, self.weights())
            if promised.mean() < PROMISED:
                return
            worth = promised > PROMISED / 2
            if not (yield from self._ask(list(cells[worth]))):
                return

    def _race(self, slow: Sequence[Member]) -> Generator[object, Answers, None]:
        """Draw a few cells inside each rule: cheaper than a family that many fail in."""
        cells = []
        for member in slow:
            self._raced[member.key] = self._raced.get(member.key, 0) + MORE_DOSE
            cells += self._inside(member.box, MORE_DOSE)
        yield from self._ask(cells)
        died = sum(self._is_dead(member) for member in slow)
        if died > max(1, 0.04 * len(slow)):
            self._dose = min(self._dose + MORE_DOSE, MOST_DOSE)

    def _inside(self, box: Box, count: int) -> list[NDArray[np.int64]]:
        """Draw a few cells of a box that were not asked, for no claim."""
        numbered = self.ground.numbered(box)
        cells: list[NDArray[np.int64]] = []
        for _ in range(20 * count):
            if len(cells) == count or not numbered.room:
                break
            cell = numbered.cell(int(self.rng.integers(min(numbered.room, 1 << 62))))
            fine = self.ground.counted or self.ground.allows(cell[None])[0]
            if fine and self.tally.is_new(cell):
                cells.append(cell)
        return cells

    def _family(self, members: Sequence[Member], share: float, bounds: bool = False) -> Family:
        """Fix a family, which takes its share of what is left of δ."""
        delta = share * self.left
        self.left -= delta
        family = Family(
            len(self.families),
            len(self.tally),
            delta,
            members,
            self.ground,
            self.options.epsilon,
            self.options.varies,
            count_in(members, self.ground, self.tally.cells),
            bounds,
        )
        self.families.append(family)
        self._last = family
        return family

    def _confirm(self, todo: Sequence[Member]) -> Generator[object, Answers, None]:
        """Draw inside all members of a family at once, until each is listed or dead."""
        family = self._family(todo, CONFIRMING)
        streams: dict[int, Stream] = {}
        while self.room:
            need = ~family.lost & ~family.proved() & (family.shown < family.goal)
            if not need.any():
                break
            plan = self._plan(family, need)
            self._rest = sum(plan.values())
            if not (yield from self._draw(family, plan, streams)):
                break
        self._list(family)

    def _plan(self, family: Family, need: Flags) -> dict[int, int]:
        """Return how many cells to draw from which base.

        One draw in what is more general falls into several members, if enough of them are there.
        """
        candidates, members = self.tally.candidates, family.members
        kids: dict[tuple[int, int], list[int]] = {}
        for f in np.flatnonzero(need):
            member = members[f]
            if member.candidate >= 0:
                for parent in set(candidates.parents[member.candidate].tolist()):
                    if parent < candidates.count:
                        kids.setdefault((member.statement, parent), []).append(int(f))
        alone = set(np.flatnonzero(need).tolist())
        plan: dict[int, int] = {}
        for (_, parent), own in sorted(kids.items(), key=lambda item: -len(item[1])):
            live = [f for f in own if f in alone]
            if not live:
                continue
            room = max(1.0, float(candidates.rooms[parent]))
            share = sum(members[f].room for f in live) / room
            if share <= WORTH:
                continue
            least = min(members[f].room for f in live) / room
            rest = max(family.draws_needed(f) for f in live)
            alone -= set(live)
            base = family.base(candidates.box(parent), candidates.mask(parent))
            plan[base] = max(plan.get(base, 0), min(ceil(4 / least), ceil(rest / least)), 1)
        for f in sorted(alone):
            base = family.base(members[f].box, -1 - f)
            plan[base] = max(plan.get(base, 0), min(8, family.draws_needed(f)))
        return plan

    def _draw(
        self, family: Family, plan: dict[int, int], streams: dict[int, Stream]
    ) -> Generator[object, Answers, int]:
        """Draw cells, ask them, and let the family hear the answers in the order of drawing."""
        taken: set[bytes] = set()
        cells: list[NDArray[np.int64]] = []
        bases: list[int] = []
        for base, count in plan.items():
            if base not in streams:
                box = family.bases[base][0]
                streams[base] = Stream.of(
                    self.options.seed, family.number, base, box, self.ground
                )
            for _ in range(count):
                if len(cells) >= self.room:
                    break
                cell = streams[base].draw(self.tally, taken)
                if cell is None:
                    break
                taken.add(cell.tobytes())
                cells.append(cell)
                bases.append(base)
        if not cells:
            return 0
        self._drawing = bases
        asked = yield from self._ask(cells)
        self._heard(family, bases, len(self.tally) - len(bases))
        return asked

    _drawing: Sequence[int] = ()

    def _heard(self, family: Family, bases: Sequence[int], first: int) -> None:
        tally = self.tally
        for k, base in enumerate(bases):
            at = first + k
            self.draws.append((at, family.number, base))
            family.hear(base, tally.cells[at], tally.broken[:, at], tally.unknown[:, at])
        self._drawing = ()

    def _list(self, family: Family) -> None:
        """Keep what a family shows; what it cannot show of a rule stays open."""
        passed, proved = family.listed(), family.proved()
        for f, member in enumerate(family.members):
            if passed[f] and not proved[f]:
                self.tested[member.key] = member, int(family.drawn[f])
            elif not proved[f] and not self._is_dead(member) and self.room:
                self.stuck.add(member.key)

    def _tolerate(self, todo: Sequence[Member]) -> Generator[object, Answers, bool]:
        """Try rules with exceptions, each in the place of several narrower ones; say if any were."""
        members = self._broader(todo)
        if not members:
            return False
        delta = TOLERATING * self.left
        self.left -= delta
        tally, ground = self.tally, self.ground
        inside = [ground.holds(m.box, tally.cells) for m in members]
        family = TolerantFamily(
            *(len(self.families), len(tally), delta, members, ground),
            *(self.options.epsilon, self.options.varies),
            [int(each.sum()) for each in inside],
            [int((e & tally.broken[m.statement]).sum()) for e, m in zip(inside, members)],
        )
        self.families.append(family)
        self._last = family
        streams: dict[int, Stream] = {}
        epsilon = self.options.epsilon
        while self.room:
            need = ~family.lost & (family.shown < family.goal)
            if not need.any():
                break
            plan = {
                family.base(members[f].box, -1 - int(f)): MORE_DOSE * 3 for f in np.flatnonzero(need)
            }
            self._rest = sum(plan.values())
            if not (yield from self._draw(family, plan, streams)):
                break
            many = family.hits > 2 + 0.6 * epsilon * family.drawn
            family.give_up(need & (many | (family.drawn > 8 / epsilon)))
        passed = family.listed()
        for f, member in enumerate(members):
            if passed[f]:
                self.almost[member.key] = member, family
                tally.hide(member.statement, member.candidate)
            else:
                self._intolerable.add(member.key)
        return True

    def _broader(self, todo: Sequence[Member]) -> list[Member]:
        """Return the dead candidates that have several of these right under them, and few exceptions."""
        tally, candidates = self.tally, self.tally.candidates
        kids: dict[tuple[int, int], int] = {}
        for member in todo:
            if member.candidate >= 0:
                for parent in set(candidates.parents[member.candidate].tolist()):
                    if parent < candidates.count:
                        key = member.statement, parent
                        kids[key] = kids.get(key, 0) + 1
        members = []
        for (r, parent), many in kids.items():
            if many < FEWEST or (r, parent) in self._intolerable:
                continue
            box = candidates.box(parent)
            room = self.ground.room(box)
            known = int((self.ground.holds(box, tally.cells) & tally.broken[r]).sum())
            bad = self.options.epsilon * room
            if known < bad / 2 and 4 * many * room >= 100 and self.ground.counted:
                rule = candidates.rule(parent, tally.statements[r])
                members.append(Member(rule, r, box, room, parent, (r, parent)))
        return members

    def _measure(self, todo: Sequence[Member]) -> Generator[object, Answers, None]:
        """Within a budget: draw in turn inside as many rules as it is good for, for a bound each."""
        rest = [m for m in todo if not self._is_whole(m)]
        while self.room and rest:
            rest.sort(key=self._belief)
            family = self._family(rest[: max(3, self.room // A_RULE)], 0.5, bounds=True)
            streams: dict[int, Stream] = {}
            while self.room:
                going = np.flatnonzero(~family.lost & ~family.proved())
                if not len(going):
                    break
                least = int(family.drawn[going].min())
                turn = [int(f) for f in going if family.drawn[f] == least]
                plan = {family.base(family.members[f].box, -1 - f): 1 for f in turn}
                self._rest = self.room
                if not (yield from self._draw(family, plan, streams)):
                    break
            if (~family.lost).any():
                return
            rest = [m for m in self.todo() if not self._is_whole(m)]

    def _belief(self, member: Member) -> float:
        """Return how unlikely it is to have survived, for what is no rule: the less, the better."""
        if member.candidate < 0:
            return 0.0
        return float(self.tally.survival[member.statement, member.candidate])

    # --- what is left ---

    def _is_dead(self, member: Member) -> bool:
        if member.candidate >= 0:
            return bool(self.tally.dead[member.statement, member.candidate])
        inside = self.ground.holds(member.box, self.tally.cells)
        return bool((inside & self.tally.broken[member.statement]).any())

    def _is_whole(self, member: Member) -> bool:
        """Say whether every cell that can break a rule was asked, and its answer is known."""
        if self.options.varies or not self.ground.counted:
            return False
        if member.candidate >= 0 and not self.tally.is_whole(member.candidate):
            return False
        inside = self.ground.holds(member.box, self.tally.cells)
        unknown = self.tally.unknown[member.statement]
        return int(inside.sum()) >= member.room and not bool((inside & unknown).any())

    def survivors(self) -> list[Member]:
        """Return the minimal rules that no answer breaks: all that holds follows from these."""
        broad = [member for member, _ in self.almost.values()]
        values = [v for v in self._values() if not any(_within(v, member) for member in broad)]
        members = []
        for r, statement in enumerate(self.tally.statements):
            for candidate in self.tally.candidates.minimal(self.tally.alive(r)).tolist():
                rule = self.tally.candidates.rule(candidate, statement)
                box = self.tally.candidates.box(candidate)
                room = self.ground.room(box)
                if not self.ground.counted and self.space.background.closure(rule.antecedent) < 0:
                    self.tally.void[candidate] = True
                    continue
                members.append(Member(rule, r, box, room, candidate, (r, candidate)))
        # That a label is always given says more than that no other one is: what claims none is out.
        kept = [
            m
            for m in members
            if not (m.rule.is_negative and any(_within(m, value) for value in values))
        ]
        return [*self._most_general(kept), *values]

    def _most_general(self, members: list[Member]) -> list[Member]:
        """Leave out that a label is never given, where another is always given."""
        statements = self.tally.statements
        if not any(len(s.breaks) > 1 for s in statements):
            return members
        broad = [m for m in members if len(statements[m.statement].breaks) > 1]
        return [
            m
            for m in members
            if len(statements[m.statement].breaks) > 1
            or not any(
                set(statements[m.statement].breaks) < set(statements[b.statement].breaks)
                and _lies_in(m.box, b.box)
                for b in broad
            )
        ]

    def todo(self) -> list[Member]:
        """Return the survivors of which something is still to be shown."""
        return [
            m
            for m in self.survivors()
            if m.key not in self.tested and m.key not in self.stuck and not self._is_whole(m)
        ]

    def _words_of_own(self) -> NDArray[np.int64]:
        """Return for each set of few conditions the variables of its attributes, and the label's."""
        from hornlens.logic.batch import pack

        space, candidates = self.space, self.tally.candidates
        masks = []
        for candidate in range(self.tally.short):
            own = space.label_mask
            for i in candidates.blocks[int(candidates.block_of[candidate])]:
                own |= space.groups[i]
            masks.append(own)
        return pack(masks, space.width)

    def _values(self) -> Iterator[Member]:
        """Yield the rules that conclude a value and that no answer breaks: the most general ones."""
        tally, candidates = self.tally, self.tally.candidates
        short = tally.short
        for r, statement in enumerate(tally.statements):
            if not short or statement.given is None:
                continue
            meet = tally.meet[r]
            dead = tally.dead[r, :short] & ~tally.void[:short]
            extra = np.where(dead[:, None], meet[:short] & ~self._own_words, 0)
            above = candidates.parents[:short].astype(np.int64)
            known = np.where(above < short, above, short)
            padded = np.concatenate([extra, np.zeros((1, extra.shape[1]), dtype=np.int64)])
            extra &= ~np.bitwise_or.reduce(padded[known], axis=1)
            places = np.flatnonzero(extra.any(axis=1))
            for candidate, mask in zip(places.tolist(), unpack(extra[places]), strict=True):
                yield from self._valued(r, candidate, mask, statement.given)

    def _valued(self, r: int, candidate: int, extra: int, given: int) -> Iterator[Member]:
        conditions = self.tally.candidates.mask(candidate)
        closed = self.space.background.closure(conditions | given)
        if closed < 0:
            return
        for i, axis in enumerate(self.ground.axes):
            value = extra & self.space.groups[i]
            if not value & ~closed:
                continue
            value = (closed | value) & self.space.groups[i]
            lacking = np.array([value & ~level != 0 for level in axis.levels])
            box = list(self.tally.candidates.box(candidate))
            box[i] = lacking
            room = self.ground.room(tuple(box))
            if not room:
                continue
            rule = Rule(conditions | given, conditions | given | value)
            yield Member(rule, r, tuple(box), room, -1, (r, candidate, i, value))

    # --- what comes of it ---

    def hear_rest(self, known: Mapping[int, NDArray[np.int8]]) -> None:
        """Take what is known of the last cells, where asking was ended in their midst.

        Of cells that were drawn, those count that come before the first without an answer.
        """
        rows = self._pending
        masks = self.ground.masks(np.array(rows)) if rows else []
        there = [k for k, mask in enumerate(masks) if mask in known]
        if not there:
            return
        first = next((k for k, mask in enumerate(masks) if mask not in known), len(masks))
        self._pending = []
        self._take(np.array([rows[k] for k in there]), np.array([known[masks[k]] for k in there]))
        if self._drawing and self._last is not None:
            self._heard(self._last, self._drawing[:first], len(self.tally) - len(there))

    def proposal(self) -> Proposal:
        """Return the rules that are listed, each with its warrant, and those that are open."""
        sifted = self.sifted()
        return Proposal(statistics=self._statistics(sifted), sifted=sifted)

    def sifted(self) -> Sifted:
        """Return the same, without what a result counts."""
        bounds = self._bounds()
        tested = {**self.tested, **self._passed()}
        listed: list[tuple[Member, Warrant]] = []
        left: list[Member] = []
        for member in self.survivors():
            if self._is_whole(member):
                listed.append((member, PROVED))
            elif member.key in tested:
                warrant = Warrant("tested", tested[member.key][1], self.options.epsilon)
                listed.append((member, warrant))
            elif member.key in bounds:
                listed.append((member, bounds[member.key]))
            else:
                left.append(member)
        listed.sort(key=lambda item: (-item[0].room, item[0].key))
        left.sort(key=lambda member: (-member.room, member.key))
        kept = left[:MOST_OPEN]
        return Sifted(
            tuple((member.rule, warrant) for member, warrant in listed),
            tuple(member.rule for member in kept),
            len(left),
            self._record(kept, len(left)),
            done=not self.todo() if len(self.tally) else False,
        )

    def _passed(self) -> dict[tuple[int, ...], tuple[Member, int]]:
        """Return what the last family shows, where it was ended before its end."""
        family = self._last
        if family is None or family.purpose != "list":
            return {}
        passed = family.listed()
        return {
            member.key: (member, int(family.drawn[f]))
            for f, member in enumerate(family.members)
            if passed[f]
        }

    def _bounds(self) -> dict[tuple[int, ...], Warrant]:
        """Return the members of the last family that have a bound that is worth telling."""
        family = self._last
        if family is None or family.purpose == "almost":
            return {}
        delta = family.delta if family.bounds else self.left
        most = LOOSEST * self.options.epsilon
        found = {}
        for f, member in enumerate(family.members):
            bound = family.bound_of(f, delta)
            if bound is not None and bound <= most:
                found[member.key] = Warrant("tested", int(family.drawn[f]), bound)
        return found

    def _record(self, open_ones: Sequence[Member], count: int) -> SiftRecord:
        options, tally = self.options, self.tally
        each = log((count + 1) / options.delta) / -log1p(-options.epsilon)
        return SiftRecord(
            options.conditions,
            options.epsilon,
            options.delta,
            options.seed,
            tally.possible,
            tally.live,
            tuple(tally.order),
            tuple(Draw(*draw) for draw in self.draws),
            tuple(
                FixedRules(
                    family.at,
                    family.delta,
                    tuple(member.rule for member in family.members),
                    tuple(
                        Base(conditions=mask) if mask >= 0 else Base(-1 - mask)
                        for _, mask in family.bases
                    ),
                    family.purpose,
                )
                for family in self.families
            ),
            self.left,
            options.varies,
            tuple(self.curve),
            tuple(min(ceil(each), member.room) for member in open_ones),
            tuple(self._shown(*item) for item in self.almost.values()),
            options.classes,
        )

    def _shown(self, member: Member, family: TolerantFamily) -> AlmostShown:
        """Return a rule with exceptions, and all of these that are on record."""
        f = family.members.index(member)
        inside = self.ground.holds(member.box, self.tally.cells)
        places = np.flatnonzero(inside & self.tally.broken[member.statement])
        exceptions = tuple(self.tally.order[place] for place in places)
        tested, broken = int(family.drawn[f]), int(family.hits[f])
        return AlmostShown(member.rule, tested, broken, self.options.epsilon, exceptions)

    def _statistics(self, sifted: Sifted) -> dict[str, int]:
        tally = self.tally
        return {
            "equivalence_queries": 0,
            "membership_queries": len(tally) * max(1, len(tally.statements)),
            "questions": len(tally),
            "drawn": len(self.draws),
            "candidates": tally.possible,
            "refuted": tally.possible - tally.live,
        }


def _lies_in(box: Box, other: Box) -> bool:
    """Say whether all cells of a box are in another."""
    for part, wider in zip(box, other, strict=True):
        if wider is not None and (part is None or bool((part & ~wider).any())):
            return False
    return True


def _within(member: Member, other: Member) -> bool:
    """Say whether what can break a rule can break another one as well, with the same statement."""
    return member.statement == other.statement and _lies_in(member.box, other.box)
