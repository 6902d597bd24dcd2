"""What a collection looks like: its counts, its shape, what it lacks, and what to do about that."""
