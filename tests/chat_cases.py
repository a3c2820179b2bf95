"""Results of chat models for pages and files, asked of a server on loopback."""

from hornlens.api import extract
from hornlens.models.protocol import ModelOptions
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from tests.chat_server import PROBE, ChatServer

LOAN = """
hornlens: 1
name: loans
description: Does the first name of an applicant matter?
templates: ["The application of {name}, {a:job}, is {label}."]
attributes:
  - {name: name, values: [Emma, Yusuf, Li], unset: somebody}
  - {name: job, values: [nurse, engineer], unset: person}
label:
  name: decision
  values:
    - {name: granted, word: granted, patterns: ["\\\\bgrant(ed)?\\\\b", "\\\\byes\\\\b"]}
    - {name: refused, word: refused}
elicitation:
  method: say
  system: You decide on loans. Answer in one sentence.
  user: "Is this application granted or refused?\\n\\nSentence: {sentence}"
"""
"""Twelve prompts, in words of their own."""
HOSTILE = (
    '=HYPERLINK("http://example.org") granted',
    "</script><script>window.hacked = 1</script> refused",
    "granted\n\nbecause <b>the\x1b[31m applicant</b>\u202e is known",
)


def loan_reply(sentence):
    """Grants Emma, refuses Yusuf mostly, and says all sorts of things of Li and others."""
    if "Emma" in sentence:
        return "The application is granted."
    if "Yusuf" in sentence:
        return "I cannot decide that." if "nurse" in sentence else "It is refused."
    if "Li" in sentence:
        return HOSTILE[("person" in sentence) + 2 * ("nurse" in sentence)]
    if "nurse" in sentence:
        return ""
    return "It is granted. " + "All that I know speaks for it, and nothing against it. " * 30


def asked(text, elicit="auto", server=None, **options):
    """The result of a probe, asked of a chat server; `options` go to the model."""
    with ChatServer(**(server or {})) as running:
        options = ModelOptions(base_url=running.url, elicit=elicit, **options)
        return extract(open_model("openai/tiny", options), parse_probe(text), cache=False)


def chat():
    """A probe with its own words and patterns; replies of every kind, hostile ones among them."""
    return asked(LOAN, server={"say": loan_reply})


def chat_ways():
    """Log-probabilities, in each order of the options: two ways of asking."""
    return asked(PROBE, "choose", orders="each")


CASES = {case.__name__: case for case in (chat, chat_ways)}
