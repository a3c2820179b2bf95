"""Answers through the cache: each distinct prompt is asked once, and written down before use.

Also where several processes ask at once: each waits for what another is asking, and all use what
was written down first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from hornlens.errors import HornlensError
from hornlens.formats.replies import Reply
from hornlens.formats.sent import Sent
from hornlens.logging import get_logger
from hornlens.models.chat.judge import ELICITATION, NONE, judged, questions_about
from hornlens.models.checks import check_answer, with_whole_characters
from hornlens.models.protocol import (
    GO_ON,
    NOT_KEPT,
    TOGETHER,
    Answer,
    Batched,
    CallsAhead,
    Elicits,
    HashesFiles,
    HasJudge,
    Model,
    ModelError,
    OtherModel,
    Rests,
    Samples,
    ServedByOthers,
)
from hornlens.models.registry import open_model
from hornlens.store.protocol import LeasingStore, Scores, SharedStore

if TYPE_CHECKING:
    from hornlens.store.protocol import AnswerStore

_log = get_logger(__name__)
_PAUSES = (0.02, 0.05, 0.1, 0.25, 0.5)
"""Seconds to wait before one looks again whether another process has answered; then the last."""
_REST = 8
"""After so many of them, the other may be waiting for the room that our model takes."""
REPLIES = "said"
"""What a store calls replies since version 0.2, which reads them there."""
MADE = "made"
"""When each of them was made, and whether it is a copy: version 0.2 does not look there."""


@dataclass
class Answers:
    """A model's answers to prompts with fixed candidates, from memory, cache or the model.

    `asked` counts what the model itself was asked in this run, `reused` what the cache knew.
    """

    model: Model
    candidates: tuple[str, ...]
    cache: AnswerStore | None = None
    repeat: int = 0
    known: dict[str, Answer] = field(default_factory=dict)
    asked: int = 0
    reused: int = 0
    _identity: str | None = None
    _checked: bool = False
    _prepared: bool = False
    _speaker: str = ""
    """The name under which the endpoint says that its model has answered."""
    _judged: set[str] = field(default_factory=set)
    """The prompts whose replies the judge has seen, if there is one."""

    def prepare(self) -> None:
        """Find the model, and load it unless it has answered these candidates before.

        So what is wrong with it, or with a candidate, is said before anything is asked; a run
        whose answers are all known loads nothing.
        """
        if self._prepared:
            return
        self._share_hashes()
        with self._model_at_work():
            self._identity = self.model.identity()
        if self._identity is None:
            self.cache = None
        known = (self._known_by, *self._others) if self.cache is not None else ()
        if self.cache is None or not any(self.cache.knows(k, self.candidates) for k in known):
            self._check()
        self._prepared = True
        if self._judge is not None:
            self._judge.prepare()

    @cached_property
    def _judge(self) -> Answers | None:
        """The answers of the model that reads the replies of this one, if there is one."""
        judge = self.model.judge() if isinstance(self.model, HasJudge) else None
        model = None if judge is None else open_model(*judge)
        if not isinstance(model, Elicits):
            return None
        return Answers(model.asked_with(ELICITATION), (*self.candidates, NONE), self.cache)

    def _put_to_judge(self, prompts: Iterable[str]) -> None:
        """Have replies that name no candidate for sure read by the judge."""
        if self._judge is None:
            return
        unread = [p for p in dict.fromkeys(prompts) if p not in self._judged]
        questions = questions_about(self.known, unread)
        verdicts = dict(zip(questions, self._judge.ask(questions), strict=True))
        for prompt in unread:
            answer, name = self.known[prompt], self._judge.model.name
            self.known[prompt] = judged(answer, prompt, self.candidates, verdicts, name)
        self._judged.update(unread)

    def _share_hashes(self) -> None:
        """Let the model take the hashes of its files from the store, before it needs any."""
        if self.cache is not None and isinstance(self.model, HashesFiles):
            self.model.remember = self.cache.hash_of

    def _check(self) -> None:
        if not self._checked:
            with self._model_at_work():
                self.model.check(self.candidates)
            self._checked = True

    def trust(self, identity: str) -> None:
        """Take the model as found and loaded before, by somebody who knows its identity."""
        self._identity, self._checked, self._prepared = identity, True, True

    def once_more(self, repeat: int) -> Answers:
        """Return the same questions, to be asked again: their answers are kept as a repetition."""
        again = Answers(self.model, self.candidates, self.cache, repeat)
        again._identity, again._speaker = self._identity, self._speaker
        again._checked, again._prepared = self._checked, True
        return again

    @property
    def identity(self) -> str | None:
        """The model's identity; None: its answers are not kept."""
        self.prepare()
        return self._identity

    @property
    def _known_by(self) -> str:
        """The identity under which answers are kept: only asked for where they are."""
        assert self._identity is not None
        return self._identity

    @property
    def _others(self) -> Sequence[str]:
        """The identities of others whose answers hold this one's."""
        return self.model.served_by() if isinstance(self.model, ServedByOthers) else ()

    def ask(
        self, prompts: Iterable[str], progress: Callable[[int], None] | None = None
    ) -> list[Answer]:
        """Return the answer to each prompt, in order; `progress` is told how many are new."""
        wanted = list(prompts)
        self.prepare()
        missing = [p for p in dict.fromkeys(wanted) if p not in self.known]
        waited = 0
        while missing:
            missing = self.look_up(missing, progress)
            mine = self.claim(missing)
            if mine:
                try:
                    self._ask_the_model(mine, progress)
                finally:
                    self.release()
                missing = [p for p in missing if p not in self.known]
            elif missing:
                time.sleep(_PAUSES[min(waited, len(_PAUSES) - 1)])
                waited += 1
                if waited == _REST and isinstance(self.model, Rests):
                    self.model.rest()
        self._put_to_judge(wanted)
        return [self.known[p] for p in wanted]

    def look_up(
        self, prompts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> list[str]:
        """Take what the store knows; return the prompts that it does not."""
        if self.cache is None:
            return list(prompts)
        answers = self.cache.get(self._known_by, prompts, self.candidates, self.repeat)
        for other in self._others:
            if missing := [prompt for prompt in prompts if prompt not in answers]:
                theirs = self.cache.get(other, missing, self.candidates, self.repeat)
                answers |= {p: kept for p, kept in theirs.items() if from_kept(kept).replies}
        read = {prompt: self._read(prompt, kept) for prompt, kept in answers.items()}
        self._check_speakers(read.values())
        self.known.update(read)
        self.reused += len(read)
        if progress is not None and read:
            progress(len(read))
        return [p for p in prompts if p not in self.known]

    def claim(self, prompts: Sequence[str]) -> Sequence[str]:
        """Return the prompts that are for this process to ask: all, unless the store is shared.

        What was claimed before is given up, but for what is among them.
        """
        if not prompts or not isinstance(self.cache, SharedStore):
            return prompts
        return self.cache.claim(self._known_by, prompts, self.candidates, self.repeat)

    def still_claimed(self) -> bool:
        """Say whether what was claimed is still for this process to ask.

        It may have been stopped meanwhile, and another one may have taken the claim over.
        """
        if not isinstance(self.cache, LeasingStore):
            return True
        return self.cache.renew(self._known_by, self.candidates, self.repeat)

    def release(self) -> None:
        """Give up what was claimed."""
        if isinstance(self.cache, SharedStore):
            self.cache.release(self._known_by, self.candidates, self.repeat)

    def _ask_the_model(
        self, prompts: Sequence[str], progress: Callable[[int], None] | None
    ) -> None:
        self._check()
        most = TOGETHER if isinstance(self.model, Batched) else max(1, len(prompts))
        for start in range(0, len(prompts), most):
            if not self._ask_at_once(prompts[start : start + most], progress):
                return

    def _ask_at_once(self, prompts: Sequence[str], progress: Callable[[int], None] | None) -> bool:
        """Ask the model; return False if the claim was lost, before all of them were asked."""
        lost = False

        def may_call() -> bool:
            nonlocal lost
            lost = lost or not self.still_claimed()
            return not lost

        ahead = isinstance(self.model, CallsAhead)
        if isinstance(self.model, CallsAhead):
            self.model.may_call = may_call
        with self._model_at_work():
            batches = iter(self.model.score(prompts, self.candidates))
        while ahead or may_call():
            with self._model_at_work():
                batch = next(batches, None)
            if batch is None:
                break
            self.take({prompts[i]: answer for i, answer in batch})
            if progress is not None:
                progress(len(batch))
        if lost:
            _log.info("%s: another process has taken over what was to be asked", self.model.name)
            return False
        if left_out := [prompt for prompt in prompts if prompt not in self.known]:
            raise ModelError(f"model {self.model.name} gave no answer to {left_out[0]!r}")
        return True

    def take(self, answers: dict[str, Answer]) -> None:
        """Take what the model has just said: it is looked at, and written down before it is known.

        Raises ModelError if an answer is none.
        """
        for prompt, answer in answers.items():
            check_answer(answer, prompt, self.candidates, self.model.name)
        answers = {prompt: with_whole_characters(answer) for prompt, answer in answers.items()}
        self._check_speakers(answers.values())
        self.known.update(self._recorded(answers))
        self.asked += len(answers)

    def _check_speakers(self, answers: Iterable[Answer]) -> None:
        """Refuse answers of another model than those before, by the names that replies have."""
        for answer in answers:
            for reply in answer.replies:
                if not reply.model:
                    continue
                self._speaker = self._speaker or reply.model
                if reply.model != self._speaker:
                    raise two_models(self.model.name, [self._speaker, reply.model])

    def _recorded(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        """Write answers down; return those that count, which others may have written before."""
        if self.cache is None:
            return {prompt: self._reread(prompt, answer) for prompt, answer in answers.items()}
        question = (self.candidates, self.repeat)
        kept = [(prompt, as_kept(answer)) for prompt, answer in answers.items()]
        self.cache.put(self._known_by, self.model.name, kept, *question)
        found = self.cache.get(self._known_by, list(answers), *question)
        return {
            prompt: self._read(prompt, found[prompt])
            if prompt in found
            else self._reread(prompt, answer)
            for prompt, answer in answers.items()
        }

    def _read(self, prompt: str, kept: Scores) -> Answer:
        """Return a kept answer; of a model whose replies are read, as they are read now."""
        return self._reread(prompt, from_kept(Scores(*kept)))

    def _reread(self, prompt: str, answer: Answer) -> Answer:
        """Return an answer with those of its replies that count, as they are read now."""
        if isinstance(self.model, Elicits):
            answer = self.model.reread(answer, self.candidates, prompt)
        return self._counted(answer)

    def _counted(self, answer: Answer) -> Answer:
        """Return an answer as it counts: one of a model that samples is what it names.

        Some have scores all the same: those of functions, and those that version 0.2 made up.
        """
        return answer.as_choice() if self.sampled else answer

    @cached_property
    def sampled(self) -> bool:
        """Whether answers have no log-probabilities, as the model is asked."""
        self._share_hashes()
        with self._model_at_work():
            return isinstance(self.model, Samples) and self.model.sampled

    def sent(self, prompt: str) -> Sent | None:
        """Return what was sent for a prompt; None if the model cannot say, or was not asked."""
        show: Callable[..., Sent] | None = getattr(self.model, "sent", None)
        if prompt not in self.known or show is None:
            return None
        with self._model_at_work():
            return show(prompt, self.candidates, self.known[prompt])

    @contextmanager
    def _model_at_work(self) -> Iterator[None]:
        """Turn whatever kills the model into one clear error."""
        try:
            yield
        except ModelError as error:
            if self.cache is None:
                error.promise_nothing()
            raise
        except HornlensError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or "no reason given"
            kept = NOT_KEPT if self.cache is None else GO_ON
            raise ModelError(
                f"model {self.model.name} failed: {type(error).__name__}: {reason[:300]}{kept}"
            ) from error


def two_models(name: str, speakers: Sequence[str]) -> OtherModel:
    """Return the error that several models have answered in the name of one."""
    return OtherModel(
        f"{name}: some answers are by {' and some by '.join(speakers)}: a result of two models "
        "says nothing about either; to ask the one that answers now, start with an empty cache "
        f"(--cache FILE), or remove what is kept (hornlens cache prune --model {name})"
    )


def as_kept(answer: Answer) -> Scores:
    """Return an answer as a store keeps it; what a model does not say is not written down."""
    made = [[reply.created, int(reply.copied)] for reply in answer.replies]
    details = {
        "first": answer.first,
        **({} if answer.share is None else {"share": answer.share}),
        **({"unknown": answer.unknown} if answer.unknown else {}),
        **({"outcome": answer.outcome} if answer.outcome else {}),
        **({"named": answer.named} if answer.named is not None else {}),
        **({"manner": answer.manner} if answer.manner else {}),
        **({REPLIES: [reply.as_row() for reply in answer.replies]} if answer.replies else {}),
        **({MADE: made} if any(map(any, made)) else {}),
    }
    more = answer.first or len(details) > 1
    text = json.dumps(details, ensure_ascii=False) if more else None
    return Scores(answer.scores, answer.ranks, text)


def from_kept(kept: Scores) -> Answer:
    """Return the answer that a store kept, perhaps without details."""
    details = json.loads(kept.details or "{}")
    first = tuple((word, share) for word, share in details.get("first", ()))
    unknown = tuple(details.get("unknown", ()))
    replies = [Reply.read(row) for row in details.get(REPLIES, ())]
    if made := details.get(MADE):
        pairs = zip(replies, made, strict=True)
        replies = [replace(reply, created=at, copied=bool(copy)) for reply, (at, copy) in pairs]
    return Answer(
        kept.scores,
        kept.ranks,
        first,
        details.get("share"),
        unknown,
        details.get("outcome", ""),
        tuple(replies),
        details.get("named"),
        details.get("manner", ""),
    )
