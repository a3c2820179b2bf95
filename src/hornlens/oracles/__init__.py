"""The oracles that answer a learner: membership, equivalence, and white-box search by SAT."""
