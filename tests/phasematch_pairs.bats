# Whole pairs of cameras: real captures of two rigs, and a simulated rig whose truth is known.
load helpers

# deviation NAME CHANNEL: left pixels that have a phase, and of the channel: count, share, percentiles 1 50 99, share of
# those more than 5 px off the 5x5 median in %, median distance from that median
judge='
import warnings; warnings.simplefilter("ignore")
def median5(d):
	p = np.pad(d, 2, constant_values=np.nan)
	return np.nanmedian(np.stack([p[j:j + d.shape[0], i:i + d.shape[1]] for j in range(5) for i in range(5)]), 0)
def judge(name, left, channel="disparity"):
	f = read_frame(name)
	d, ok = f[channel].astype(float), np.isfinite(f[channel])
	off = np.abs(f["disparity"] - median5(f["disparity"].astype(float)))[ok]
	return ok.sum(), 100 * ok.sum() / np.isfinite(read_frame(left)["absphase"]).sum(), \
		np.percentile(d[ok], [1, 50, 99]), 100 * np.mean(off > 5), np.median(np.abs(d - median5(d))[ok])
'

@test "pairs: two frequencies on a real pair that is rectified (angel): shares, percentiles, scatter" {
	need_data dtu_angel_2freq_rectified
	angel=$data/dtu_angel_2freq_rectified
	for side in left right; do
		fringepipe phasewrap -n 8 -p 1920/40,1920/41 --sign -1 --min-amplitude 5 "$angel/$side"/f40_*.png "$angel/$side"/f41_*.png , \
			unwrap2f --all -o $side.nrrd
		framecat -c absphase $side.nrrd -o $side.one.nrrd
	done
	for of in "" .one; do
		phasematch --assume-rectified --both-ways 0 --support 0 --right right$of.nrrd left$of.nrrd -o raw$of.nrrd
		silent phasematch --assume-rectified --right right$of.nrrd left$of.nrrd -o out$of.nrrd
	done
	py "$judge"'
for of, scatter in ("", 0.022), (".one", 0.029):
	n, share, at, gross, deviation = judge("raw%s.nrrd" % of, "left.nrrd")
	expect(share >= 97.5, share); expect(gross <= 0.10, gross); expect(deviation <= scatter, deviation)
	expect(np.abs(at - [-26.9, 5.0, 41.1]) < 0.3, at)
	n, share, at, gross, deviation = judge("out%s.nrrd" % of, "left.nrrd")
	expect(share >= 93.5, share); expect(gross <= 0.01, gross)'
}

@test "pairs: Gray code on a real calibrated pair (david): rectified captures to points, both pictures on one surface" {
	need_data slsdk_david_stereo
	david=$data/slsdk_david_stereo
	sed 's/_uncropped_half"/"/' "$david/calib.json" >rig.json
	for side in left right; do
		fringepipe rectify --calib rig.json --side $side --size 1024x768 "$david/$side"/phase_*.png "$david/$side"/gray_*.png , \
			phasewrap -n 4 -p 64 -G 6 --gray-cell half --phase-origin 180 --min-amplitude 8 , unwrap2f -o $side.nrrd
	done
	phasematch --both-ways 0 --support 0 --right right.nrrd left.nrrd -o raw.nrrd
	silent phasematch --right right.nrrd left.nrrd -o out.nrrd
	silent phasematch --frame left --right right.nrrd left.nrrd -o turned.nrrd
	py "$judge"'
n, share, at, gross, _ = judge("raw.nrrd", "left.nrrd", "z")
expect(204000 <= n <= 209000, n); expect(abs(share - 79.6) < 0.5, share); expect(gross <= 0.08, gross)
n, share, at, gross, deviation = judge("out.nrrd", "left.nrrd", "z")
expect(n >= 196000, n); expect(gross <= 0.005, gross); expect(deviation <= 0.11, deviation)
expect(np.abs(at - [1088, 1125, 1344]) < 3, at)
# before rectifying: on the ray of the pixel that the left camera saw it with
import json
rig = json.load(open("rig.json"))
f, turned = read_frame("out.nrrd"), read_frame("turned.nrrd")
P = np.array([turned[c] for c in "xyz"], float)
ok = np.isfinite(P[2])
R1 = np.array(rig["R1"])
expect(np.abs(R1 @ P[:, ok] - np.array([f[c] for c in "xyz"], float)[:, ok]).max() < 1e-3)'
	# a mesh and a cloud come out of it
	framecat out.nrrd -o david.ply
	[ "$(head -c 3 david.ply)" = ply ]
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
		fringesim -q --calib rig.json --view $side -s 1024x768 --scene sphere --radius 100 -b float -p 64,72,81 -n 4 --ambient 20 \
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
expect(abs(radius - 100) <= 0.01, radius); expect(rms <= 0.003, rms)'
}
