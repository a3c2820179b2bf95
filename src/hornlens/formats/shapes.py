"""What the shapes of YAML files have in common: parts without unknown fields, and their texts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True, strict=True)]


class Part(BaseModel):
    """A part of a file: it has the fields that it names, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Worded(Part):
    """A part with a `name` and a `text`: a plain string is both, and the name is the default."""

    @model_validator(mode="before")
    @classmethod
    def _from_string(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"name": data, "text": data}
        if isinstance(data, dict) and "name" in data:
            return {"text": data["name"], **data}
        return data
