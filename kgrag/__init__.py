"""kgrag: documents become a graph in Neo4j; questions are answered by walking it.

What users import is here by its name (`__init__.pyi` lists it), and nowhere else is it promised to stay:
`from kgrag import KnowledgeGraph`. Each is imported when it is used: `kgrag --help` must not wait for the driver.
"""

import logging

from lazy_loader import attach_stub

from kgrag.values import __version__ as __version__

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a reader of the log adds one
