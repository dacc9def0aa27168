"""files.py NAME ...: packed copies of NAME.nrrd (gzip) and NAME.tif (LZW, deflate), for scripts/bench."""
import gzip
import sys

from PIL import Image

for name in sys.argv[1:]:
	with open(name + ".nrrd", "rb") as file:
		head, data = file.read().split(b"\n\n", 1)
	with open(name + ".gz.nrrd", "wb") as file:
		file.write(head.replace(b"encoding: raw", b"encoding: gzip") + b"\n\n" + gzip.compress(data, 6))
	for suffix, how in ("lzw", "tiff_lzw"), ("zip", "tiff_adobe_deflate"):
		Image.open(name + ".tif").save("%s.%s.tif" % (name, suffix), compression=how)
