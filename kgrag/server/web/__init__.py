"""The web application: pages over the same Collection objects as the other interfaces, in the same process."""
