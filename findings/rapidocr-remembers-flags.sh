#!/usr/bin/env bash
# A RapidOCR object remembers the flags of a call. After a line was read with use_det=False, a page without any flag is
# not searched for lines either, but read as one line. The defaults in the signature are None.
# rapidocr 3.10.0 with its own models, onnxruntime 1.32.0, pillow 12.3.0.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install rapidocr==3.10.0 onnxruntime==1.32.0 pillow==12.3.0
"$work/venv/bin/python" - <<'PY' 2> "$work/log"
from pathlib import Path

import numpy as np
import rapidocr
from PIL import Image, ImageDraw, ImageFont

models = Path(rapidocr.__file__).parent / "models"
names = {"Det.model_path": "PP-OCRv6_det_small.onnx", "Rec.model_path": "PP-OCRv6_rec_small.onnx"}
reader = rapidocr.RapidOCR(params={key: str(models / name) for key, name in names.items()})
page = Image.new("RGB", (900, 500), "white")
font = ImageFont.load_default(size=40)
for number, text in enumerate(("The Fram was built", "by Colin Archer", "at Larvik in 1892")):
    ImageDraw.Draw(page).text((60, 60 + 130 * number), text, font=font, fill="black")
page = np.asarray(page)
before = reader(page).txts
line = reader(page[50:120], use_det=False).txts
after = reader(page).txts
print(before, line, after)
assert [text.replace(" ", "") for text in before] == ["TheFramwasbuilt", "byColinArcher", "atLarvikin1892"]
assert len(after) == 1 and "Larvik" not in after[0]
PY
