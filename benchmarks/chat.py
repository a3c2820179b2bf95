"""Chat models over HTTP, against a bare asyncio loop, and llama.cpp against transformers."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.models import probe_prompts
from hornlens.models.chat.wording import SYSTEM
from hornlens.models.protocol import MASK, Model, ModelOptions
from hornlens.models.registry import open_model
from hornlens.models.smollm2 import gguf_file, smollm2
from hornlens.store.opening import open_store
from hornlens.targets.answers import as_kept

WORDS = ("She", "He")
SERVER = """
import asyncio, json, sys
LATENCY = float(sys.argv[1])
REPLY = {"model": "tiny", "usage": {"prompt_tokens": 40, "completion_tokens": 1}, "choices": [
    {"message": {"role": "assistant", "content": "He"}, "finish_reason": "stop"}]}
LIST = {"data": [{"id": "tiny"}]}
async def serve(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\\r\\n\\r\\n")).lower()
            length = [l for l in head.split(b"\\r\\n") if l.startswith(b"content-length:")]
            if length:
                await reader.readexactly(int(length[0].split(b":")[1]))
                await asyncio.sleep(LATENCY)
            data = json.dumps(REPLY if length else LIST).encode()
            writer.write(b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\n"
                         b"content-length: %d\\r\\n\\r\\n%s" % (len(data), data))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def memory(prompts: int, at_once: int) -> dict[str, Any]:
    """Ask a loopback server that is quick; how much is resident is looked at twice.

    Answers go to a cache, as in an extraction, and are not kept otherwise.
    """
    with _served(0.0) as url, tempfile.TemporaryDirectory() as folder:
        model = open_model(
            "openai/tiny", ModelOptions(base_url=url, elicit="say", batch_size=at_once)
        )
        model.check(WORDS)
        asked = [f"{MASK} has number {n}." for n in range(prompts)]
        figures: dict[str, Any] = {}
        start, done = perf_counter(), 0
        with closing(open_store(Path(folder) / "c")) as store:
            for batch in model.score(asked, WORDS):
                rows = [(asked[index], as_kept(answer)) for index, answer in batch]
                store.put("m", "m", rows, WORDS)
                done += len(batch)
                if "mb_after_a_tenth" not in figures and done >= prompts // 10:
                    figures["mb_after_a_tenth"] = _resident()
        assert done == prompts
        figures["mb_after_all"] = _resident()
        figures["prompts_per_second"] = prompts / (perf_counter() - start)
    return figures


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


@contextmanager
def _served(latency: float) -> Iterator[str]:
    """Run the loopback server; its address."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_CACHE_HOME": folder, "OPENAI_API_KEY": "none"}
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(latency)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.kill()
            server.wait()


def throughput(prompts: int, at_once: int, latency: float, turns: int) -> dict[str, Any]:
    """Ask a loopback server that takes its time, and the same with nothing but the SDK."""
    with _served(latency) as url:
        asked = [f"{MASK} has number {n}." for n in range(prompts)]
        options = ModelOptions(base_url=url, elicit="say", batch_size=at_once)
        model = open_model("openai/tiny", options)
        model.check(WORDS)
        _ask(model, asked[: 4 * at_once])  # as many at once as may be, from now on
        asyncio.run(_bare(url, asked[: 4 * at_once], at_once))
        ours, bare = [], []
        for _ in range(turns):
            ours.append(_timed(lambda: _ask(model, asked)))
            bare.append(_timed(lambda: asyncio.run(_bare(url, asked, at_once))))
    return {
        "prompts_per_second": prompts / min(ours),
        "bare_per_second": prompts / min(bare),
        "ratio": min(bare) / min(ours),
    }


def _timed(work: Any) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _ask(model: Model, prompts: list[str]) -> None:
    assert sum(len(batch) for batch in model.score(prompts, WORDS)) == len(prompts)


async def _bare(url: str, prompts: list[str], at_once: int) -> None:
    """Ask with the SDK alone: so many workers, no retries, no budget, no pace."""
    import openai

    client = openai.AsyncOpenAI(
        api_key="none",
        base_url=url,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
    )
    left = iter(prompts)

    async def work() -> None:
        for prompt in left:
            response = await client.chat.completions.with_raw_response.create(
                model="tiny",
                messages=[
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": prompt},
                ],
                max_tokens=64,
                temperature=0.0,
                seed=1,
            )
            json.loads(response.http_response.content)

    await asyncio.gather(*(work() for _ in range(at_once)))
    await client.close()


def gguf(prompts: int) -> dict[str, Any]:
    """Ask SmolLM2 through llama.cpp's server, and the same weights through transformers.

    The two do not do the same: one is asked to choose, in two orders, the other scores sentences.
    """
    asked, words = probe_prompts()
    asked = asked[:: max(len(asked) // prompts, 1)][:prompts]
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        served = open_model(f"gguf/{gguf_file()}", ModelOptions(elicit="choose", threads=1))
        for name, model in (("gguf", served), ("transformers", smollm2(ModelOptions(threads=1)))):
            start = perf_counter()
            model.check(words)
            figures[f"{name}_load_seconds"] = perf_counter() - start
            start = perf_counter()
            assert sum(len(batch) for batch in model.score(asked, words)) == len(asked)
            figures[f"{name}_per_second"] = len(asked) / (perf_counter() - start)
    return figures
