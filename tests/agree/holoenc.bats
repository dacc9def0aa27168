load ../agreement

@test "agree: holoenc" {
	agrees holoenc <<'CASES'
float depth:-3..3 | z_axis:=towards | holoenc
float other:0..1 depth:-3..3 texture:-5..300 | z_axis:=away | holoenc --depth-range -2,2 --texture texture
float depth:0..1 texture:0..1 | max_value:=1 | holoenc --stair cosine -t 40 -K 2 --layout yuv --texture texture
float depth:0..1 | | holoenc --stair composite -S 2 -t 30 -P 33 --z-axis away --depth-range 0.1,0.9
float depth:-3..3 | z_axis:=towards | holoenc --rounding level
float depth:0..1 texture:0..1 | | holoenc --rounding level --layout yuv -P 30 --texture texture
CASES
}

@test "agree: holoenc of coordinates" {
	py '
y, x = np.mgrid[:65, :129].astype("f4")
z = np.random.default_rng(3).uniform(0, 9, x.shape).astype("f4")
z[::5, ::3] = np.nan
write_frames("in.nrrd", Frame(np.stack([z, 0.5 * x, 0.25 * y]), ["z", "x", "y"]))'
	agrees_on holoenc in.nrrd holoenc
}
