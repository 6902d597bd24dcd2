"""Files packed by gzip: unpacked for the time that they are read."""

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kgrag.loaders.base import MB, BadInput, Source, open_file

PACKED = ".gz"
_MOST = 16  # times the limit of a file: rows are read one at a time
_BLOCK = 1 << 20


@contextmanager
def unpacked(source: Source) -> Iterator[Source]:
    """What a file holds, as a file by its name without ".gz". Raises BadInput."""
    with tempfile.TemporaryDirectory(prefix="kgrag-") as folder:
        path = Path(folder) / Path(Path(source.shown).name).stem
        size = 0
        try:
            with open_file(source) as packed, gzip.open(packed) as data, path.open("wb") as out:
                while block := data.read(_BLOCK):
                    size += len(block)
                    if size > _MOST * source.limit:
                        raise BadInput(f"unpacks to more than {_MOST * source.limit // MB:,} MB; split it")
                    out.write(block)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BadInput(f"is a damaged gzip file ({error})") from error
        yield replace(source, path=path)
