load mistakes.bash

# Options that contradict what the frame says of itself, where the result fits all the same.

@test "mistakes: unwrap2f: periods that are not the frame's own, a field some pixels too narrow" {
	fringesim -q -s 200x60 --projector 640x480 -p 60,66 -n 4 --noise 1 | phasewrap -q -o two.nrrd
	fringesim -q -s 200x60 --projector 640x480 -p 60 -n 4 -g half --noise 1 | phasewrap -q -o code.nrrd
	mistake "--period: says 120 px for phase 1, and the frame itself says period_px 60: the option counts" \
		unwrap2f -p 120,132 --field 1280 two.nrrd -o x.nrrd
	first=$stderr
	FRINGEPIPE_BAND=7 mistake "$first" unwrap2f -j 5 -p 120,132 --field 1280 two.nrrd two.nrrd -o x%d.nrrd
	mistake "--count: says 120 px for phase 1" unwrap2f --count 10.666667,9.696970 --field 1280 two.nrrd -o x.nrrd
	mistake "--period: says 58 px for phase 1" unwrap2f -p 58 code.nrrd -o x.nrrd
	right unwrap2f -q -p 58 code.nrrd -o x.nrrd
	for same in "-p 60,66" "-p 60,66.03" "--count 10.66667,9.69697 --field 640" "--field 400"; do
		# shellcheck disable=SC2086
		right unwrap2f $same two.nrrd -o x.nrrd
	done
	framecat --delete period_px two.nrrd -o bare.nrrd
	right unwrap2f -p 120,132 --field 1280 bare.nrrd -o x.nrrd
	fringesim -q -s 960x60 --projector 1920x480 -p 1920/35,1920/36,1920/37 --ref-plane 0,0.229,0 -n 4 --noise 1 |
		phasewrap -q -o three.nrrd
	for field in 1920 1915; do right unwrap2f --field $field three.nrrd -o x.nrrd; done
	for field in 1880 1870 1860 1800; do
		mistake "% of the pixels fit no order of the field of $field px, but one outside" unwrap2f --field $field three.nrrd -o x.nrrd
	done
}

@test "mistakes: phase2depth: factors and a plane that are not the frame's own" {
	for scene in plane relief; do
		fringesim -q -s 160x120 --projector 640x480 -p 60,66 -c 5 --scene $scene -n 4 --noise 1 | phasewrap -q |
			unwrap2f -q -o $scene.nrrd
	done
	depth=(phase2depth relief.nrrd -o z.nrrd)
	own=$(frameinfo relief.nrrd | sed -n 's/.*ref_plane_rad:=//p' | tr ' ' ,)
	for c in 7 -5; do
		mistake "--c: is not the frame's own c_mm_per_rad, 5: the option counts" "${depth[@]}" --ref plane.nrrd -c $c
	done
	mistake "--c: is not the frame's own" "${depth[@]}" relief.nrrd --ref ideal -c 5,0.5
	mistake "--ref-plane: is not the frame's own ref_plane_rad, 0 " "${depth[@]}" --ref-plane 0,0.3,0
	right "${depth[@]}" --ref plane.nrrd -c 5.01
	right "${depth[@]}" --ref-plane "$own"
	framecat --delete c_mm_per_rad relief.nrrd | right phase2depth --ref plane.nrrd -c 7 -o z.nrrd
	cat relief.nrrd relief.nrrd >twice.nrrd
	mistake "--c: is not the frame's own" phase2depth --ref plane.nrrd -c 7 twice.nrrd -o z%d.nrrd
}

@test "mistakes: phasewrap --min-amplitude that is a ratio" {
	images 4
	mistake "--min-amplitude: 0.1 levels of images of whole numbers, which rounding alone reaches, leave nothing out" \
		wrap -n 4 --min-amplitude 0.1 {1..4}.png {1..4}.png
	for limit in 0 0.3 1 5; do right wrap -n 4 --min-amplitude $limit {1..4}.png; done
	framecat --as float {1..4}.png -o float.nrrd
	right wrap -n 4 --min-amplitude 0.1 float.nrrd
}
