"""report.html: one self-contained page, everything from probes and models escaped."""

from __future__ import annotations

from html import escape

from hornlens import __version__
from hornlens.report.terminal import certificate_in_words, plural, show_set
from hornlens.study.evidence import in_words
from hornlens.study.extraction import Extraction

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8886; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; }
.scroll { overflow-x: auto; }
footer { overflow-wrap: anywhere; color: GrayText; }
"""


def page(extraction: Extraction) -> str:
    """Return the page of an extraction."""
    probe, envelope = extraction.probe, extraction.envelope
    title = f"{extraction.model} on {probe.name}"
    rows = []
    for evidence in extraction.strongest_first():
        closest = evidence.closest
        prompts = "".join(
            f"<li>{escape(' / '.join(probe.render(e.cell)))} "
            f"<small>({_scores(extraction, e.decision.scores)})</small></li>"
            for e in evidence.exhibits[:200]
        )
        if evidence.prompts > 200:
            prompts += f"<li>and {evidence.prompts - 200} more, in envelope.json</li>"
        mean = "" if evidence.mean_margin is None else f"{evidence.mean_margin:.2f}"
        least = "" if closest is None or closest.margin is None else f"{closest.margin:.2f}"
        rows.append(
            f"<tr><td><details><summary>{escape(in_words(evidence.rule, probe))}</summary>"
            f"<ul>{prompts}</ul></details></td>"
            f"<td>{escape(evidence.rule.show(probe.vocabulary))}</td>"
            f'<td class="n">{evidence.support}</td><td class="n">{evidence.prompts}</td>'
            f'<td class="n">{mean}</td><td class="n">{least}</td></tr>'
        )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
<p>{escape(probe.description)}</p>
<p><strong>{plural(len(envelope.basis), "rule")}; {escape(certificate_in_words(envelope))}.</strong>
Calibration: {escape(extraction.policy.calibration)}. Label unset:
{escape(extraction.policy.label_unset)}. {escape(_abstained(extraction))}</p>
<div class="scroll"><table>
<thead><tr><th>finding (open it for the prompts)</th><th>rule</th><th class="n">support</th>
<th class="n">prompts</th><th class="n">mean margin</th><th class="n">smallest</th></tr></thead>
<tbody>
{chr(10).join(rows)}
</tbody>
</table></div>
<h2>What Horn rules cannot say</h2>
<p>{escape(_non_horn(extraction))}</p>
<footer><p>Made by Hornlens {escape(__version__)}.
Model: {escape(extraction.identity)}.</p></footer>
</main>
</body>
</html>
"""


def _scores(extraction: Extraction, scores: tuple[float, ...]) -> str:
    words = extraction.probe.label.words
    return escape(", ".join(f"{w} {s:.2f}" for w, s in zip(words, scores, strict=True)))


def _abstained(extraction: Extraction) -> str:
    return f"{plural(len(extraction.abstentions), 'abstention')}."


def _non_horn(extraction: Extraction) -> str:
    non_horn, names = extraction.envelope.non_horn, extraction.probe.vocabulary
    if not non_horn.examples:
        return "Nothing that was seen."
    examples = "; ".join(show_set(names.names_of(x)) for x in non_horn.examples)
    return (
        f"{plural(non_horn.at_least, 'interpretation')} the model rejects, yet each is the "
        f"intersection of accepted ones, so that no rule can reject it. Such as: {examples}."
    )
