# Whole pairs of cameras: real captures of two rigs, and a simulated rig whose truth is known.
load helpers

# Where nothing is random, bounds stand a fifth above what is measured.

# deviation NAME CHANNEL: left pixels that have a phase, and of the channel: count, share, percentiles 1 50 99, share of
# those more than 5 px off the 5x5 median in %, median distance from that median
judge='
def median5(d):
	"""Of the valid ones around each valid pixel."""
	y, x = np.nonzero(np.isfinite(d))
	p = np.pad(d, 2, constant_values=np.nan)
	around = np.sort(np.stack([p[y + j, x + i] for j in range(5) for i in range(5)], 1).astype("f4"), 1)
	n = np.isfinite(around).sum(1)
	each = np.arange(len(n))
	out = np.full(d.shape, np.nan)
	out[y, x] = (around[each, (n - 1) // 2].astype(float) + around[each, n // 2]) / 2
	return out
def judge(name, left, channel="disparity"):
	f = read_frame(name)
	d, ok = f[channel].astype(float), np.isfinite(f[channel])
	off = np.abs(f["disparity"] - median5(f["disparity"].astype(float)))[ok]
	return ok.sum(), 100 * ok.sum() / np.isfinite(read_frame(left)["absphase"]).sum(), \
		np.percentile(d[ok], [1, 50, 99]), 100 * np.mean(off > 5), np.median(np.abs(d - median5(d))[ok])
'

# printed WORD ...: the lines of the tutorial for two cameras that come from the one that begins with the first word, up
# to the first one that begins with the second, as a reader copies them.
printed() {
	mandoc -T utf8 -O width=78 "$top/man/fringepipe.7" | col -bx | awk -v from="$1" -v to="$2" '
		/^   [^ ]/ { on = $0 ~ /Two cameras/ }
		on && /^           / && !done {
			line = substr($0, 12)
			lines = lines || index(line, from) == 1
			if (lines)
				print line
			done = lines && index(line, to) == 1
		}'
}

@test "pairs: two frequencies on a real pair that is rectified (angel), as the tutorial prints it: shares, percentiles, scatter" {
	need_data dtu_angel_2freq_rectified
	FRINGEPIPE_DATA=$data
	printed angel= "    disparity.nrrd -o" >script
	export FRINGEPIPE_DATA
	silent bash -e -o pipefail script
	# STEREO_ROWS, as every night: from one frequency as well
	for side in left right; do framecat -c absphase angel_$side.nrrd -o $side.one.nrrd; done
	base=(phasematch --assume-rectified)
	"${base[@]}" --both-ways 0 --support 0 --right angel_right.nrrd angel_left.nrrd -o raw.nrrd
	if [ -n "${STEREO_ROWS-}" ]; then
		"${base[@]}" --both-ways 0 --support 0 --right right.one.nrrd left.one.nrrd -o raw.one.nrrd
		"${base[@]}" --right right.one.nrrd left.one.nrrd -o disparity.one.nrrd
	fi
	py "$judge"'
for of, scatter, beside in (("", 0.022, 0.0954), (".one", 0.029, 0.115))[:int(sys.argv[1])]:
	n, share, at, gross, deviation = judge("raw%s.nrrd" % of, "angel_left.nrrd")
	expect(share >= 97.5, share); expect(gross <= 0.10, gross); expect(deviation <= scatter, deviation)
	expect(np.abs(at - [-26.9, 5.0, 41.1]) < beside, at)
	n, share, at, gross, deviation = judge("disparity%s.nrrd" % of, "angel_left.nrrd")
	expect(share >= 93.5, share); expect(gross <= 0.0042, gross)
# the picture: the angel in colours of its disparity, nothing beside it; the head, which is nearest, is red, the far folds blue
from PIL import Image
picture = np.array(Image.open("disparity.png").convert("RGB")).astype(int)
d = read_frame("disparity.nrrd")["disparity"]
expect(picture.shape == (690, 430, 3), picture.shape)
there = np.isfinite(d)
expect(abs(there.mean() - 0.587) < 0.0005, there.mean())
expect(np.ptp(picture[~there], 0) == 0, "one colour where nothing is")
red, blue = (picture[there & m].mean(0) for m in (d > 35, d < -20))
expect(red[0] > red[2] + 170 and blue[2] > blue[0] + 136, red, blue)' $((${STEREO_ROWS:+1} + 1))
}

@test "pairs: Gray code on a real calibrated pair (david), as the tutorial prints it: points, mesh, picture" {
	need_data slsdk_david_stereo
	FRINGEPIPE_DATA=$data
	printed david= shade >script
	export FRINGEPIPE_DATA
	silent bash -e -o pipefail script
	phasematch --both-ways 0 --support 0 --right right.nrrd left.nrrd -o raw.nrrd
	silent phasematch --frame left --right right.nrrd left.nrrd -o turned.nrrd
	py "$judge"'
n, share, at, gross, _ = judge("raw.nrrd", "left.nrrd", "z")
expect(204000 <= n <= 209000, n); expect(abs(share - 79.6) < 0.17, share); expect(gross < 0.065, gross)
n, share, at, gross, deviation = judge("david.nrrd", "left.nrrd", "z")
expect(n >= 196000, n); expect(gross <= 0.005, gross); expect(deviation <= 0.11, deviation)
expect(np.abs(at - [1088, 1125, 1344]) < 1.26, at)
# turned back: the same points, by the rotation of the file
import json
f, turned = read_frame("david.nrrd"), read_frame("turned.nrrd")
P = np.array([turned[c] for c in "xyz"], float)
ok = np.isfinite(P[2])
R1 = np.array(json.load(open("david.json"))["R1"])
expect(np.abs(R1 @ P[:, ok] - np.array([f[c] for c in "xyz"], float)[:, ok]).max() < 1.7e-4)
mesh = open("david.ply", "rb").read(4000).decode("latin1")
expect("element vertex %d" % n in mesh and "element face" in mesh, mesh)
# the picture: the bust turned, left of the middle, lit from the left; nothing in the corners
from PIL import Image
picture = np.array(Image.open("david.png").convert("L")).astype(int)
expect(picture.shape == (768, 1024), picture.shape)
background = picture[0, 0]
bust = picture != background
expect((picture[:20] == background).mean() > 0.99 and (picture[:, :200] == background).all(), "around it")
expect(0.15 < bust.mean() < 0.35, bust.mean())
face = picture[340:460, 380:460]
expect((face != background).mean() > 0.97 and 60 < face.mean() < 220 and face.std() > 8, face.mean(), face.std())'
}

# A sphere of 100 mm in the rig of david as it was before the crop, by float captures without noise.
@test "pairs: a simulated sphere in a real rig: radius and rms of its points" {
	cat >rig.json <<-'END'
	{ "K1": [[2294.03, 0, 472], [0, 2292.85, 388.6], [0, 0, 1]], "d1": [-0.0245, 0.2931, -0.00064, -0.00077, 0],
	"K2": [[2299.73, 0, 502.8], [0, 2300.25, 370.4], [0, 0, 1]], "d2": [-0.0256, 0.4338, -0.0007, -0.00007, 0],
	"R": [[0.9720918051784171, 0.0009688891946015099, 0.23459877143475213],
	[-0.0014147331973953336, 0.9999974990641037, 0.0017321649799992257],
	[-0.23459650644233107, -0.0020157180522911875, 0.9720907447588353]],
	"T_mm": [-299.8268977843622, -3.9538101432919928, 33.648959949511806], "image_size": [1024, 768] }
	END
	for side in left right; do
		fringesim -q --calib rig.json --view $side -s 1024x768 --scene sphere --radius 100 -b float -p 64,72,81 -n 3 --ambient 20 \
			-o $side.images.nrrd
		fringepipe -q phasewrap --min-amplitude 5 $side.images.nrrd , unwrap2f --all , rectify --calib rig.json --side $side \
			--size 1024x768 -o $side.nrrd
	done
	silent phasematch --frame left --right right.nrrd left.nrrd -o out.nrrd
	py '
f = read_frame("out.nrrd")
P = np.array([f[c] for c in "xyz"], float)
P = P[:, np.isfinite(P[2])]
# half a sphere stands on a plane that is square to the left camera
near = P[:, P[2] < P[2].min() + 70]
for again in range(6):
	a = np.c_[2 * near.T, np.ones(near.shape[1])]
	s, *_ = np.linalg.lstsq(a, (near ** 2).sum(0), rcond=None)
	centre, radius = s[:3], np.sqrt(s[3] + s[:3] @ s[:3])
	off = P - centre[:, None]
	aside = np.hypot(off[0], off[1])
	near = P[:, (np.abs(np.linalg.norm(off, axis=0) - radius) < 1) & (aside < 0.8 * radius) & (off[2] < 0)]
rms = np.sqrt(np.mean((np.linalg.norm(near - centre[:, None], axis=0) - radius) ** 2))
expect(near.shape[1] > 20000, near.shape)
expect(abs(radius - 100) <= 0.0033, radius); expect(rms <= 0.00034, rms)	# 0.0027 0.00028'
}

@test "pairs: sigma from the camera's noise over rectify to disparity and depth, by the errors of simulated captures" {
	cat >rig.json <<-'END'
	{ "K1": [[450, 0, 160], [0, 450, 120], [0, 0, 1]], "d1": [-0.1, 0.02, 0, 0, 0],
	"K2": [[450, 0, 160], [0, 450, 120], [0, 0, 1]], "d2": [-0.1, 0.02, 0, 0, 0],
	"R": [[0.98, 0, 0.199], [0, 1, 0], [-0.199, 0, 0.98]], "T_mm": [-120, 0, 12], "image_size": [320, 240] }
	END
	for noise in 0 1; do
		for side in left right; do
			fringesim -q --calib rig.json --view $side --scene plane -p 60,66,73 -n 4 -b float --noise $noise --seed 7 -o images.nrrd
			fringepipe -q phasewrap --sigma --read-noise 1 --gain 0 --quantum 0 images.nrrd , unwrap2f --all , \
				rectify --calib rig.json --side $side -o $side.nrrd
		done
		phasematch --right right.nrrd left.nrrd -o $noise.nrrd
	done
	py '
still, noisy = read_frame("0.nrrd"), read_frame("1.nrrd")
for value, sigma in ("disparity", "sigma_disparity"), ("z", "sigma"):
	error = (noisy[value].astype(float) - still[value]) / noisy[sigma]
	error = error[np.isfinite(error)]
	expect(len(error) > 50000, len(error)); expect(abs(error.std() - 1) < 0.05, value, error.std())
	within = [100 * np.mean(abs(error) < k) for k in (1, 2)]
	expect(np.abs(np.array(within) - [68.3, 95.4]) < [2.5, 1.2], value, within)'
}
