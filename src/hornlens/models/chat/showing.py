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
from hornlens.models.chat.reading import REFUSES
from hornlens.models.chat.wording import system_of, user_of

SEED = (
    "The first 31 bits of the SHA-256 of the number of the repeat, the order and the prompt, with "
    "a zero byte between them: another one for each call, and the same in every run."
)
READING = {
    "choose": (
        "The reply’s first token is looked at. An option’s score is the log-probability that this "
        "token is its number or letter; the answer is the option with the highest score. A reply "
        "that is likely to begin with another token names no option."
    ),
    "constrained": (
        "The reply has to be one of the options, as JSON. The answer is the option that it names."
    ),
    "say": (
        "The reply is free text, in which each candidate is looked for. The answer is the "
        "candidate that it names; a reply that names none, or several, leaves no answer."
    ),
    "likelihood": (
        "Each candidate is put in its place, and the log-probabilities of the whole text are added "
        "up. A candidate’s score is its share of these likelihoods; the answer is the candidate "
        "with the highest score."
    ),
}
"""How what comes back becomes an answer, by the method."""
AGREEING = " Where the replies in different orders name different ones, there is no answer."
AVERAGED = {
    "choose": " Scores are averaged over the orders, even where these name different options.",
    "constrained": " Of the replies in different orders, the majority counts.",
    "say": " Of the replies in different orders, the majority counts.",
}
"""What is made of several orders, where they need not agree."""


def _reading_of(asking: Asking, orders: int) -> str:
    """Return how what comes back becomes an answer, with so many orders to a prompt."""
    text = READING[asking.method]
    if asking.method == "likelihood":
        return text
    if orders > 1 and not asking.drawn:
        text += AVERAGED[asking.method] if asking.order == "average" else AGREEING
    return f"{text} The replies are listed with what each was read as."


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
        _reading_of(asking, len(asking.counted_orders(words)) if chats else 0),
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
        refused_by=REFUSES.pattern if method in ("constrained", "say") else "",
        assumed=manner is None,
    )
