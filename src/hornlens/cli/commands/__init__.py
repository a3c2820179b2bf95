"""The commands' arguments. Heavy imports happen inside the commands, so that --help is quick."""

from hornlens.cli.commands import formal, installation, models, results, verifying

COMMANDS = {
    command.__name__: command
    for command in (
        formal.envelope,
        formal.concepts,
        formal.convert,
        formal.learn,
        formal.explore,
        models.extract,
        models.study,
        results.compare,
        verifying.check,
        verifying.verify,
        verifying.seal,
        results.report,
        results.export,
        models.bias,
        models.explain,
        models.recourse,
        installation.doctor,
        installation.completion,
    )
}
"""By name, in the order of the help."""
