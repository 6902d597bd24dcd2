#!/usr/bin/env bash
# PowerPoint wraps a text box with an equation, or a picture in a new format, in alternatives (ISO/IEC 29500-3: a
# Choice, and a Fallback for older programs). python-pptx silently skips wrapped shapes: `slide.shapes`, placeholders
# and the title lack them. In a paragraph only the equation is wrapped, and the rest of the text is present.
# python-pptx 1.0.2.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install python-pptx==1.0.2 lxml==6.1.3
cd "$work" && PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
import pptx
from lxml import etree

COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
DRAWING = "http://schemas.microsoft.com/office/drawing/2010/main"


def shapes(path):
    slide = pptx.Presentation(path).slides[0]
    title = slide.shapes.title
    return title.text if title is not None else None, [shape.text for shape in slide.shapes]


presentation = pptx.Presentation()
slide = presentation.slides.add_slide(presentation.slide_layouts[1])
slide.shapes.title.text = "Energy"
slide.placeholders[1].text = "All that the slide says."
presentation.save("plain.pptx")
for shape in (slide.placeholders[1]._element, slide.shapes.title._element):
    wrapper = etree.SubElement(shape.getparent(), f"{{{COMPATIBILITY}}}AlternateContent", nsmap={"mc": COMPATIBILITY, "a14": DRAWING})
    etree.SubElement(wrapper, f"{{{COMPATIBILITY}}}Choice", Requires="a14").append(shape)
presentation.save("wrapped.pptx")
for name in ("plain.pptx", "wrapped.pptx"):
    print(name, shapes(name))
assert shapes("plain.pptx") == ("Energy", ["Energy", "All that the slide says."])
assert shapes("wrapped.pptx") == (None, [])
PY
