load mistakes.bash

# Mistakes with several frequencies: a beat that is too short, a period that is slightly wrong, a set that
# begins an image late in one of its frequencies.

@test "mistakes: rounded periods of three sets, whose residuals reach the next order" {
	need_data weiyang_box_3freq_35_36_37
	phasewrap -q -n 8 --sign -1 --min-amplitude 25 --count 35,36,37 --field 854 "$data"/weiyang_box_3freq_35_36_37/f3[567]_*.png -o box.nrrd
	silent unwrap2f --field 854 -p 24.4,23.7222222,23.0810811 box.nrrd -o out.nrrd
	for words in "--field 854 -p 24.4,23.72,23" "--field 854 -p 24.4,23.7,23" "-p 24.4,23.7,23.08" "-p 24.5,23.72,23.08"; do
		# shellcheck disable=SC2086 # options
		mistake "wrong or swapped periods" unwrap2f $words box.nrrd -o out.nrrd
	done
}

@test "mistakes: a field wider than the beat, one column of pixels wide" {
	while read -r periods projector field turns more; do
		# shellcheck disable=SC2086
		fringesim -q -p "$periods" -n 4 -s "$((projector + 60))x60" --projector "${projector}x480" $more -o set.nrrd
		mistake "absphase: falls by $turns turns from a pixel to the next, as at the end of a beat" \
			fringepipe phasewrap set.nrrd , unwrap2f --field "$field" -o a.nrrd
	done <<'SETS'
60,66 800 660 11 --scene plane
60,66 700 660 11 --scene relief --noise 2
60,68 700 510 8.5 --scene relief --noise 2
SETS
	fringesim -q -p 60,66 -n 4 -s 60x800 -a y --projector 480x800 --scene plane -o set.nrrd
	mistake "is more than 660 px of the projector seen?" fringepipe phasewrap set.nrrd , unwrap2f --field 660 -o a.nrrd
	# a longest period so short that the phase rises by a part of it between pixels
	for periods in 8,40 20,100; do
		fringesim -q -p $periods -n 4 -s 320x60 --scene plane --noise 1 -o set.nrrd
		mistake "is more of the projector seen than the longest period? On a continuous surface --coarse spatial unwraps" \
			fringepipe phasewrap set.nrrd , unwrap2f -o a.nrrd
	done
	# the whole beat, to its last column, with noise at its ends
	fringesim -q -p 60,66 -n 4 -s 660x60 --projector 660x480 --scene plane --noise 3 -o set.nrrd
	right fringepipe phasewrap set.nrrd , unwrap2f -o a.nrrd
}

@test "mistakes: a period that is slightly wrong is named" {
	fringesim -q -p 60,66 -n 4 -s 400x300 --projector 640x480 --scene relief --noise 1 -o set.nrrd
	phasewrap -q set.nrrd -o p.nrrd
	for periods in 60,65 60,65.5 60,66.5 60,67 60,70 60,60.6; do
		mistake "changes by" unwrap2f -p "$periods" --field 400 p.nrrd -o a.nrrd
		mistake "the phases have 1" unwrap2f -p "$periods" --field 400 --fuse p.nrrd -o a.nrrd
		unwrap2f -p "$periods" --field 400 p.nrrd -o a.nrrd 2>&1 | grep -E 'beside 60 px the other one would be (66|66.0|66.01|65.99) px$'
	done
	mistake "beside 65 px the other one would be 59." unwrap2f -p 60,65 -u 2 --field 400 p.nrrd -o a.nrrd
	for periods in 60,66 60,66.05; do
		right unwrap2f -p "$periods" --field 400 p.nrrd -o a.nrrd
		right unwrap2f -p "$periods" --field 400 -u 2 p.nrrd -o a.nrrd
	done
	# with three phases no order fits where the error has grown
	fringesim -q -p 60,66,78 -n 4 -s 600x100 --projector 640x480 --scene relief --noise 1 | phasewrap -q -o p.nrrd
	right unwrap2f p.nrrd -o a.nrrd
	for periods in 61,66,78 60,66,80 60,70,78; do
		mistake "periods" unwrap2f -p "$periods" --field 640 p.nrrd -o a.nrrd
	done
}

@test "mistakes: one frequency begins an image late: said, and of two which" {
	late() {	# PHASE STEPS FILE: the phase a step on
		py '
f = read_frame(sys.argv[3]); k = int(sys.argv[1]) - 1
f.pixels = f.pixels.copy()
f.pixels[k] = np.angle(np.exp(1j * (f.pixels[k] + 2 * np.pi / int(sys.argv[2]))))
write_frames("late.nrrd", f)' "$@"
	}
	for n in 4 5 8 12; do
		fringesim -q -p 60,66 -n $n -s 300x100 --projector 640x480 --scene relief --noise 1 | phasewrap -q -o p.nrrd
		right unwrap2f p.nrrd -o a.nrrd
		late 2 $n p.nrrd
		case $n in
		8) mistake "as where phase2 begins one of its 8 images early or late" unwrap2f late.nrrd -o a.nrrd ;;
		# eleven fringes in a beat less an image are as many as a beat that both begin an image late
		*) mistake "as where phase2 or both begin one of their $n images early or late" unwrap2f late.nrrd -o a.nrrd ;;
		esac
		[ $n -ne 5 ] || continue	# ten fringes less by a fifth are two whole ones: nothing tells
		late 1 $n p.nrrd
		mistake "as where phase1 begins one of its $n images early or late" unwrap2f late.nrrd -o a.nrrd
	done
	for periods in 60,66,78 1920/35,1920/36,1920/37; do
		fringesim -q -p $periods -n 8 -s 300x100 --projector 640x480 --scene relief --noise 1 | phasewrap -q -o p.nrrd
		right unwrap2f p.nrrd -o a.nrrd
		for phase in 1 2 3; do
			late $phase 8 p.nrrd
			unwrap2f late.nrrd -o a.nrrd 2>message
			grep -E 'all lie alike far from the best order, as where one of the phases begins an image|wrong fringe orders' message
		done
	done
}

@test "mistakes: several frequencies and noise: not a word where orders are right" {
	while read -r periods n noise; do
		fringesim -q -p "$periods" -n "$n" -s 300x100 --projector 640x480 --scene relief --noise "$noise" -o set.nrrd
		right fringepipe phasewrap --min-amplitude 5 set.nrrd , unwrap2f -o a.nrrd
		right fringepipe phasewrap --min-amplitude 5 set.nrrd , unwrap2f --fuse -o a.nrrd
	done <<'SETS'
60,66 3 0.5
60,66 8 8
60,66,78 3 8
1920/35,1920/36,1920/37 5 4
18,23,31,630 3 2
20,120,640 4 8
24,27.3,31.7,38,47 12 8
SETS
}

@test "mistakes: every frequency begins an image late: said, though orders are right" {
	late() {	# K STEPS: all phases k steps on
		py '
f = read_frame("p.nrrd")
f.pixels = f.pixels.copy()
n = sum(name.startswith("phase") for name in f.names)
f.pixels[:n] = np.angle(np.exp(2j * np.pi * float(sys.argv[1]) / int(sys.argv[2]) + 1j * f.pixels[:n]))
write_frames("late.nrrd", f)' "$@"
	}
	words() {	# PERIODS N
		local each="each begins one of its"
		[[ $1 == *,*,* ]] || each="both phases begin one of their"
		mistake "as where $each $2 images early or late" unwrap2f late.nrrd -o a.nrrd
	}
	while read -r periods n; do
		fringesim -q -p $periods -n $n -s 300x100 --projector 640x480 --scene relief --noise 1 | phasewrap -q -o p.nrrd
		right unwrap2f p.nrrd -o right.nrrd
		late 1 $n
		words $periods $n
		first=$stderr
		FRINGEPIPE_BAND=7 mistake "$first" unwrap2f -j 5 late.nrrd -o a.nrrd
		unwrap2f -q late.nrrd -o a.nrrd
		py '
n = int(sys.argv[1])
off = (read_frame("a.nrrd")["absphase"] - read_frame("right.nrrd")["absphase"]) / (2 * np.pi)
expect((np.abs(off - 1 / n) < 1e-4).mean() > 0.99, np.nanmedian(off))' $n
		late -1 $n
		words $periods $n
		cat late.nrrd late.nrrd >two.nrrd
		mistake "images early or late" unwrap2f two.nrrd -o "a%d.nrrd"
		late 0.4 $n	# half an image: any motion may be that
		right unwrap2f late.nrrd -o a.nrrd
	done <<'SETS'
60,66 8
60,66,78 8
60,66,78 12
1920/35,1920/36,1920/37 8
SETS
	# of twelve images, as where the second one alone began an image the other way
	fringesim -q -p 60,66 -n 12 -s 300x100 --projector 640x480 --scene relief --noise 1 | phasewrap -q -o p.nrrd
	late 1 12
	mistake "as where phase2 or both begin one of their 12 images early or late" unwrap2f late.nrrd -o a.nrrd
}

@test "mistakes: one place outside of the field is told as one number" {
	fringesim -q -s 400x60 --projector 1920x480 -p 60,66,73 -n 4 --ref-plane 0,0.05,0 --scene plane --noise 1 | phasewrap -q -o p.nrrd
	right unwrap2f --field 1000 p.nrrd -o a.nrrd
	py '
f = read_frame("p.nrrd"); p = f.pixels.copy()
for k, period in enumerate((60, 66, 73)): p[f.names.index("phase%d" % (k + 1)), :, 300:] = np.angle(np.exp(2j * np.pi * 1500 / period))
f.pixels = p; write_frames("block.nrrd", f)'
	mistake "25 % of the pixels fit no order of the field of 1000 px, but one outside, at 1500 px: is more" unwrap2f --field 1000 block.nrrd -o b.nrrd
}

@test "mistakes: a field that is too narrow, of three and more phases" {
	while read -r periods slope right; do
		fringesim -q -s 400x60 --projector 1920x480 -p "$periods" -n 4 --ref-plane 0,$slope,0 --scene plane --noise 1 |
			phasewrap -q -o p.nrrd
		right unwrap2f --field "$right" p.nrrd -o a.nrrd
		right unwrap2f --field $((right - 8)) p.nrrd -o a.nrrd	# less than a quarter of a fringe too narrow
		for part in 5 7 8 9; do		# at 5 the residuals are large, too, and tell less
			narrow=$((right * part / 10))
			mistake "pixels fit no order of the field of $narrow px, but one outside, at" unwrap2f --field $narrow p.nrrd -o b.nrrd
			first=$stderr
			FRINGEPIPE_BAND=7 mistake "$first" unwrap2f -j 5 --field $narrow p.nrrd -o b.nrrd
			py '
bad = (np.abs(read_frame("a.nrrd")["absphase"] - read_frame("b.nrrd")["absphase"]) > 3).mean()
expect(bad > 0.04, bad)
lies = sys.argv[1].split(", at ")[1].split(" px")[0].split(" to ")
wide = float(sys.argv[2])	# what is seen begins at 0: only the end is outside
expect(wide * 0.45 < float(lies[0]) < float(lies[1]) < wide * 1.03, sys.argv[1])
expect(abs(float(sys.argv[1].split(": ")[2].split(" %")[0]) / 100 - bad) < 0.06, sys.argv[1], bad)' "$first" "$right"
		done
	done <<'SETS'
60,66,78 0.1047 400
1920/35,1920/36,1920/37 0.35 1224
48,52,57 0.1309 400
SETS
	# noise, dark pixels and shadows are no reason
	for more in "--noise 10" "--noise 3 --amplitude 10" "--scene relief --shadow --height 80" "--gamma 1.6"; do
		# shellcheck disable=SC2086
		fringesim -q -s 400x200 --projector 400x480 -p 60,66,78 -n 4 $more | phasewrap -q -o p.nrrd
		run --separate-stderr unwrap2f --field 400 p.nrrd -o a.nrrd
		[[ $stderr != *"fit no order"* ]]
	done
}

@test "mistakes: where the coarsest phase repeats in the picture, the cure that the line names gives the true phase" {
	while read -r periods turns; do	# turns of the first phase in what repeats
		fringesim -q -p "$periods" -s 960x240 --projector 1920x480 --noise 1 \
			--ref-plane 0,0.2094,0 --scene relief --height 10 --truth t.nrrd -o set.nrrd
		phasewrap set.nrrd -o known.nrrd
		framecat --delete projector_px known.nrrd -o w.nrrd
		mistake "absphase: falls by " unwrap2f w.nrrd -o a.nrrd
		cure=$(grep -o -- "on a continuous surface --coarse spatial" <<<"$stderr")
		[[ $stderr != *--field* ]]	# which would be refused: all repeat together
		right unwrap2f ${cure#on a continuous surface } w.nrrd -o b.nrrd
		py 'a, b, t = (read_frame(name)["absphase"] for name in sys.argv[2:])
turn = 2 * np.pi * float(sys.argv[1])
rms = [np.sqrt(np.mean((d - turn * np.round(np.median(d) / turn)) ** 2)) for d in (a - t, b - t)]
print("%s turns: %.3f rad before, %.4f after" % (sys.argv[1], *rms))
expect(rms[0] > 5 and rms[1] < 0.02, "rms")' "$turns" a.nrrd b.nrrd t.nrrd
		fails 1 "--coarse spatial where the surface is continuous" unwrap2f -m best known.nrrd
	done <<-END
		60,66 11
		60,240,960 16
		40,320 8
	END
	# 60 and 67 px repeat at no whole number of fringes: --coarse spatial would want an anchor
	fringesim -q -p 60,67 -s 960x240 --projector 1920x480 --noise 1 | framecat --delete projector_px -o set.nrrd
	mistake "absphase: falls by " fringepipe phasewrap set.nrrd , unwrap2f -o a.nrrd
	[[ $stderr != *spatial* ]]
}

@test "mistakes: fringes that begin half a turn later than the patterns: the cure that the line names gives the true phase" {
	cure() {
		py 'a, b, t = (read_frame(name)["absphase"] for name in sys.argv[1:])
off = [np.abs(a - t).max(), np.abs(b - t).max()]
print("%.3f rad at most before, %.3f after" % tuple(off))
expect(off[0] > 3 and off[1] < 0.1, "absphase")' a.nrrd b.nrrd t.nrrd
	}
	for periods in 60,66 20,640 60,66,72 20,80,320,1280 35,40,43; do
		fringesim -q -s 320x240 -p $periods --noise 1 --truth t.nrrd | framecat --delete '*' -o set.nrrd
		wrap=(phasewrap -n 3 -p $periods --shift 60,180,-60 set.nrrd)
		mistake "residual: all " fringepipe "${wrap[@]}" , unwrap2f --field 640 -o a.nrrd
		cure=$(grep -o -- "--phase-origin 180" <<<"$stderr")
		# shellcheck disable=SC2086 # an option and its value
		right fringepipe "${wrap[@]}" $cure , unwrap2f --field 640 -o b.nrrd
		cure
	done
	# the same of orders by a sequence
	while read -r periods method; do
		fringesim -q -s 320x240 -p $periods --noise 1 --truth t.nrrd | framecat --delete '*' -o set.nrrd
		wrap=(phasewrap -n 3 -p $periods --shift 60,180,-60 set.nrrd)
		mistake "residual: all are off by about half a turn: give phasewrap --phase-origin 180, or 180 more" \
			fringepipe "${wrap[@]}" , unwrap2f -m $method --field 640 -o a.nrrd
		right fringepipe "${wrap[@]}" --phase-origin 180 , unwrap2f -m $method --field 640 -o b.nrrd
		cure
		run --separate-stderr fringepipe "${wrap[@]}" --phase-origin 250 , unwrap2f -m $method --field 640 -o b.nrrd
		[[ $stderr == *residual* && $stderr != *"half a turn"* ]]
	done <<-END
		60,66,72 heterodyne
		60,66,78 heterodyne
		20,80,320,1280 hierarchical
	END
	for cell in half column; do
		fringesim -q -s 320x240 -p 40 -g $cell --noise 1 --truth t.nrrd -o set.nrrd
		planes=$(frameinfo -k role set.nrrd | grep -c gray)
		framecat --delete '*' set.nrrd -o foreign.nrrd
		wrap=(phasewrap -n 3 -p 40 -G "$planes" --gray-cell $cell --shift 60,180,-60 foreign.nrrd)
		mistake "residual: all are off by about half a turn" fringepipe "${wrap[@]}" , unwrap2f -o a.nrrd
		cure=$(grep -o -- "--phase-origin 180" <<<"$stderr")
		# shellcheck disable=SC2086
		right fringepipe "${wrap[@]}" $cure , unwrap2f -o b.nrrd
		cure
	done
	# nor are exchanged periods, or another angle, taken for half a turn
	fringesim -q -s 854x60 -p 854/35,854/36,854/37 --projector 854x480 -n 4 --noise 1 | phasewrap -o w.nrrd
	for periods in 24.4,23.08,23.72 23.72,24.4,23.08 23.08,23.72,24.4 23.08,24.4,23.72; do
		for field in projector_px none; do
			framecat --delete $field w.nrrd -o set.nrrd
			run --separate-stderr unwrap2f -p $periods set.nrrd -o a.nrrd
			[[ $stderr != *"origin 180"* ]]
		done
	done
	fringesim -q -s 320x240 -p 60,66,72 --noise 1 | framecat --delete '*' -o set.nrrd
	run --separate-stderr fringepipe phasewrap -n 3 -p 60,66,72 --shift 15,135,255 set.nrrd , unwrap2f --field 640 -o a.nrrd
	[[ $stderr == *residual* && $stderr != *"origin 180"* ]]
}

@test "mistakes: --count: unwrap2f knows the field that phasewrap was given; without one it is unwrap2f that wants it" {
	fringesim -q -s 854x60 -p 854/35,854/36,854/37 --projector 854x480 -n 4 --noise 1 --truth t.nrrd |
		framecat --delete '*' -o set.nrrd
	wrap=(phasewrap -n 4 --count 35,36,37 set.nrrd)
	right "${wrap[@]}" --field 854 -o w.nrrd
	[ "$(frameinfo -k field_px w.nrrd)" = 854 ]
	right unwrap2f w.nrrd -o a.nrrd
	py 'a, t = read_frame("a.nrrd")["absphase"], read_frame("t.nrrd")["absphase"] * 37 / 35
print("%.4f rad" % np.abs(a - t).max())
expect(np.abs(a - t).max() < 0.1, "absphase")'
	# the option wins, and the key serves one phase, too
	fails 1 "spans the field of 1000 px" unwrap2f -m heterodyne --field 1000 w.nrrd
	framecat --set field_px=0 w.nrrd -o zero.nrrd
	fails 1 "field_px: 0 is no width of a field" unwrap2f zero.nrrd
	# the line about exchanged periods does not ask for a field that is known
	framecat --delete field_px w.nrrd -o unknown.nrrd
	mistake "no --field" unwrap2f -p 24.4,23,22 unknown.nrrd -o b.nrrd
	run --separate-stderr unwrap2f -p 24.4,23,22 w.nrrd -o b.nrrd
	[[ $stderr == *"wrong or swapped periods"* && $stderr != *"--field"* ]]
	# phases alone need no field
	right "${wrap[@]}" -o plain.nrrd
	framecmp w.nrrd plain.nrrd
	[ "$(frameinfo -k cmd.2 plain.nrrd)" = "phasewrap --steps=4 --count=35,36,37 [1]" ]
	fails 1 "the input has no key period_px: give --period, or --count and --field" unwrap2f plain.nrrd
	right unwrap2f --count 35,36,37 --field 854 plain.nrrd -o b.nrrd
	framecmp a.nrrd b.nrrd
	# one count, of the first four images
	framecat --frames 0-3 set.nrrd | right phasewrap -n 4 --count 35 -o one.nrrd
	right unwrapq one.nrrd -o c.nrrd
}
