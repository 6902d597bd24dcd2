"""The routes under /api/v1, one module for each thing that they are about."""
