"""What was sent to an endpoint, for people: the very bodies of its calls, and how replies are read.

Nothing here is asked, loaded or started.
"""

from __future__ import annotations

from collections.abc import Sequence

from hornlens.formats.sent import ReadBy, Sent, SentCall
from hornlens.models.chat.bodies import body_of
from hornlens.models.chat.calls import Call, Manner
from hornlens.models.chat.connection import Connection
from hornlens.models.chat.elicitation import Asking
from hornlens.models.chat.reading import _REFUSES
from hornlens.models.chat.wording import system_of, user_of

SEED = (
    "The first 31 bits of the SHA-256 of the number of the repeat, the order and the prompt, with "
    "a zero byte between them: another one for each call, and the same in every run."
)
READING = {
    "choose": (
        "The reply’s first token is looked at. An option’s score is the log-probability that this "
        "token is its number or letter, on average over the orders; the answer is the option with "
        "the highest score. Where the orders disagree, or another token is likelier, there may be "
        "no answer: the replies are listed with what each was read as."
    ),
    "constrained": (
        "The reply has to be one of the options, as JSON. The answer is the option that the "
        "replies to a prompt name. Where they name different ones, there may be no answer: the "
        "replies are listed with what each was read as."
    ),
    "say": (
        "The reply is free text, in which each candidate is looked for. The answer is the "
        "candidate that it names; a reply that names none, or several, leaves no answer. The "
        "replies are listed with what each was read as."
    ),
    "likelihood": (
        "Each candidate is put in its place, and the log-probabilities of the whole text are added "
        "up. A candidate’s score is its share of these likelihoods; the answer is the candidate "
        "with the highest score."
    ),
}
"""How what comes back becomes an answer, by the method."""


def shown_calls(
    name: str,
    connection: Connection,
    asking: Asking,
    words: Sequence[str],
    prompt: str,
    calls: Sequence[tuple[tuple[int, ...], Call]],
    *,
    manner: Manner | None,
    drawn: bool,
) -> Sent:
    """Return what was sent for a prompt: `calls`, each with the order of the candidates.

    `manner`: which parameters the endpoint took; None: that was not kept, and those of now count.
    """
    dialect, address = connection.shown
    taken = connection.manner if manner is None else manner
    bodies = [(order, body_of(dialect, connection.model, call, taken)) for order, call in calls]
    method, chats = asking.method, asking.method != "likelihood"
    orders = asking.orders(words) if chats else []
    patterns = dict(asking.elicitation.patterns)
    return Sent(
        name,
        prompt,
        tuple(words),
        READING[method],
        tuple(SentCall(body.content, order) for order, body in bodies),
        address=f"{address}{bodies[0][1].path}",
        method=method,
        system=system_of(asking.elicitation) if chats else "",
        template=user_of(method, asking.elicitation) if chats else "",
        orders=tuple(tuple(words[place] for place in order) for order in orders if order),
        drawn=drawn and len(orders) > 1,
        seed=SEED if "seed" in bodies[0][1].content else "",
        read_by=tuple(ReadBy(word, tuple(patterns.get(word, ()))) for word in words)
        if method == "say"
        else (),
        refused_by=_REFUSES.pattern if method in ("constrained", "say") else "",
        assumed=manner is None,
    )
