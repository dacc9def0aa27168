# Users' mistakes with Holoimages that become three bits a pixel.
load mistakes

# changed FILE CODE: holo.png with other pixels `a`, and its keys.
changed() {
	py '
from PIL import Image, PngImagePlugin
image = Image.open("holo.png")
a = np.array(image).astype(float)
exec(sys.argv[2])
keys = PngImagePlugin.PngInfo()
for key, value in image.text.items(): keys.add_text(key, value)
Image.fromarray(np.ascontiguousarray(np.clip(a, 0, 255).astype("u1"))).save(sys.argv[1], pnginfo=keys)' "$@"
}

@test "mistakes: dither3 says where fringes are none, or where their levels were changed" {
	py '
y, x = np.mgrid[:200, :256].astype("f4")
z = 60 * np.exp(-((x - 130) ** 2 + (y - 100) ** 2) / 4000)
z[:, :40] = np.nan
write_frames("z.nrrd", Frame(z.astype("f4"), ["depth"]))'
	holoenc -P 24 -K 0 --depth-range -10,70 z.nrrd -o holo.png
	holoenc -P 24 -K 0 --layout yuv --depth-range -10,70 z.nrrd -o yuv.png
	framecat --quality 50 --chroma 420 --jpeg-for eyes holo.png -o eyes.jpg
	framecat --delete '*' holo.png -o bare.png
	py 't = np.arange(30000).reshape(150, 200) % 251; write_frames("photo.nrrd", Frame(np.stack([90 + t % 40, 80 + t % 31, 70 + t % 23]).astype("u1"), ["r", "g", "b"]))'
	for method in small bayer fs best; do
		for file in holo.png yuv.png eyes.jpg bare.png; do right dither3 -m $method $file -o x.png; done
		changed limited.png 'a = 16 + a * 219 / 255'
		mistake "levels were changed, as by brightness, contrast or gamma: the circle of the fringes has a radius of 109" dither3 -m $method limited.png -o x.png
		changed bright.png 'a += 12'
		mistake "levels were changed, as by brightness" dither3 -m $method bright.png -o x.png
		for code in 'a -= 20' 'a -= 40' 'a = 255 * (a / 255) ** 2.2' 'a = 255 * (a / 255) ** 0.5' 'a = 127.5 + 1.3 * (a - 127.5)'; do
			changed much.png "$code"
			mistake "levels were changed, as by brightness" dither3 -m $method much.png -o x.png
		done
		changed swapped.png 'a = a[:, :, ::-1]'
		mistake "red and green are no fringes in" dither3 -m $method swapped.png -o x.png
		mistake "% of the picture: it is no Holoimage, or was changed, and its bits give no depth" dither3 -m $method photo.nrrd -o x.png
	done
	right fringepipe dither3 -m bayer holo.png , undither3 , holodec -o z2.nrrd
	framecat holo.png bright.png limited.png >three.nrrd
	right dither3 -m bayer three.nrrd -o x.nrrd
}

@test "mistakes: a lossy Holoimage without keys, and a pitch or an angle that is none of its own" {
	py '
y, x = np.mgrid[:256, :256].astype("f4")
r2 = (x - 128) ** 2 + (y - 128) ** 2
z = np.where(r2 < 115 ** 2, np.sqrt(np.maximum(115 ** 2 - r2, 0)), np.nan)
write_frames("z.nrrd", Frame(z.astype("f4"), ["depth"]))'
	holoenc -P 24 -S 12 -K 0 --z-axis towards --depth-range 0,115 z.nrrd -o holo.png
	bare=(holodec -S 12 -K 0 --stair cosine --z-axis towards --depth-range 0,115 -o d.nrrd)
	for options in "--jpeg-for fringes --quality 79" "--jpeg-for eyes --chroma 444 --quality 75" "--jpeg-for eyes --chroma 420 --quality 95"; do
		# shellcheck disable=SC2086
		framecat $options holo.png -o holo.jpg
		framecat --delete '*' holo.jpg -o bare.png
		right "${bare[@]}" -P 24 -t 30 bare.png
		mistake "% of the picture decode to depths outside of the range, where no encoder has any: wrong --pitch, --theta or --layout" "${bare[@]}" -P 24 -t 29 bare.png
		mistake "% of the picture decode to depths outside of the range" "${bare[@]}" -P 24.8 -t 30 bare.png
		framecat --crop 6,0,250,256 bare.png -o cut.png
		run "${bare[@]}" -P 24 -t 30 cut.png
		[[ $output == *"of the picture decode to depths outside of the range"* ]]
	done
}
