"""The two dialects, through their makers' own libraries, whose retries are off: ours see all."""

from __future__ import annotations

import importlib
import json
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from hornlens.formats.replies import Reply
from hornlens.models.chat.address import Address
from hornlens.models.chat.bodies import body_of
from hornlens.models.chat.calls import Call, Manner, Passing, Response, WrongParameter
from hornlens.models.chat.transport import UnfitReply, http_client, redirected
from hornlens.models.protocol import ModelError

BUSY = {429, 503, 529}
"""Too much is asked at once, or the model is being loaded."""

MOST_TOKENS = 2**31
"""No call takes so many tokens, whatever an endpoint says."""

SPACE = " \t\r\n▁ĠĊ"
"""White space, also as vocabularies write it."""


def library(name: str, extra: str) -> Any:
    """Import a maker's library, or say in a line how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ModelError(f"this needs {name}: pip install 'hornlens[{extra}]'") from None


def _key(address: Address) -> str:
    if address.wants and not address.key:
        raise ModelError(f"{address.shown} wants a key: set {address.wants} in the environment")
    return address.key or "none"


def _settings(sdk: Any, address: Address, timeout: float) -> dict[str, Any]:
    """Return what either maker's client is made with: no retries but ours, and our own rules."""
    return {
        "api_key": _key(address),
        "base_url": address.base_url,
        "max_retries": 0,
        "timeout": timeout,
        "http_client": http_client(sdk, address, timeout),
    }


class OpenAIEndpoint:
    """A model of an endpoint that speaks OpenAI's dialect."""

    def __init__(self, address: Address, model: str, timeout: float):
        """Make the client; nothing is sent yet."""
        sdk = library("openai", "api")
        self.address, self.model = address, model
        self._client = sdk.AsyncOpenAI(**_settings(sdk, address, timeout))

    async def ask(self, call: Call, manner: Manner) -> Response:
        """Send a call, and read what comes back."""
        path, content = body_of("openai", self.model, call, manner)
        return _read(_echoed if call.echo else _completed, await self._sent(path, content), call)

    async def models(self) -> list[str]:
        """Return the names that the endpoint lists."""
        return _names(await self._sent("/models"))

    async def _sent(self, path: str, given: Any = None) -> Any:
        return await _sent(self._client, self.address, self.model, path, given)


class AnthropicEndpoint:
    """A model of an endpoint that speaks Anthropic's dialect. It gives no log-probabilities."""

    def __init__(self, address: Address, model: str, timeout: float):
        """Make the client; nothing is sent yet."""
        sdk = library("anthropic", "anthropic")
        self.address, self.model = address, model
        self._client = sdk.AsyncAnthropic(**_settings(sdk, address, timeout))

    async def ask(self, call: Call, manner: Manner) -> Response:
        """Send a call, and read what comes back."""
        if call.top or call.echo:
            reason = "logprobs: not part of this dialect"
            raise WrongParameter(f"{self.model}: this endpoint gives no log-probabilities", reason)
        path, content = body_of("anthropic", self.model, call, manner)
        return _read(_messaged, await self._sent(path, content), call)

    async def models(self) -> list[str]:
        """Return the names that the endpoint lists."""
        return _names(await self._sent("/v1/models?limit=1000"))

    async def _sent(self, path: str, given: Any = None) -> Any:
        return await _sent(self._client, self.address, self.model, path, given)


async def _sent(client: Any, address: Address, model: str, path: str, given: Any) -> Any:
    """Send, and return what came back as JSON; all that goes wrong is one of ours.

    By the libraries' plain `post` and `get`: their methods for each path first hold what is sent
    against its types, at every call, which is a fifth of all the time that a call takes here.
    """
    try:
        if given is None:
            content = await client.get(path, cast_to=object)
        else:
            content = await client.post(path, body=given, cast_to=object)
        return address.cleared(content)
    except (ValueError, UnicodeDecodeError, RecursionError):
        raise Passing("what came back is no JSON", paid=True) from None
    except Exception as error:  # the two libraries have the same errors, each its own
        raise _trouble(address, model, error) from None


def _trouble(address: Address, model: str, error: Exception) -> Exception:
    """Return what an error of the libraries means to us; without their words where keys may be."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    status = getattr(error, "status_code", None)
    where = f"{model} at {address.shown}"
    for refusal in (error, error.__cause__):
        if isinstance(refusal, UnfitReply):
            return UnfitReply(f"{where}: {refusal}")
    if status is None:
        if "APITimeoutError" in kinds:
            return Passing("no answer in time", paid=True)
        if "APIConnectionError" in kinds:
            cause = address.redacted(str(error.__cause__ or error))
            return Passing(f"the connection failed ({cause})", paid=True)
        reason = address.redacted(f"{type(error).__name__}: {error}")
        return ModelError(f"{where}: the call failed: {reason}")
    if 300 <= status < 400:
        return redirected(where, address, _headers(error).get("location", ""))
    reason = address.redacted(_message(error))
    if status in BUSY:
        if "insufficient_quota" in _message(error) or "billing" in reason.lower():
            return ModelError(f"{where}: the account's quota is used up: {reason}")
        return Passing(f"{status}: {reason}", busy=True, wait=_wait(error))
    if status == 401:
        return ModelError(f"{where}: the key is not accepted (401): check the environment variable")
    if status == 403:
        return ModelError(f"{where}: access is denied (403): {reason}")
    if status == 404:
        return ModelError(f"{where}: there is no such model or address (404): {reason}")
    if status in (408, 409, 425) or status >= 500:
        return Passing(f"{status}: {reason}", wait=_wait(error), paid=status >= 500)
    return WrongParameter(f"{where}: the call is refused ({status}): {reason}", reason)


def _message(error: Any) -> str:
    body = error.body
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(inner, Mapping):
        parts = (inner.get(part) for part in ("code", "param", "message"))
        return ": ".join(str(part) for part in parts if part and part != error.status_code)
    return str(inner or error.message)


def _headers(error: Any) -> Mapping[str, str]:
    headers: Mapping[str, str] = error.response.headers
    return headers


def _wait(error: Any) -> float | None:
    """Return the seconds that an endpoint wants to be left alone for."""
    headers = _headers(error)
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):  # not there, or a date
            if math.isfinite(seconds := float(headers[name]) / unit):
                return max(seconds, 0.0)
    with suppress(KeyError, ValueError, TypeError):
        until = parsedate_to_datetime(headers["retry-after"])
        return max(until.timestamp() - time.time(), 0.0)
    return None


def _read(read: Any, content: Any, call: Call) -> Response:
    """Read a reply; one of another shape is no reply."""
    try:
        response: Response = read(content, call)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        raise Passing("what came back is no reply", paid=True) from None
    return response


def _completed(content: Any, call: Call) -> Response:
    choice = content["choices"][0]
    message = choice["message"]
    first: tuple[tuple[str, float], ...] = ()
    if call.top:
        places = (choice.get("logprobs") or {}).get("content") or [{}]
        # White space before the reply is none of it, where there is room for what follows.
        place = next((p for p in places if str(p.get("token", "")).strip(SPACE)), places[0])
        listed = place.get("top_logprobs")
        first = tuple((str(each["token"]), float(each["logprob"])) for each in listed or ())
    refusal = message.get("refusal")
    finish = str(choice.get("finish_reason") or "")
    reply = Reply(
        _text(refusal or message.get("content")),
        finish=finish,
        refused=bool(refusal) or finish == "content_filter",
        tokens=_tokens(content, "prompt_tokens", "completion_tokens"),
        fingerprint=_fingerprint(content),
        created=_created(content),
    )
    return Response(reply, first, _model(content), _id(content))


def _echoed(content: Any, call: Call) -> Response:
    choice = content["choices"][0]
    scored = choice.get("logprobs") or {}
    tokens = [str(token) for token in scored.get("tokens") or ()]
    values = list(scored.get("token_logprobs") or ())
    if tokens and values[0] is None and not call.user.startswith(tokens[0]):
        tokens, values = tokens[1:], values[1:]  # what stands before every text
    logprobs: list[tuple[str, float]] = []
    text = ""
    for token, value in zip(tokens, values, strict=True):
        if text == call.user:
            break
        text += token
        if value is not None:
            logprobs.append((token, float(value)))
    # An endpoint that ignores `echo` gives the tokens of its own continuation.
    reply = Reply(
        _text(choice.get("text")),
        finish=str(choice.get("finish_reason") or ""),
        tokens=_tokens(content, "prompt_tokens", "completion_tokens"),
        fingerprint=_fingerprint(content),
        created=_created(content),
    )
    return Response(reply, tuple(logprobs) if text == call.user else (), _model(content))


def _messaged(content: Any, call: Call) -> Response:
    blocks, finish = content["content"], str(content.get("stop_reason") or "")
    used = [block["input"] for block in blocks if block["type"] == "tool_use"]
    text = "".join(_text(block["text"]) for block in blocks if block["type"] == "text")
    if not blocks and finish != "refusal":
        raise ValueError("no content")
    reply = Reply(
        json.dumps(used[0], ensure_ascii=False) if call.choices and used else text,
        finish=finish,
        refused=finish == "refusal",
        tokens=_tokens(content, "input_tokens", "output_tokens"),
        fingerprint=_model(content),
    )
    return Response(reply, model=_model(content), id=_id(content))


def _model(content: Any) -> str:
    return str(content.get("model") or "")


def _fingerprint(content: Any) -> str:
    parts = (_model(content), str(content.get("system_fingerprint") or ""))
    return " ".join(part for part in parts if part)


def _id(content: Any) -> str:
    return str(content.get("id") or "")


def _created(content: Any) -> int:
    """Return when a reply was made, in seconds since 1970; 0 if that is not said in numbers."""
    created = content.get("created")
    return int(created) if isinstance(created, int | float) and 0 < created < 2**40 else 0


def _tokens(content: Any, question: str, reply: str) -> tuple[int, int]:
    """Return how many tokens a call took; 0: that is not said in a number that can be true."""
    usage = content.get("usage")
    if not isinstance(usage, Mapping):
        return 0, 0
    return _count(usage.get(question)), _count(usage.get(reply))


def _count(value: Any) -> int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 < value < MOST_TOKENS and value == int(value) else 0


def _text(value: Any) -> str:
    """Return a text, perhaps an empty one; raise TypeError for anything else."""
    if value is not None and not isinstance(value, str):
        raise TypeError("no text")
    return value or ""


def _names(content: Any) -> list[str]:
    listed = content.get("data") if isinstance(content, Mapping) else None
    return [str(each["id"]) for each in listed or () if isinstance(each, Mapping) and "id" in each]
