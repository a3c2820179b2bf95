"""The paper's case study: people and their pronouns, occupations, bias scores, its tables."""
