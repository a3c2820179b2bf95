"""Seals: whoever has the public key knows that a result is as its owner sealed it."""

import json
import os
import shutil
import stat
import subprocess
from base64 import b64decode, b64encode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

import hornlens
from hornlens.errors import HornlensError, InputError
from hornlens.sealing.dsse import PAYLOAD_TYPE, pae
from hornlens.sealing.keys import PASSPHRASE, new_key, read_private_key, read_public_key
from hornlens.sealing.merkle import inclusion_proof, leaf_of, root_by_proof, root_of
from hornlens.sealing.statements import claims_of, facts_of
from tests.command import hornlens as run
from tests.verifying.sifted_results import as_saved

cryptography = pytest.importorskip("cryptography")


def nurses(prompt, words):
    return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    return (*new_key(folder / "ours"), *new_key(folder / "others"))


@pytest.fixture(scope="module")
def sealed_once(tmp_path_factory, keys):
    folder = tmp_path_factory.mktemp("sealed") / "result"
    hornlens.extract(nurses, cache=False).save(folder)
    hornlens.seal(folder, keys[0])
    return folder


@pytest.fixture
def sealed(sealed_once, tmp_path):
    """A sealed result that a test may change."""
    shutil.copytree(sealed_once, tmp_path / "result")
    return tmp_path / "result"


def statement_in(folder):
    content = json.loads((folder / "seal.json").read_text())
    return json.loads(b64decode(content["payload"]))


# --- what a seal says ---


def test_a_seal_names_every_file_and_what_is_claimed(sealed, keys):
    statement = statement_in(sealed)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    subject = {line["name"]: line["digest"]["sha256"] for line in statement["subject"]}
    files = {path.name: path for path in sealed.iterdir() if path.name != "seal.json"}
    assert subject == {n: sha256(path.read_bytes()).hexdigest() for n, path in files.items()}
    predicate = statement["predicate"]
    content = json.loads((sealed / "envelope.json").read_text())
    assert predicate["digest"] == content["digest"] and predicate["rules"] == len(content["rules"])
    claim = predicate["claims"][0]
    assert (claim["metric"], claim["comparator"], claim["threshold"], claim["sample_size"]) == (
        *("cases that break a listed rule", "==", 0),
        len(content["answers"]),
    )
    assert predicate["verified"]["status"] == "recomputed"
    done = hornlens.verify(sealed, key=keys[1])
    assert done.ok and done.sealed and done.seal["key"].startswith("sha256:")
    assert done.sentence.endswith(f"on {predicate['sealed']}.")


def test_claims_of_samples_have_threshold_sample_size_and_confidence():
    settings = hornlens.Settings("pac", 0.3, 0.1, seed=3)
    content = as_saved(hornlens.extract(nurses, settings=settings, cache=False))
    claims = {claim["metric"]: claim for claim in claims_of(content)}
    joint = content["certificate"]["joint"]
    claim = claims["share of random cases on which the rules err"]
    assert (claim["comparator"], claim["threshold"]) == ("<=", joint["epsilon"])
    assert claim["sample_size"] == joint["samples"] and claim["confidence"] == 0.9
    assert "cases that break a listed rule" not in claims


def test_claims_of_tested_rules_are_no_stronger_than_the_weakest_of_them():
    rule = {"if": [], "then": ["a"]}
    warrants = [{"kind": "tested", "tested": 90, "bound": 0.05}, {"kind": "tested", "tested": 60}]
    warrants[1]["bound"] = 0.07
    content = {
        "certificate": {"weakest": "tested", "sift": {"delta": 0.05}},
        "rules": [{**rule, "warrant": warrant} for warrant in warrants],
    }
    (claim,) = claims_of(content)
    assert claim == {
        "metric": "share of cases that break a listed rule",
        "comparator": "<=",
        "threshold": 0.07,
        "rules": 2,
        "sample_size": 60,
        "confidence": 0.95,
    }


def test_openssl_verifies_the_signature(sealed, keys, tmp_path):
    """A program that shares no code with us, nor with `cryptography`'s Python."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl")
    content = json.loads((sealed / "seal.json").read_text())
    payload, kind = b64decode(content["payload"]), content["payloadType"].encode()
    signed, signature = tmp_path / "signed", tmp_path / "signature"
    signed.write_bytes(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
    signature.write_bytes(b64decode(content["signatures"][0]["sig"]))
    line = [openssl, "pkeyutl", "-verify", "-pubin", "-rawin", "-sigfile", str(signature)]
    for key, code in ((keys[1], 0), (keys[3], 1)):
        done = subprocess.run([*line, "-inkey", str(key), "-in", str(signed)], capture_output=True)
        assert done.returncode == code, done


def test_others_tools_read_a_seal(sealed, keys):
    """Where they are installed; docs/verify.md has the versions that it was tried with."""
    dsse = pytest.importorskip("securesystemslib.dsse")
    from securesystemslib.signer import SSlibKey

    content = json.loads((sealed / "seal.json").read_text())
    name = content["signatures"][0]["keyid"]
    key = SSlibKey.from_crypto(read_public_key(keys[1]), keyid=name)
    assert dsse.Envelope.from_dict(content).verify([key], 1)


# --- the tree ---


def test_the_root_is_that_of_rfc_6962():
    """Worked out level by level here, and not by halves."""
    for count in range(1, 40):
        leaves = [leaf_of({"number": number}) for number in range(count)]
        level = leaves
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [sha256(b"\1" + b"".join(p)).digest() if p[1:] else p[0] for p in pairs]
        assert root_of(leaves) == level[0]


def test_one_answer_can_be_shown_to_be_in_the_root(sealed):
    answers = json.loads((sealed / "envelope.json").read_text())["answers"]
    tree = statement_in(sealed)["predicate"]["answers"]
    leaves = [leaf_of(answer) for answer in answers]
    assert tree == {
        "count": len(answers),
        "merkle_root": {"sha256": root_of(leaves).hex()},
    }
    rng = Random(0)
    for place in (0, len(leaves) - 1, *(rng.randrange(len(leaves)) for _ in range(20))):
        proof = inclusion_proof(leaves, place)
        root = bytes.fromhex(tree["merkle_root"]["sha256"])
        assert root_by_proof(leaves[place], place, len(leaves), proof) == root
        forged = leaf_of({**answers[place], "winner": "nobody"})
        assert root_by_proof(forged, place, len(leaves), proof) != root
        assert root_by_proof(leaves[place], place, len(leaves), proof[:-1]) != root
        assert root_by_proof(leaves[place], place, len(leaves), [*proof, root]) is None


# --- every way in which a seal can fail ---


def change(path, data):
    path.write_bytes(data)


def with_envelope(**changes):
    def apply(folder, keys):
        content = json.loads((folder / "seal.json").read_text())
        content |= {name: value(content[name]) for name, value in changes.items()}
        (folder / "seal.json").write_text(json.dumps(content))

    return apply


def with_statement(edit, sign=True):
    """Change the statement; sign it with the right key, as its owner could."""

    def apply(folder, keys):
        content = json.loads((folder / "seal.json").read_text())
        statement = json.loads(b64decode(content["payload"]))
        edit(statement)
        payload = json.dumps(statement).encode()
        content["payload"] = b64encode(payload).decode()
        if sign:
            signature = read_private_key(keys[0]).sign(pae(payload))
            content["signatures"][0]["sig"] = b64encode(signature).decode()
        (folder / "seal.json").write_text(json.dumps(content))

    return apply


def cut(folder, keys):
    data = (folder / "seal.json").read_bytes()
    change(folder / "seal.json", data[: len(data) // 2])


def cut_inside(text):
    return text[: len(text) // 8 * 4]  # whole groups of base 64


def of_another_type(folder, keys):
    content = json.loads((folder / "seal.json").read_text())
    content["payloadType"] = "application/json"
    signature = read_private_key(keys[0]).sign(pae(b64decode(content["payload"]), "text/plain"))
    content["signatures"][0]["sig"] = b64encode(signature).decode()
    (folder / "seal.json").write_text(json.dumps(content))


FAILURES = {
    "no seal": (
        lambda folder, keys: (folder / "seal.json").unlink(),
        "there is no seal.json: it is not sealed",
    ),
    "by another key": (
        lambda folder, keys: hornlens.seal(folder, keys[2]),
        "is not signed by the key sha256:",
    ),
    "a changed file": (
        lambda folder, keys: change(folder / "rules.csv", b"rule\n"),
        "rules.csv is not the file that was sealed",
    ),
    "a changed document": (
        lambda folder, keys: change(
            folder / "envelope.json", (folder / "envelope.json").read_bytes() + b" "
        ),
        "envelope.json is not the file that was sealed",
    ),
    "a file that is missing": (
        lambda folder, keys: (folder / "scores.csv").unlink(),
        "scores.csv was sealed, and is not there",
    ),
    "a file more": (
        lambda folder, keys: change(folder / "notes.txt", b"more"),
        "notes.txt is there, and was not sealed",
    ),
    "a file more in a folder": (
        lambda folder, keys: ((folder / "more").mkdir(), change(folder / "more" / "a.txt", b"")),
        "more/a.txt is there, and was not sealed",
    ),
    "a changed payload": (
        with_statement(lambda statement: statement["predicate"].update(rules=1), sign=False),
        "it was changed",
    ),
    "another payload type": (
        with_envelope(payloadType=lambda old: "application/json"),
        "its payload is of type 'application/json', not application/vnd.in-toto+json",
    ),
    "signed as another type": (of_another_type, "its payload is of type 'application/json'"),
    "two signatures": (
        with_envelope(signatures=lambda old: [*old, *old]),
        "has 2 signatures; a seal has one",
    ),
    "no signature": (
        with_envelope(signatures=lambda old: []),
        "has 0 signatures; a seal has one",
    ),
    "signatures that are none": (
        with_envelope(signatures=lambda old: "x"),
        "has no list of signatures",
    ),
    "a signature that is no base64": (
        with_envelope(signatures=lambda old: [{**old[0], "sig": "§"}]),
        "its signature is not base64",
    ),
    "a signature that is none": (
        with_envelope(signatures=lambda old: [{**old[0], "sig": b64encode(b"x").decode()}]),
        "it was changed",
    ),
    "a signature without text": (
        with_envelope(signatures=lambda old: [{**old[0], "sig": None}]),
        "its signature is not base64",
    ),
    "a payload that is no base64": (
        with_envelope(payload=lambda old: f"{old[:8]}!{old[8:]}"),
        "its payload is not base64",
    ),
    "a payload that is cut": (
        with_envelope(payload=cut_inside),
        "it was changed",
    ),
    "a file that is cut": (cut, "is not JSON"),
    "an empty file": (lambda folder, keys: change(folder / "seal.json", b""), "is empty"),
    "a file that is something else": (
        lambda folder, keys: change(folder / "seal.json", b"[]"),
        "is no DSSE envelope",
    ),
    "a statement of another kind": (
        with_statement(lambda statement: statement.update(predicateType="urn:other")),
        "its predicate is 'urn:other', not urn:hornlens:result:v1",
    ),
    "no statement": (
        with_statement(lambda statement: statement.update(_type="x")),
        "its payload is no in-toto statement",
    ),
    "a statement without files": (
        with_statement(lambda statement: statement.update(subject=None)),
        "its payload lacks what a statement on a result has",
    ),
    "a file that is sealed twice": (
        with_statement(lambda statement: statement["subject"].append(statement["subject"][0])),
        "its payload lacks what a statement on a result has",
    ),
    "a claim that the document does not make": (
        with_statement(lambda s: s["predicate"]["claims"][0].update(sample_size=10**6)),
        "its field 'claims' is not what the document gives",
    ),
    "another root": (
        with_statement(lambda s: s["predicate"]["answers"]["merkle_root"].update(sha256="00")),
        "its field 'answers' is not what the document gives",
    ),
    "a claim more": (
        with_statement(lambda s: s["predicate"].update(approved=True)),
        "its field 'approved' is not what the document gives",
    ),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_seal_that_does_not_hold_is_wrong_and_says_why(sealed, keys, how):
    apply, message = FAILURES[how]
    apply(sealed, keys)
    done = hornlens.verify(sealed, key=keys[1])
    assert not done.ok and not done.sealed and message in done.wrong, done.wrong
    assert done.wrong.startswith("seal.json: ") and "\n" not in done.wrong
    assert done.status == "wrong" and done.seal is None


def test_a_seal_in_the_other_alphabet_of_base64_holds(sealed, keys):
    path = sealed / "seal.json"
    content = json.loads(path.read_text())
    content["payload"] = urlsafe_b64encode(b64decode(content["payload"])).decode()
    path.write_text(json.dumps(content))
    assert hornlens.verify(sealed, key=keys[1]).sealed


def test_without_a_key_a_seal_is_named_as_not_checked(sealed, keys):
    done = hornlens.verify(sealed)
    assert done.ok and not done.sealed and not done.seal["checked"]
    assert "whose seal seal.json is: --key PUB.pem checks it" in done.not_checked
    (sealed / "rules.csv").write_text("rule\n")  # a seal of other files is wrong all the same
    assert hornlens.verify(sealed).wrong == "seal.json: rules.csv is not the file that was sealed"


def test_what_is_saved_later_is_not_sealed(sealed, keys):
    hornlens.load(sealed).save(sealed)
    assert not (sealed / "seal.json").exists()
    assert hornlens.verify(sealed).seal is None


# --- sealing ---


def test_a_result_that_does_not_verify_is_not_sealed(sealed, keys):
    (sealed / "seal.json").unlink()
    (sealed / "rules.csv").write_text("rule\n")
    with pytest.raises(HornlensError, match=r"does not verify, so it is not sealed: rules\.csv"):
        hornlens.seal(sealed, keys[0])
    assert not (sealed / "seal.json").exists()


def test_a_result_can_be_sealed_again(sealed, keys):
    (sealed / "notes.txt").write_text("more")
    hornlens.seal(sealed, keys[2])
    assert hornlens.verify(sealed, key=keys[3]).sealed
    assert "not signed by" in hornlens.verify(sealed, key=keys[1]).wrong


def test_a_file_that_stands_alone_has_a_seal_of_its_own(tmp_path, keys):
    path = tmp_path / "rules.json"
    source = Path("examples/animals.csv")
    path.write_text(hornlens.envelope(source).export("json"))
    with pytest.raises(InputError, match="--against FILE"):
        hornlens.seal(path, keys[0])
    assert hornlens.seal(path, keys[0], source) == tmp_path / "rules.seal.json"
    (tmp_path / "other.txt").write_text("no part of it")
    assert hornlens.verify(path, source, key=keys[1]).sealed
    content = json.loads((tmp_path / "rules.seal.json").read_text())
    against = json.loads(b64decode(content["payload"]))["predicate"]["against"]
    assert against["digest"]["sha256"] == sha256(source.read_bytes()).hexdigest()


def test_links_to_folders_are_not_sealed(sealed, keys, tmp_path):
    (sealed / "elsewhere").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(InputError, match="is a link to a folder"):
        hornlens.seal(sealed, keys[0])


def test_facts_are_those_of_the_document_alone():
    content = as_saved(hornlens.extract(nurses, cache=False))
    assert facts_of(content) == facts_of(json.loads(json.dumps(content)))
    assert PAYLOAD_TYPE == "application/vnd.in-toto+json"


# --- keys ---


def test_a_new_key_is_readable_by_its_owner_alone_and_never_overwritten(tmp_path):
    done = run("seal", "--new-key", "mine", cwd=tmp_path)
    assert done.returncode == 0 and "PRIVATE" not in done.stdout + done.stderr
    private, public = tmp_path / "mine.pem", tmp_path / "mine.pub.pem"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert private.read_text().startswith("-----BEGIN PRIVATE KEY-----")
    kept = private.read_bytes(), public.read_bytes()
    done = run("seal", "--new-key", "mine", cwd=tmp_path)
    assert done.returncode == 2 and "is there already" in done.stderr
    private.unlink()
    assert run("seal", "--new-key", "mine", cwd=tmp_path).returncode == 2
    assert not private.exists() and public.read_bytes() == kept[1]
    public.unlink()
    os.symlink(tmp_path / "nowhere", private)
    assert run("seal", "--new-key", "mine", cwd=tmp_path).returncode == 2
    assert not public.exists() and not (tmp_path / "nowhere").exists()


def test_a_key_with_a_passphrase_needs_it(tmp_path, monkeypatch):
    monkeypatch.setenv(PASSPHRASE, "straße")
    private, _ = new_key(tmp_path / "mine")
    assert private.read_text().startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert read_private_key(private)
    monkeypatch.setenv(PASSPHRASE, "other")
    with pytest.raises(InputError, match="does not open with the passphrase in HORNLENS_SEAL"):
        read_private_key(private)
    monkeypatch.delenv(PASSPHRASE)
    with pytest.raises(InputError, match="has a passphrase: put it into HORNLENS_SEAL_PASSPHRASE"):
        read_private_key(private)


def test_a_passphrase_does_not_matter_to_a_key_that_has_none(keys, monkeypatch):
    monkeypatch.setenv(PASSPHRASE, "anything")
    assert read_private_key(keys[0])


def test_files_that_are_no_keys_are_rejected_in_a_line(tmp_path, keys):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    other = ec.generate_private_key(ec.SECP256R1())
    pem, spki = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    curve, curve_public, text = (tmp_path / name for name in ("a.pem", "b.pem", "c.pem"))
    none = serialization.NoEncryption()
    curve.write_bytes(other.private_bytes(pem, serialization.PrivateFormat.PKCS8, none))
    curve_public.write_bytes(other.public_key().public_bytes(pem, spki))
    text.write_text("no key")
    for read, path, message in (
        (read_private_key, curve, "is no Ed25519 key"),
        (read_private_key, keys[1], "is a public key: a seal is made with the private one"),
        (read_private_key, text, "is no private key in PEM"),
        (read_private_key, tmp_path / "nothing", "no such file"),
        (read_private_key, tmp_path, "cannot be read"),
        (read_public_key, curve_public, "is no Ed25519 key"),
        (read_public_key, keys[0], "is a private key: a seal is checked with the public one"),
        (read_public_key, text, "is no public key in PEM"),
    ):
        with pytest.raises(InputError) as caught:
            read(path)
        assert message in str(caught.value) and "\n" not in str(caught.value)


def test_without_cryptography_the_extra_is_named(tmp_path):
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from hornlens.cli.main import main\n"
        "sys.argv = ['hornlens', 'seal', '--new-key', 'mine']\n"
        "main()\n"
    )
    import sys

    line = [sys.executable, "-c", code]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "pip install 'hornlens[seal]'" in done.stderr
    assert not list(tmp_path.iterdir())


# --- the commands ---


def test_the_commands_seal_and_check(sealed, keys, tmp_path):
    (sealed / "seal.json").unlink()
    done = run("seal", sealed, "--key", keys[0])
    assert done.returncode == 0 and f"Sealed: {sealed / 'seal.json'}" in done.stdout
    body = "".join(keys[0].read_text().split("\n")[1:-2])
    assert body not in done.stdout + (sealed / "seal.json").read_text()
    for options in (("--seal", "--key", keys[1]), ("--key", keys[1])):
        done = run("verify", sealed, *options)
        assert done.returncode == 0 and ". Sealed by sha256:" in done.stdout.split("\n")[0]
    shown = json.loads(run("verify", sealed, "--key", keys[1], "--format", "json").stdout)
    assert shown["seal"]["checked"] and shown["status"] == "recomputed"
    done = run("verify", sealed, "--key", keys[3])
    assert done.returncode == 1 and "is not signed by the key" in done.stdout
    for arguments, message in (
        (("verify", sealed, "--seal"), "--seal goes with --key PUB.pem"),
        (("verify", sealed, "--key", keys[0]), "is a private key"),
        (("seal",), "give a result and --key KEY.pem"),
        (("seal", sealed), "give a result and --key KEY.pem"),
        (("seal", sealed, "--new-key", "x"), "use it alone"),
        (("seal", tmp_path / "none", "--key", keys[0]), "no such file"),
        (("seal", sealed, "--key", keys[0], "--background", "x"), "goes with --against"),
    ):
        done = run(*arguments)
        assert done.returncode == 2 and message in done.stderr, (arguments, done)
        assert done.stderr.count("\n") == 1
