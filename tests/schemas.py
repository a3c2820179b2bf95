"""The published schemas as a test: what is written must fit, and have no field they do not name."""

import json
from functools import cache

import fastjsonschema

from hornlens.results.documents.codec import Codec
from tools.schemas import path_of
from tools.schemas.documents import schema_of


def closed(schema):
    """A schema in which every object has the fields that are named, and no others."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    is_object = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    return {"additionalProperties": False, **found} if is_object else found


@cache
def _published(name):
    return fastjsonschema.compile(closed(json.loads(path_of(name).read_text("utf-8"))))


@cache
def _of_codec(codec):
    return fastjsonschema.compile(closed(schema_of(codec)))


def fits(name, content):
    """Fail where JSON contents are not as the published schema of this name says."""
    _published(name)(content)


def written_as_told(codec: Codec, content):
    """The same, of a document that a codec writes."""
    _of_codec(codec)(content)
