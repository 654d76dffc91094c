"""Coverage-guided fuzzing of the regex checker: what `targets` demands, and `python -m` to run it under atheris."""
