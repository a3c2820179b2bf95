"""What an endpoint can do with a model, found by trying: that it answers 200 proves nothing.

Servers ignore what they do not know, and some models refuse what all others take. So a method is
tried with a call whose right answer is known, and parameters that are refused are left out.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import replace

from hornlens.models.chat.calls import Call, Response, WrongParameter
from hornlens.models.chat.connection import Connection
from hornlens.models.chat.elicitation import ROOM, TOP
from hornlens.models.chat.endpoints import SPACE
from hornlens.models.chat.reading import CUT_OFF, read_choice
from hornlens.models.chat.transport import Redirected
from hornlens.models.protocol import ModelError

MORE_ROOM = 4096
"""Tokens of a reply of a model that thinks before it answers."""
ROOM_FOR_SPACE = 4
"""Tokens of a reply whose first token is white space, and whose second counts."""
TRIALS = {
    "choose": Call("Reply with the number 2 only.", room=ROOM["choose"], top=TOP, seed=0),
    # Nobody would say so who is not made to.
    "constrained": Call(
        "What is the capital of France?",
        room=ROOM["constrained"],
        choices=("banana", "cucumber"),
        seed=0,
    ),
    "say": Call("Reply with the word yes only.", room=ROOM["say"], seed=0),
    "likelihood": Call("The sky is blue today.", echo=True),
}
LACKS = {
    "choose": "gives no log-probabilities",
    "constrained": "does not keep to a list of choices",
    "say": "says nothing",
    "likelihood": "gives no log-probabilities of a text that it is sent",
}


async def check_name(connection: Connection) -> None:
    """Raise ModelError if the endpoint lists its models, and this is none of them."""
    try:
        names = await connection.pace.call(connection.where, connection.endpoint.models)
    except WrongParameter:
        return
    except Redirected:
        raise
    except ModelError as error:
        if "(401)" in str(error) or "(403)" in str(error):
            raise
        return  # it does not say
    model = connection.model
    if not names or any(_same(name, model) for name in names):
        return
    near = difflib.get_close_matches(model, names, 3, 0.3) or sorted(names)[:3]
    raise ModelError(
        f"{connection.address.shown} has no model {model!r}; "
        f"there are {len(names):,}, such as {', '.join(near)}"
    )


def _same(listed: str, model: str) -> bool:
    """Say whether a listed name is the model's: with a folder before it, or a tag behind it."""
    return model in (listed, listed.rpartition("/")[2], listed.removesuffix(":latest"))


async def works(connection: Connection, method: str) -> bool:
    """Say whether a method can be used, having found out which parameters it takes."""
    if method in connection.tried:
        return True
    try:
        response = await _tried(connection, TRIALS[method])
    except WrongParameter as error:
        if re.search(r"logprob|response_format|json_schema|echo|tool|schema", error.reason, re.I):
            return False
        raise
    except ModelError as error:
        # Not every endpoint has the older way of asking, which scores texts.
        if method == "likelihood" and "(404)" in str(error):
            return False
        raise
    cut = response.reply.finish in CUT_OFF and method in ("constrained", "say")
    if cut and not _right(method, response):
        connection.rooms[method] = MORE_ROOM
        response = await _tried(connection, replace(TRIALS[method], room=MORE_ROOM))
        if not _right(method, response):
            return False
    if method == "choose" and _begins_with_space(response):
        connection.rooms[method] = ROOM_FOR_SPACE
        response = await _tried(connection, replace(TRIALS[method], room=ROOM_FOR_SPACE))
    if not _right(method, response):
        response = await _tried(connection, TRIALS[method])  # once may be an accident
    if not _right(method, response):
        return False
    if not connection.answers_as:
        connection.answers_as = await _who_answers(connection, method, response.model)
    connection.tried.add(method)
    return True


async def _who_answers(connection: Connection, method: str, named: str) -> str:
    """Return what the endpoint calls who answers: another name than was asked for, only if twice.

    Names grow a date or a folder on the way; and some endpoints answer with whatever they have.
    """
    while connection.model not in named:
        again = (await _tried(connection, TRIALS[method])).model
        if again == named:
            break
        named = again
    return named


async def _tried(connection: Connection, call: Call) -> Response:
    """Send a call, each time without what is refused."""
    call = replace(call, temperature=connection.temperature or 0.0)
    while True:
        manner = connection.manner
        try:
            return await connection.ask(call)
        except WrongParameter as error:
            reason = error.reason.lower()
            if "max_tokens" in reason and manner.room == "max_tokens" and "completion" in reason:
                connection.adapt(room="max_completion_tokens")
            elif "temperature" in reason and manner.temperature:
                if connection.temperature is not None:
                    raise ModelError(f"{error}; leave out --temperature") from None
                connection.adapt(temperature=False)
            elif "top_logprobs" in reason and manner.top > 5 and call.top:
                connection.adapt(top=5)
            elif "seed" in reason and manner.seed:
                connection.adapt(seed=False)
            else:
                raise


def _begins_with_space(response: Response) -> bool:
    token = max(response.listed, key=lambda pair: pair[1], default=("none", 0.0))[0]
    return bool(token) and not token.strip(SPACE)


def _right(method: str, response: Response) -> bool:
    values = [value for _, value in response.listed]
    if method == "choose":
        return len(set(values)) > 1 and max(values) <= 1e-6
    if method == "constrained":
        return read_choice(response.reply.text, ("banana", "cucumber")).named >= 0
    if method == "likelihood":
        return len(set(values)) > 1
    return bool(response.reply.text.strip())


async def first_that_works(connection: Connection) -> str:
    """Return the best method that an endpoint can do."""
    for method in ("choose", "constrained", "say"):
        if await works(connection, method):
            return method
    raise ModelError(f"{connection.where}: {LACKS['say']}")
