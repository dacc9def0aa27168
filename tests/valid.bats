# --valid: a mask of the frames that a chain reads.
load helpers

make_inputs() {
	py '
rng = np.random.default_rng(3)
images = [Frame(rng.integers(20, 220, (9, 13)).astype("u1")) for i in range(6)]
write_frames("images.nrrd", images)
write_frames("floats.nrrd", [Frame(rng.random((9, 13)).astype("f4"), ["absphase"]) for i in range(2)])
masks = [Frame((rng.random((9, 13)) > 0.3).astype("u1") * 255) for i in range(3)]
write_frames("mask.nrrd", masks[0]); write_frames("two.nrrd", masks[:2]); write_frames("three.nrrd", masks)
write_frames("small.nrrd", Frame(np.ones((9, 12), "u1")))
write_frames("rgb.nrrd", Frame(np.ones((3, 9, 13), "u1"), ["r", "x", "b"]))'
	printf 'x,y\n1,2\n3,4\n' >table.csv
}

# masked NAME PLAIN MASKS: frames of NAME are those of PLAIN, NaN where the masks are 0
masked='
def masked(name, plain, masks, own=lambda a, b: a):
	frames, all, masks = (read_frames(p + ".nrrd") for p in (name, plain, masks))
	for i, (f, p) in enumerate(zip(frames, all)):
		m = masks[i if len(masks) > 1 else 0].pixels[0] > 0
		want = np.where(m, p.pixels, np.float32(np.nan))
		expect(f.pixels.view("u4")[:, m] == want.view("u4")[:, m], name, i)
		expect(np.isnan(f.pixels[:, ~m]), name, i, "where the mask is 0")
'

@test "valid: float frames are masked as they are read, integers in the result; on a device and in chains too" {
	make_inputs
	framecat --valid mask.nrrd floats.nrrd -o f.nrrd
	framecat floats.nrrd -o fp.nrrd
	framecat --valid two.nrrd floats.nrrd -o f2.nrrd
	phasewrap -q -n 3 images.nrrd -o p.nrrd
	framecat --as float --valid mask.nrrd images.nrrd -o c.nrrd
	framecat --as float images.nrrd -o cp.nrrd
	for device in cpu gpu; do
		if [ $device = gpu ] && [[ $(fringepipe --devices) != *$'\ngpu:'* ]]; then continue; fi
		phasewrap -q -d $device -n 3 --valid mask.nrrd images.nrrd -o m1.nrrd
		phasewrap -q -d $device -n 3 --valid two.nrrd images.nrrd -o m2.nrrd
		fringepipe -q -d $device --valid two.nrrd phasewrap -n 3 images.nrrd , gauss -n 3 -o chain.nrrd
		fringepipe -q -d $device phasewrap -n 3 images.nrrd , gauss -n 3 --valid two.nrrd -o last.nrrd
		gauss -d $device -n 3 m2.nrrd -o pipe.nrrd
		median -d $device --valid mask.nrrd -s box floats.nrrd -o median.nrrd
		framecat --valid mask.nrrd floats.nrrd | median -d $device -s box -o want.nrrd
		framecmp --ulp 0 chain.nrrd pipe.nrrd
		cmp chain.nrrd last.nrrd
		framecmp --ulp 0 median.nrrd want.nrrd
		py "$masked"'
masked("m1", "p", "mask"); masked("m2", "p", "two")'
	done
	py "$masked"'
masked("f", "fp", "mask"); masked("f2", "fp", "two"); masked("c", "cp", "mask")'
	# as a mask's file has any format
	framecat mask.nrrd -o mask.png
	framecat --valid mask.png floats.nrrd -o f3.nrrd
	framecmp --ulp 0 f.nrrd f3.nrrd
}

@test "valid: frames beside each other keep their own mask" {
	py '
rng = np.random.default_rng(4)
write_frames("many.nrrd", [Frame(rng.integers(20, 220, (40, 50)).astype("u1")) for i in range(120)])
write_frames("masks.nrrd", [Frame((rng.random((40, 50)) > 0.5).astype("u1")) for i in range(40)])'
	phasewrap -q -n 3 many.nrrd -o p.nrrd
	for threads in 1 4; do
		phasewrap -q -j $threads -n 3 --valid masks.nrrd many.nrrd -o m.nrrd
		py "$masked"'masked("m", "p", "masks")'
	done
}

@test "valid: another size, too few, too many, and what cannot be masked" {
	make_inputs
	framecat floats.nrrd floats.nrrd -o more.nrrd
	fails 1 "small.nrrd: is 12 x 9, the input is 13 x 9" framecat --valid small.nrrd floats.nrrd -o x.nrrd
	fails 1 "small.nrrd: is 12 x 9, the input is 13 x 9" phasewrap -n 3 --valid small.nrrd images.nrrd -o x.nrrd
	fails 1 "three.nrrd: has more frames for --valid than the input, which ends after" \
		framecat --valid three.nrrd floats.nrrd -o x.nrrd
	fails 1 "two.nrrd: has only 2 frames for --valid, the input has more" \
		framecat --valid two.nrrd more.nrrd -o x.nrrd
	fails 1 "rgb.nrrd: has 3 channels, a mask has one" framecat --valid rgb.nrrd floats.nrrd -o x.nrrd
	fails 1 "--valid: is for images, not for tables" framecat --valid mask.nrrd table.csv -o x.nrrd
	fails 1 "--valid: the frames that framecat reads and gives are integers" \
		framecat --valid mask.nrrd images.nrrd -o x.nrrd
	fails 2 "--valid: masks the frames that a chain reads, and fringegen reads none" \
		fringegen --valid mask.nrrd -s 20x20 -p 10 -o x.nrrd
	framecat --as float images.nrrd -o no0.nrrd
	fails 0 "no0.nrrd: no pixel is 0: the mask leaves all of them" framecat --valid no0.nrrd no0.nrrd -o x.nrrd
	py 'write_frames("all0.nrrd", Frame(np.zeros((9, 13), "u1")))'
	fails 1 "all0.nrrd: all pixels are 0: the mask leaves none" framecat --valid all0.nrrd images.nrrd --as float -o x.nrrd
	fails 1 "all0.nrrd: all pixels are 0: the mask leaves none" phasewrap --sign 1 -n 6 --valid all0.nrrd images.nrrd -o x.nrrd
	fails 1 "mask2.nrrd" framecat --valid mask2.nrrd floats.nrrd -o x.nrrd
	median --help=all | has -e "--valid FILE"
}

@test "valid: checks do not look at pixels that the mask takes out, on processor and device; those that it keeps count" {
	# lit in the middle half: the mask is right, everything, or the unlit half
	fringesim -q -s 320x240 -n 4 -p 20 --noise 1 -o all.nrrd
	py '
rng = np.random.default_rng(1)
images = read_frames("all.nrrd")
x = np.arange(320)
dark = (x < 80) | (x >= 240)
out = []
for f in images:
	v = f.pixels.astype(float)
	v[..., dark] = 5 + rng.normal(0, 1.5, v[..., dark].shape)
	out.append(Frame(np.clip(np.round(v), 0, 255).astype("u1"), f.names, f.meta))
write_frames("half.nrrd", out)
write_frames("lit.nrrd", Frame(np.tile(~dark, (240, 1)).astype("u1")))
write_frames("ones.nrrd", Frame((np.arange(76800).reshape(240, 320) > 0).astype("u1")))
write_frames("dark.nrrd", Frame(np.tile(dark, (240, 1)).astype("u1")))'
	for device in cpu gpu; do
		if [ $device = gpu ] && [[ $(fringepipe --devices) != *$'\ngpu:'* ]]; then continue; fi
		fails 0 "are unlit, and it is noise" phasewrap -d $device half.nrrd -o null:
		silent phasewrap -d $device --valid lit.nrrd half.nrrd -o null:
		fails 0 "are unlit, and it is noise" phasewrap -d $device --valid ones.nrrd half.nrrd -o null:
		fails 0 "there are no fringes" phasewrap -d $device --valid dark.nrrd half.nrrd -o null:
	done
	silent phasewrap -j 1 --valid lit.nrrd half.nrrd half.nrrd half.nrrd -o null:
	framecat --as float half.nrrd | silent phasewrap --valid lit.nrrd -o null:
}
