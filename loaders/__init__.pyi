from .base import BadInput as BadInput
from .base import Source as Source
from .base import read_text as read_text
from .dispatch import LOADERS as LOADERS
from .dispatch import load as load
from .named_rows import Columns as Columns
from .reading import Format as Format
from .reading import single_document as single_document
