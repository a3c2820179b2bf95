"""Studies: asking a model a probe's questions and drawing conclusions."""
