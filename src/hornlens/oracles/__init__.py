"""What answers a learner: implementers of the two oracle protocols, nothing else."""
