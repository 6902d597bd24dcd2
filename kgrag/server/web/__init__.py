"""The web application: pages over the same Collection objects as every other door, in the same process."""
