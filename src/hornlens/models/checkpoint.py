"""Checkpoints: find one (a folder or the Hugging Face hub), name its content, load it quietly.

What `hf.py` and `causal.py` share. Whatever goes wrong here is one line for people, never a
traceback of the hub's library. Only safetensors (or GGUF) are read and no remote code is run.

Finding and naming is cheap and imports nothing heavy; a run whose answers are all known does no
more than that.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from hornlens.logging import get_logger
from hornlens.models.privacy import keep_private
from hornlens.models.protocol import ModelError, ModelOptions, Remember

DTYPES = ("float32", "float16", "bfloat16")
HASHED = {".safetensors", ".json", ".txt", ".model"}
"""Suffixes of the files that weights, configuration and tokenizer are read from."""
WORTH_REMEMBERING = 1 << 24
"""Bytes: hashing a larger file takes longer than looking its hash up."""
_log = get_logger(__name__)

HUB_TROUBLE = {
    "GatedRepoError": "is gated on the Hugging Face hub: accept its terms and log in first",
    "RepositoryNotFoundError": "is neither a folder nor a model on the Hugging Face hub",
    "RevisionNotFoundError": "has no such revision on the Hugging Face hub",
    "OfflineModeIsEnabled": "is not in the local cache, and HF_HUB_OFFLINE is set",
    "LocalEntryNotFoundError": "is not in the local cache, and the Hugging Face hub cannot be "
    "reached (or HF_HUB_OFFLINE is set)",
    "EntryNotFoundError": "has no {file} on the Hugging Face hub",
    "HFValidationError": "is no folder, nor can it be a name on the Hugging Face hub",
}
"""The hub library's errors by class name, most special first, and what they mean to people."""


@dataclass(frozen=True)
class Source:
    """Where a checkpoint is loaded from, and what its content is called."""

    place: str
    """A folder, or a name on the hub."""
    content: str
    """The hash of a folder's files, or name and commit on the hub."""
    folder: Path
    """Where its configuration is on this disk."""
    revision: str | None = None
    gguf_file: str | None = None

    def dtype(self, options: ModelOptions) -> str:
        """Return the dtype in which the weights are run: `auto` is float32, on CUDA their own."""
        if options.dtype != "auto":
            if options.dtype not in DTYPES:
                raise ModelError(
                    f"unknown dtype {options.dtype!r}; expected auto, {', '.join(DTYPES)}"
                )
            return options.dtype
        return self._own_dtype() if _on_cuda(options.device) else "float32"

    @property
    def mask(self) -> str:
        """The tokenizer's own mask token, as its files name it; empty: they do not."""
        for name in ("tokenizer_config.json", "special_tokens_map.json"):
            with suppress(OSError, ValueError, AttributeError):
                token = json.loads((self.folder / name).read_bytes()).get("mask_token")
                token = token.get("content") if isinstance(token, dict) else token
                if isinstance(token, str):
                    return token
        return ""

    def _own_dtype(self) -> str:
        with suppress(OSError, ValueError, AttributeError):  # whatever is wrong, loading says it
            config = json.loads((self.folder / "config.json").read_bytes())
            return str(config.get("dtype") or config.get("torch_dtype") or "auto")
        return "auto"


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model with its tokenizer."""

    model: Any
    tokenizer: Any
    dtype: str

    @property
    def longest(self) -> int:
        """How many tokens a text may have."""
        config = self.model.config.get_text_config()
        positions = getattr(config, "max_position_embeddings", None) or sys.maxsize
        # RoBERTa counts positions from behind that of its padding.
        embeddings = getattr(self.model.base_model, "embeddings", None)
        table = getattr(embeddings, "position_embeddings", None)
        padding = getattr(table, "padding_idx", None)
        skipped = 0 if padding is None else padding + 1
        return int(min(positions - skipped, self.tokenizer.model_max_length))


def require(module: str, extra: str = "hf") -> Any:
    """Import an optional dependency that tells nobody, or say how to install it."""
    keep_private()
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = (error.name or module).partition(".")[0]
        raise ModelError(
            f"this model needs the package {missing}: pip install 'hornlens[{extra}]'"
        ) from error


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_anew(path: Path, compute: Callable[[Path], str]) -> str:
    """Remember nothing."""
    return compute(path)


def content_hash(folder: Path, gguf_file: str | None = None, remember: Remember = hash_anew) -> str:
    """Return one SHA-256 over the names and contents of a checkpoint's files."""
    if gguf_file is not None:
        paths = [folder / gguf_file]  # it holds configuration and tokenizer, too
    else:
        paths = sorted(path for path in folder.iterdir() if path.suffix in HASHED)
    whole = hashlib.sha256()
    for path in paths:
        large = path.stat().st_size >= WORTH_REMEMBERING
        digest = remember(path, file_hash) if large else file_hash(path)
        whole.update(f"{path.name}\0{digest}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def locate(
    name_or_path: str,
    revision: str | None,
    gguf_file: str | None = None,
    remember: Remember = hash_anew,
) -> Source:
    """Find a checkpoint and name its content, or raise ModelError.

    A path to a `.gguf` file stands for its folder and that file. On the hub, the revision (a
    branch by default) is resolved to its commit, so that all files come from that one.
    """
    path = Path(name_or_path).expanduser()
    if path.suffix == ".gguf" and path.is_file():
        path, gguf_file = path.parent, path.name
    if path.is_dir():
        if revision is not None:
            raise ModelError(f"{name_or_path}: a folder has no revisions, so no {revision!r}")
        _check_folder(path, gguf_file)
        content = content_hash(path, gguf_file, remember)
        return Source(str(path), content, path, gguf_file=gguf_file)
    if path.is_absolute() or name_or_path.startswith(("./", "../", "~")) or path.exists():
        raise ModelError(f"{name_or_path}: no such folder")
    download = require("huggingface_hub").hf_hub_download  # now: importing it resets its logger
    file = gguf_file or "config.json"
    with quiet(loading=False):
        try:
            cached = Path(download(name_or_path, file, revision=revision))
        except Exception as error:
            raise ModelError(f"{name_or_path}: {_hub_trouble(error, file)}") from error
    # The hub's cache: models--owner--name/snapshots/COMMIT/file
    commit = cached.parts[cached.parts.index("snapshots") + 1]
    return Source(name_or_path, f"hub:{name_or_path}@{commit}", cached.parent, commit, gguf_file)


def _check_folder(folder: Path, gguf_file: str | None) -> None:
    if gguf_file is not None:
        if not (folder / gguf_file).is_file():
            raise ModelError(f"{folder / gguf_file}: no such file")
    elif not (folder / "config.json").is_file():
        raise ModelError(f"{folder}: no config.json there, so it is not a transformers model")
    elif not any(folder.glob("*.safetensors")):
        raise ModelError(f"{folder}: no safetensors file there (other formats can run code)")


def _hub_trouble(error: Exception, file: str) -> str:
    names = [cls.__name__ for cls in type(error).__mro__]
    for name, meaning in HUB_TROUBLE.items():
        if name in names:
            return meaning.format(file=file)
    return f"cannot be had from the Hugging Face hub: {one_line(error)}"


def load(source: Source, auto_class: str, kind: str, options: ModelOptions) -> Checkpoint:
    """Load a checkpoint for inference, or raise ModelError.

    A checkpoint that lacks weights (say, a bare encoder without its head) is refused: they would
    be drawn at random, and so would the answers.
    """
    began = time.perf_counter()
    torch = require("torch")
    transformers = require("transformers")
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    device, dtype = _device(torch, options.device), source.dtype(options)
    where: dict[str, Any] = {"revision": source.revision, "trust_remote_code": False}
    if source.gguf_file:
        require("gguf", "smollm2")
        require("accelerate", "smollm2")
        where["gguf_file"] = source.gguf_file
    with quiet(gguf=bool(source.gguf_file)):
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source.place, **where)
            model, report = getattr(transformers, auto_class).from_pretrained(
                source.place,
                **where,
                dtype=dtype if dtype == "auto" else getattr(torch, dtype),
                use_safetensors=True,
                output_loading_info=True,
            )
            model.to(device).eval()
        except Exception as error:  # these libraries raise whatever comes
            if "Unrecognized configuration class" in str(error):
                raise ModelError(f"{source.place}: not a {kind}") from error
            raise ModelError(f"{source.place}: cannot be loaded: {one_line(error)}") from error
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{source.place}: not a {kind}: its files lack {', '.join(missing[:3])}"
            + (f" and {len(missing) - 3} more weights" if len(missing) > 3 else "")
        )
    dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
    seconds = time.perf_counter() - began
    _log.info("%s: loaded in %.1f s, %s on %s", source.place, seconds, dtype, device)
    return Checkpoint(model, tokenizer, dtype)


def _device(torch: Any, name: str) -> Any:
    if name == "auto":
        if torch.cuda.is_available():
            name = "cuda"
        else:
            name = "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        return torch.device(name)
    except RuntimeError as error:
        raise ModelError(f"unknown device {name!r}; try auto, cpu, cuda or mps") from error


def _on_cuda(device: str) -> bool:
    """Say whether a model would run on CUDA; torch is imported only if it has to be asked."""
    if device != "auto":
        return device.startswith("cuda")
    with suppress(metadata.PackageNotFoundError):
        if sys.platform != "darwin" and not metadata.version("torch").endswith("+cpu"):
            return bool(require("torch").cuda.is_available())
    return False


@contextmanager
def quiet(loading: bool = True, gguf: bool = False) -> Iterator[None]:
    """Keep the libraries' warnings and, but for downloads in a terminal, progress bars away.

    Finding a checkpoint (not `loading`) needs the hub's library alone.
    """
    hub = require("huggingface_hub.utils")
    bars: Any = require("transformers").utils.logging if loading else None
    loggers = [logging.getLogger(name) for name in ("transformers", "huggingface_hub")]
    levels = [logger.level for logger in loggers]
    had_bars = loading and bars.is_progress_bar_enabled()
    had_hub_bars = not hub.are_progress_bars_disabled()
    tqdm = require("tqdm.auto").tqdm
    reader: Any = require("transformers.modeling_gguf_pytorch_utils") if gguf else None
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        if loading:
            bars.disable_progress_bar()  # also the hub's
        if had_hub_bars and sys.stderr.isatty():
            hub.enable_progress_bars()
        else:
            hub.disable_progress_bars()
        if hasattr(reader, "tqdm"):
            reader.tqdm = partial(tqdm, disable=True)  # it has no switch of its own
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        if had_bars:
            bars.enable_progress_bar()
        (hub.enable_progress_bars if had_hub_bars else hub.disable_progress_bars)()
        if hasattr(reader, "tqdm"):
            reader.tqdm = tqdm


def finite(values: Any) -> Any:
    """Return a tensor of log-probabilities in which an infinite one is NaN, and so refused.

    A network gives no word a probability of exactly nothing: somewhere a number ran over.
    """
    return values.masked_fill(~values.isfinite(), float("nan"))


def one_line(error: BaseException) -> str:
    """Return an error's first line that says something, and no more than will be read."""
    lines = (line.strip() for line in str(error).splitlines())
    text = next((line for line in lines if line), type(error).__name__)
    return text if len(text) <= 200 else f"{text[:197]}..."
