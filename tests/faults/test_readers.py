"""Every reader on thousands of generated files: a value or one clear error, within limits.

2 GB and 20 seconds of CPU for any file under a megabyte (`reading.py` has the limits set by the
system); what the files are is in `inputs.py`.
"""

import os
from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.faults import small
from tests.faults.inputs import inputs
from tests.faults.reading import READERS, Reader
from tests.faults.rounds import rounds


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a valid file of every kind."""
    folder = tmp_path_factory.mktemp("files")
    small.write_all(folder)
    small.dataset(folder / "people")
    small.people_model(folder / "people.csv")
    run = [
        ["extract", "probe.yaml", "--model", "table/scores.csv", "--out", "out"],
        ["extract", "probe.yaml", "--model", "table/other.csv", "--out", "other"],
        ["compare", "out", "other", "--out", "compared"],
        ["study", "study.yaml", "--out", "studied"],
        ["bias", "./people", "--model", "table/people.csv", "--out", "scored"],
    ]
    from hornlens.cli.app import app

    before = Path.cwd()
    cache = os.environ.get("HORNLENS_CACHE")
    os.environ["HORNLENS_CACHE"] = str(folder / "answers.sqlite")
    os.chdir(folder)
    try:
        for arguments in run:
            app([*arguments], standalone_mode=False)
    finally:
        os.chdir(before)
        os.environ.pop("HORNLENS_CACHE")
        if cache is not None:
            os.environ["HORNLENS_CACHE"] = cache
    return folder


@pytest.fixture(scope="module")
def reader():
    reader = Reader()
    yield reader
    reader.close()


@pytest.mark.parametrize("kind", READERS)
def test_a_generated_file_is_a_value_or_one_clear_error(files, reader, kind):
    name, readers = READERS[kind]
    path = files / name
    valid = path.read_text(encoding="utf-8")
    for number in range(len(readers)):
        # The file itself is read: so what is near to it is near to something that works.
        assert reader.read(kind, number, path) == ("value", "")
    ended = Counter()

    @seed(13)
    @settings(
        max_examples=rounds(25, 1_200),
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs(kind, path, valid))
    def attack(text):
        path.write_text(text[:1_000_000], encoding="utf-8", errors="surrogatepass")
        number = crc32(text.encode("utf-8", "surrogatepass")) % len(readers)
        how, said = reader.read(kind, number, path)
        ended[how] += 1
        assert how in ("value", "told"), f"{kind}, {readers[number].__name__}: {how} {said}"
        assert len(said) < 20_000

    try:
        attack()
    finally:
        path.write_text(valid, encoding="utf-8")
    # Behind the parser there is more than before it.
    assert ended["told"] and ended["value"] > 0.05 * ended.total(), ended
