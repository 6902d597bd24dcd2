"""Encodings that files declare."""

from kgrag.loaders.base import decode


def test_latin_1_means_the_windows_encoding_as_in_browsers() -> None:
    for declared in ("ISO-8859-1", "latin_1", "us-ascii"):
        assert decode(b"\x93sch\xf6n\x94 \x80", declared) == "“schön” €"
    assert decode(b"\xb1\xbf", "iso-8859-2") == "ąż"
    assert decode("größe".encode(), "iso-8859-1") == "größe"  # valid UTF-8 is read as UTF-8
