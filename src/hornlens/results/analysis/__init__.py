"""What is worked out from a result: evidence, rates, flips, checks, comparisons."""
