# One fringe image and its phase: against closed forms, fringesim's truth, the theory of noise, and the phase of
# all steps.
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	fringesim -q -s 320x240 -p 16 -c 5 --ref-plane 1,0.38,0.03 --scene relief --height 12 --bits float --flats \
		--albedo noise --truth truth.nrrd -o faces.nrrd
	framecat -q --frames 1 faces.nrrd -o face.nrrd
	framecat -q --frames 3 faces.nrrd -o white.nrrd
	framecat -q --frames 4 faces.nrrd -o black.nrrd
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data_of=$BATS_FILE_TMPDIR
}

# waves SIZE FX FY [CODE]: wave.nrrd, 120 + 80 cos of 0.5 + 2 pi (FX x + FY y), float; CODE may change I.
waves() {
	py "
w, h = (int(n) for n in sys.argv[1].split('x'))
y, x = np.mgrid[:h, :w].astype('f8')
phase = 0.5 + 2 * np.pi * (float(sys.argv[2]) * x + float(sys.argv[3]) * y)
I = 120 + 80 * np.cos(phase)
exec(sys.argv[4])
write_frames('wave.nrrd', [Frame(I.astype('f4'))])
write_frames('true.nrrd', [Frame(phase.astype('f4'), ['phase'])])" "$1" "$2" "$3" "${4:-}"
}

# near MOST FILE ...: the phases differ from true.nrrd's by MOST rad at most, by no whole turn at any pixel.
near() {
	py "
for name in sys.argv[2:]:
	f, t = read_frame(name), read_frame('true.nrrd')
	e = np.angle(np.exp(1j * (f['phase'].astype('f8') - t['phase'])))
	print(name, 'largest error', np.abs(e).max())
	assert np.abs(e).max() <= float(sys.argv[1])" "$@"
}

@test "fourierphase: flat surfaces, upright, slanted and lying fringes, odd sizes: exact but for the borders' prediction" {
	py "
for size, fx, fy in (('160x120', 0.0625, 0), ('161x97', 0.0911, 0.013), ('97x161', -0.021, 0.11), ('300x31', 0.05, 0.02),
		('31x300', -0.002, 0.06)):
	w, h = map(int, size.split('x'))
	y, x = np.mgrid[:h, :w].astype('f8')
	phase = 0.5 + 2 * np.pi * (fx * x + fy * y)
	write_frames('wave' + size + '.nrrd', [Frame((120 + 80 * np.cos(phase)).astype('f4'))])
	write_frames('true' + size + '.nrrd', [Frame(phase.astype('f4'), ['phase'])])"
	for size in 160x120 161x97 97x161 300x31 31x300; do
		silent fourierphase --transform lines wave$size.nrrd -o "lines$size.nrrd"
		silent fourierphase wave$size.nrrd -o "phase$size.nrrd"
	done
	py "
import glob
names = sorted(glob.glob('lines*')) + sorted(glob.glob('phase*'))
assert len(names) == 10, names
for name in names:
	f = read_frame(name)
	e = np.abs(np.angle(np.exp(1j * (f['phase'].astype('f8') - read_frame('true' + name[5:])['phase']))))
	print(name, 'largest error', e.max())
	assert e.max() < 0.008 and (min(e.shape) < 90 or e[24:-24, 24:-24].max() < 0.001)
	if name[:5] == 'lines': continue
	assert f.names == ['phase', 'modulation', 'texture'], f.names
	assert np.abs(f['modulation'] - 2 / 3).max() < 0.02, np.abs(f['modulation'] - 2 / 3).max()
	assert np.abs(f['texture'] - 200).max() < 6, np.abs(f['texture'] - 200).max()"
}

@test "fourierphase: the carrier that it finds is that of the fringes, is a key, and taken by --carrier gives the same" {
	waves 200x150 0.071 -0.02
	fourierphase -v wave.nrrd -o found.nrrd 2>log
	grep -q "fringes of 14.0[789] px along x, --carrier 14.0[789][0-9]*,-\(49.9\|50\)" log
	py "
c = [1 / float(v) for v in read_frame('found.nrrd').meta['carrier_px'].split()]
assert np.hypot(c[0] - 0.071, c[1] + 0.02) < 2e-4, c"
	carrier=$(frameinfo found.nrrd | sed -n 's/^ *carrier_px:=//p')
	fourierphase --carrier "${carrier/ /,}" wave.nrrd -o given.nrrd
	framecmp --max 1e-4 found.nrrd given.nrrd
	# one of little more than two pixels is not looked for, but taken
	waves 200x150 0.39 0
	fails 1 "no fringes stand out" fourierphase wave.nrrd -o found.nrrd
	silent fourierphase --carrier 2.5 wave.nrrd -o given.nrrd
	near 0.05 given.nrrd
}

# A surface of waves of 140 px spreads the fringes over 1 - S to 1 + S times their frequency, on either side alike; the
# tops of its spectrum lie near the ends.
@test "fourierphase: the carrier is the middle of what a surface spreads the fringes over" {
	for slope in 0.3 0.4 0.5 0.6; do
		waves 400x300 0.0714286 0 "
phase += $slope * 10 * np.sin(2 * np.pi * x / 140 + 1) * np.cos(2 * np.pi * y / 182); I = 120 + 80 * np.cos(phase)"
		silent fourierphase wave.nrrd -o phase.nrrd
		py "
f, t, slope = read_frame('phase.nrrd'), read_frame('true.nrrd')['phase'], float(sys.argv[1])
x, y = (float(v) for v in f.meta['carrier_px'].split())
off = np.hypot(14 / x - 1, 14 / y if y else 0)
e = np.angle(np.exp(1j * (f['phase'].astype('f8') - t)))
print('slope', slope, 'carrier off by', off, 'largest error', np.abs(e).max(), 'rms', np.sqrt((e ** 2).mean()))
# twice what is measured; the phase a fifth above it, what the window takes from the ends of the band
expect(off < 0.02 and np.sqrt((e ** 2).mean()) < {0.3: 0.014, 0.4: 0.042, 0.5: 0.087, 0.6: 0.145}[slope], off)" $slope
	done
}

@test "fourierphase: fringes whose crests are saturated keep their period" {
	for period in 8 12 20; do
		for most in 180 120 80; do
			waves 320x240 0 0 "
phase = 0.5 + 2 * np.pi * x / $period; I = np.minimum(120 + 80 * np.cos(phase) + np.random.default_rng(1).normal(size=x.shape), $most)"
			fourierphase -q --max-value $most wave.nrrd -o phase.nrrd
			py "
x, y = (float(v) for v in read_frame('phase.nrrd').meta['carrier_px'].split())
expect(abs($period / x - 1) < 0.01 and (y == 0 or abs(y) > 50 * $period), $period, $most, x, y)"
		done
	done
}

@test "fourierphase: the outermost period is of use, with relief and noise" {
	waves 320x240 0.0625 0 "
phase += 1.5 * np.sin(x / 25 + 1) * np.cos(y / 30); I = 120 + 80 * np.cos(phase) + np.random.default_rng(1).normal(size=x.shape) * 3"
	for how in 2d lines; do
		fourierphase --transform $how wave.nrrd -o $how.nrrd
	done
	py "
rms = lambda a: np.sqrt((a ** 2).mean())
for how in '2d', 'lines':
	f, t = read_frame(how + '.nrrd'), read_frame('true.nrrd')
	e = np.angle(np.exp(1j * (f['phase'].astype('f8') - t['phase'])))
	inside, sides, ends = rms(e[32:-32, 32:-32]), rms(np.r_[e[:, :16].ravel(), e[:, -16:].ravel()]), rms(np.r_[e[:16], e[-16:]])
	print(how, 'inside', inside, 'left and right', sides, 'top and bottom', ends)
	assert inside < 0.02 and sides < 0.03 and ends < 0.03"
}

@test "fourierphase: noise is what the window lets through, all shapes, lines and 2-D" {
	waves 360x270 0.0625 0 "I += np.random.default_rng(2).normal(size=x.shape) * 4"
	for how in 2d lines; do
		for shape in tukey hann gauss; do
			for width in $([ $shape = tukey ] && echo 0.75 0.4 || echo 0.75); do
				fourierphase --carrier 16 --transform $how --window $shape --window-width $width wave.nrrd \
					-o "phase $how $shape $width .nrrd"
			done
		done
	done
	py "
import glob
names = glob.glob('phase *.nrrd')
assert len(names) == 8, names
for name in names:
	how, shape, width = name.split()[1:4]
	u = (np.arange(20000) + 0.5) / 20000
	w = {'tukey': np.where(u < 0.5, 1, (1 + np.cos(np.pi * (2 * u - 1))) / 2), 'hann': (1 + np.cos(np.pi * u)) / 2,
		'gauss': np.exp(-4.5 * u * u)}[shape]
	a = float(width) / 16
	band = 2 * a * (w ** 2).mean() if how == 'lines' else 2 * np.pi * a * a * (u * w ** 2).mean()
	f, t = read_frame(name), read_frame('true.nrrd')
	e = np.angle(np.exp(1j * (f['phase'].astype('f8') - t['phase'])))[48:-48, 48:-48]
	ratio = np.sqrt((e ** 2).mean()) / (np.sqrt(2 * band) * 4 / 80)
	print(name, 'scatter over theory', ratio)
	# a narrow window leaves few independent values: 4 standard deviations of their rms
	cells = e.size * (band if how == '2d' else band)
	assert abs(ratio - 1) < 0.02 + 4 / np.sqrt(2 * cells), (ratio, cells)"
}

@test "fourierphase: a flat image takes the texture out, the quotient more than the difference; white and black likewise" {
	py "
from subprocess import check_output as run
import os
d = sys.argv[1]
t = read_frame(d + '/truth.nrrd')['absphase']
white, black = read_frame(d + '/white.nrrd')['image'], read_frame(d + '/black.nrrd')['image']
write_frames('flat.nrrd', [Frame((white + black) / 2)])
def rms(*words):
	run(['fourierphase', *words, '-o', 'f.nrrd'])
	f = read_frame('f.nrrd')
	return np.sqrt((np.angle(np.exp(1j * (f['phase'] - t))) ** 2).mean()), f
face = d + '/face.nrrd'
one, _ = rms(face)
order = ['-F', '1', '--order']
difference, _ = rms(*order, 'phase', '--flat-removal', 'difference', face, 'flat.nrrd')
quotient, q = rms(*order, 'phase', face, 'flat.nrrd')
both, b = rms('-F', '2', face, d + '/white.nrrd', d + '/black.nrrd')
turned, _ = rms(*order, 'flat,phase', 'flat.nrrd', face)
print('one', one, 'difference', difference, 'quotient', quotient, 'white and black', both)
assert quotient < difference / 1.5 < one / 3, (one, difference, quotient)
assert quotient < 0.02 and both < 0.02 and turned == quotient
# texture is white's, modulation that of the fringes
assert np.abs(b['texture'] - white).max() < 0.15 * white.max() and abs(np.median(b['texture'] / white) - 1) < 0.01
assert abs(np.median(b['modulation']) - 100 / 127) < 0.01, np.median(b['modulation'])" "$data_of"
}

@test "fourierphase: a described image's phase is that of all steps: shift, origin, direction; 2+1 takes sine and flat" {
	for axis in x y; do
		fringesim -q -s 256x200 -p 20 -n 4 -a $axis --ref-plane 1,0.3,0.3 -c 5 --scene plane --bits float -o steps.nrrd
		phasewrap steps.nrrd -o step$axis.nrrd
		run --separate-stderr fourierphase --carrier 20.944,20.944 -a $axis steps.nrrd -o each$axis.nrrd
		[[ $stderr == *"measurements 0 and 1 show the same fringes, moved by 90 degrees"* ]]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	py "
for axis in 'xy':
	all = read_frames('each' + axis + '.nrrd')
	assert len(all) == 4 and all[0].meta['axis'] == axis and all[0].meta['period_px'] == '20'
	for f in all:
		e = np.angle(np.exp(1j * (f['phase'] - read_frame('step' + axis + '.nrrd')['phase'])))
		assert np.abs(e).max() < 0.02, np.abs(e).max()"
	fringesim -q -s 256x200 -p 20 -k 2+1 --ref-plane 1,0.3,0 -c 5 --scene plane --bits float -o two.nrrd
	phasewrap two.nrrd -o step.nrrd
	silent fourierphase -F 1 two.nrrd -o one.nrrd
	framecmp --table --max 0.01 --channels phase step.nrrd one.nrrd || py "
e = np.angle(np.exp(1j * (read_frame('one.nrrd')['phase'] - read_frame('step.nrrd')['phase'])))
assert np.abs(e).max() < 0.01, np.abs(e).max()"
}

@test "fourierphase: shift, origin and direction by options" {
	waves 200x120 0.06 0
	fourierphase wave.nrrd -o plain.nrrd
	fourierphase --shift 50 --phase-origin 20 wave.nrrd -o turned.nrrd
	fourierphase --shift 50 --sign -1 wave.nrrd -o back.nrrd
	fourierphase --mirrored wave.nrrd -o mirrored.nrrd
	fourierphase --carrier -16.667 wave.nrrd -o negative.nrrd
	fourierphase --as vector wave.nrrd -o vector.nrrd
	py "
phase = lambda name: read_frame(name)['phase'].astype('f8')
turn = lambda a: np.abs(np.angle(np.exp(1j * a))).max()
p = phase('plain.nrrd')
assert turn(phase('turned.nrrd') - p + np.radians(70)) < 1e-5
assert turn(phase('back.nrrd') - p - np.radians(50)) < 1e-5
assert turn(phase('mirrored.nrrd') + p) < 1e-5
assert turn(phase('negative.nrrd') + p) < 1e-3
assert read_frame('mirrored.nrrd').meta['carrier_px'].startswith('-16.6')
v = read_frame('vector.nrrd')
assert v.names == ['cos', 'sin', 'modulation', 'texture']
assert turn(np.arctan2(v['sin'], v['cos']) - p) < 1e-5"
}

@test "fourierphase: holes and saturated pixels are NaN and the others hold; limits" {
	waves 240x180 0.0625 0 "
rng = np.random.default_rng(3)
I[60:75, 100:130] = np.nan; I[rng.random(I.shape) < 0.01] = np.inf; I[150:170, 20:40] = 250; I[:, :9] = np.nan; I[:4] = np.nan"
	run --separate-stderr fourierphase --max-value 240 wave.nrrd -o phase.nrrd
	[ -z "$stderr" ]
	py "
I, f, t = read_frame('wave.nrrd')['image'], read_frame('phase.nrrd'), read_frame('true.nrrd')['phase']
bad = ~(I < 240)
assert (np.isnan(f['phase']) == bad).all()
assert (np.isnan(f['texture']) == ~np.isfinite(I)).all() and (np.isnan(f['modulation']) == ~np.isfinite(I)).all()
e = np.abs(np.angle(np.exp(1j * (f['phase'] - t))))[~bad]
print('largest', e.max(), '99 %', np.quantile(e, 0.99))
assert e.max() < 0.15 and np.quantile(e, 0.99) < 0.03"
	waves 240x180 0.0625 0 "I = np.where(x < 120, 60 + 5 * np.cos(phase), I)"
	for limit in "--dark 90" "--min-amplitude 40" "--min-modulation 0.45"; do
		silent fourierphase --carrier 16 $limit wave.nrrd -o "${limit%% *}.nrrd"
	done
	py "
for limit in '--dark', '--min-amplitude', '--min-modulation':
	f = read_frame(limit + '.nrrd')
	assert np.isnan(f['phase'][:, :96]).all() and not np.isnan(f['phase'][:, 144:]).any(), limit
	assert not np.isnan(f['texture']).any(), limit"
	fails 1 "no pixel of phase is valid, though the input has some" fourierphase --dark 300 wave.nrrd -o phase.nrrd
	fails 0 "% of the pixels are saturated" fourierphase --max-value 150 --min-amplitude 1 wave.nrrd -o phase.nrrd
}

@test "fourierphase: a hole does not turn the fringes round" {
	fringesim -s 160x120 -p 16 -n 4 -q | framecat -q --frames 0 -o set.nrrd
	py 'f = read_frame("set.nrrd").pixels[0].astype("f4")
for n in 10, 25, 30, 40:
	g = f.copy()
	g[40:40 + n, 50:50 + n] = np.nan
	write_frames("hole%d.nrrd" % n, Frame(g))'
	for n in 10 25 30 40; do
		fourierphase -q hole$n.nrrd -o out.nrrd
		# of fringes of 12 to 22 pixels along x
		py 'x, y = (float(v) for v in read_frame("out.nrrd").meta["carrier_px"].split())
expect(12 < x < 22 and (y == 0 or abs(y) > 100), x, y)'
	done
}

@test "fourierphase: 8 and 16 bits, one colour of an image, a 12-bit camera" {
	waves 200x150 0.06 0 "
b = np.clip(I, 0, 255)
write_frames('8.nrrd', [Frame(np.round(b).astype('u1'))]); write_frames('16.nrrd', [Frame(np.round(b * 200).astype('<u2'))])
write_frames('rgb.nrrd', [Frame(np.round(np.stack([b / 3, b, b / 2])).astype('u1'), ['r', 'g', 'b'])])
write_frames('12.nrrd', [Frame(np.minimum(np.round(b * 22), 4095).astype('<u2'))])"
	for image in 8.nrrd 16.nrrd "--channel g rgb.nrrd"; do
		silent fourierphase $image -o "of ${image##* }"
	done
	near 0.03 "of 8.nrrd" "of 16.nrrd" "of rgb.nrrd"
	fails 1 "in colour" fourierphase rgb.nrrd -o phase.nrrd
	fails 0 "4095" fourierphase 12.nrrd -o phase.nrrd
}

@test "fourierphase: without fringes it fails; two patterns, other fringes than --carrier's, unlit parts get a word" {
	py "
rng = np.random.default_rng(4)
y, x = np.mgrid[:200, :300]
put = lambda name, a: write_frames(name, [Frame(a.astype('f4'))])
put('plain.nrrd', x * 0 + 90.0)
put('noise.nrrd', 90 + rng.normal(size=x.shape) * 20)
f = np.hypot(*np.meshgrid(np.fft.fftfreq(300), np.fft.fftfreq(200))); f[0, 0] = 1
put('texture.nrrd', 90 + 20 * np.fft.ifft2(np.fft.fft2(rng.normal(size=x.shape)) / f ** 1.2).real)
put('edge.nrrd', 40.0 + 150 * (x + 0.1 * y > 170))
put('two.nrrd', 90 + 40 * np.cos(x / 2) + 35 * np.cos(y / 3))
put('along.nrrd', 90 + 40 * np.cos(x / 4) + 40 * np.cos(x * 1.1))
put('half.nrrd', np.where(x < 200, 90 + 40 * np.cos(x / 2), 90 + rng.normal(size=x.shape)))
put('lying.nrrd', 90 + 40 * np.cos(y / 2))
put('missing.nrrd', x * np.nan)
put('small.nrrd', (90 + 40 * np.cos(x / 2))[:3, :20])"
	for image in plain noise texture edge missing; do
		fails 1 "no fringes stand out in its spectrum" fourierphase $image.nrrd -o phase.nrrd
		[ ! -e phase.nrrd ]
	done
	fails 0 "fringes of 12.57 px along x and others of 18.8" fourierphase two.nrrd -o phase.nrrd
	fails 0 "fringes of 18.8" fourierphase -a y two.nrrd -o phase.nrrd
	fails 0 "and others of" fourierphase along.nrrd -o phase.nrrd
	fails 0 "pixels have less than a tenth of the fringes' amplitude" fourierphase half.nrrd -o phase.nrrd
	silent fourierphase --min-amplitude 6 half.nrrd -o phase.nrrd
	silent fourierphase lying.nrrd -o phase.nrrd
	frameinfo phase.nrrd | has "axis:=y"
	fails 1 "no fringes vary along x, but some of 12.5" fourierphase -a x lying.nrrd -o phase.nrrd
	silent fourierphase -a x --carrier 0,12.57 lying.nrrd -o phase.nrrd
	frameinfo phase.nrrd | has "axis:=x"
	fails 0 "not 30 px along x as --carrier says" fourierphase --carrier 30 --min-amplitude 1e-6 two.nrrd -o phase.nrrd
	fails 0 "no fringes of about 30 px along x stand out" fourierphase --carrier 30 noise.nrrd -o phase.nrrd
	fails 1 "has 1.6 fringes of 12.5" fourierphase -q --carrier 12.566 small.nrrd -o small-phase.nrrd
}

@test "fourierphase: flat images in the wrong place, images that are steps, a flat image taken for a measurement" {
	waves 200x150 0.06 0 "
put = lambda name, a: write_frames(name, [Frame(a.astype('f4'))])
put('flat.nrrd', I * 0 + 120); put('zero.nrrd', I * 0); put('white.nrrd', I * 0 + 200); put('black.nrrd', I * 0 + 40)
put('next.nrrd', 120 + 80 * np.cos(phase + 2)); put('moved.nrrd', 120 + 80 * np.cos(phase + 2 * np.sin(y / 20)))"
	fails 1 "image 2, taken for a flat one, has the fringes: --order flat,phase" \
		fourierphase -F 1 flat.nrrd wave.nrrd -o phase.nrrd
	fails 1 "white is nowhere brighter than black" fourierphase -F 2 wave.nrrd black.nrrd white.nrrd -o phase.nrrd
	fails 1 "the flat image is black" fourierphase -F 1 wave.nrrd zero.nrrd -o phase.nrrd
	fails 1 "is it a flat image: --flats 1?" fourierphase wave.nrrd flat.nrrd -o phase.nrrd
	fails 1 "a measurement is 2 images" fourierphase -F 1 wave.nrrd -o phase.nrrd
	fails 0 "moved by 115 degrees" fourierphase wave.nrrd next.nrrd -o phase.nrrd
	silent fourierphase wave.nrrd wave.nrrd moved.nrrd -o phase.nrrd
	# an image that says what it is, and flat ones that say nothing
	py 'wave = read_frame("wave.nrrd")
wave.meta = {"role": "phase", "axis": "x", "period_px": "16", "step": "0", "steps": "4", "shift_rad": "0", "set_images": "4"}
write_frames("keyed.nrrd", wave)'
	for flats in "-F 1 NAME.nrrd flat.nrrd" "-F 2 NAME.nrrd white.nrrd black.nrrd"; do
		# shellcheck disable=SC2086
		{
			fourierphase ${flats/NAME/wave} -o bare.nrrd
			fourierphase ${flats/NAME/keyed} -o said.nrrd
		}
		framecmp bare.nrrd said.nrrd
	done
	fails 1 "image 2 has no key role, which others have: give --flats if it is a flat one" \
		fourierphase -p 16,18 keyed.nrrd flat.nrrd -o phase.nrrd
	# each image of a sequence as if it came alone
	fourierphase moved.nrrd -o alone.nrrd
	framecat -q --frames 2 phase.nrrd | framecmp - alone.nrrd
}

@test "fourierphase: options that belong to other kinds, and its own with another kind" {
	waves 64x32 0.1 0
	for words in "-n 3" "-G 4" "--gray-cell half -k fourier" "--rgb" "--flat 1" "--fit-residual" "--max-fit-residual 1" \
		"--flat-removal quotient" "--carrier 0" "--carrier 0,0" "--carrier 1.5" "--carrier 9,2" "--carrier 9,9,9" \
		"--carrier 9 -p 9,10" "--carrier 9 --mirrored" "--window box" "--window-width 1.1" "--window-width 0" "--transform 3d"; do
		run --separate-stderr fourierphase $words wave.nrrd -o phase.nrrd
		[ "$status" -eq 2 ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		[ ! -e phase.nrrd ]
	done
	for words in "--carrier 9" "--mirrored" "--transform lines" "--window hann" "--window-width 0.5" "--flat-removal difference"; do
		fails 2 "is for fourierphase" phasewrap -n 3 $words wave.nrrd wave.nrrd wave.nrrd -o phase.nrrd
	done
	fails 1 "2 shifts for 1 image" fourierphase -s 10,20 wave.nrrd -o phase.nrrd
	fails 1 "holds phases already" fourierphase true.nrrd -o phase.nrrd
}

@test "fourierphase: phasewrap --kind fourier is its old spelling, alone and in a chain" {
	waves 64x48 0.1 0
	fourierphase --carrier 10 wave.nrrd -o new.nrrd
	phasewrap --carrier 10 -k fourier wave.nrrd | cmp - new.nrrd
	phasewrap wave.nrrd --kin=fourier --carrier=10 | cmp - new.nrrd
	fringepipe phasewrap --carrier 10 -k fourier wave.nrrd , framecat | framecmp - new.nrrd
	fourierphase -k fourier --carrier 10 wave.nrrd | cmp - new.nrrd
	frameinfo new.nrrd | has "cmd.1:=fourierphase --carrier=10 \[1\]"
	phasewrap -k fourier --help | has "^usage: fourierphase"
	run -0 phasewrap --help
	[[ $output != *fourier* && $output != *carrier* && $output != *fit-noise* ]]
	# the last occurrence counts
	fails 2 "phasewrap: --carrier: is for fourierphase" phasewrap -k fourier --carrier 10 -k step wave.nrrd
	fails 2 "fourierphase: --gray: unknown" phasewrap -k fourier --gray 4 wave.nrrd
	fails 2 "must be fourier, not 'step'" fourierphase -k step wave.nrrd
}

@test "fourierphase: a row and a column by itself have their own modulation, and the noise of lines as sigma" {
	py '
rng = np.random.default_rng(1)
turns = 2 * np.pi * np.arange(4000) / 12
noise = rng.normal(0, 2, 4000)
for name, shape in ("row", (1, 1, 4000)), ("column", (1, 4000, 1)):
	pixels = (120 + 100 * np.cos(turns) + noise).reshape(shape).astype("f4")
	write_frames(name + ".nrrd", [Frame(pixels, ["image"], {})])'
	fourierphase -q --carrier 12,0 -a x --sigma --read-noise 2 --quantum 0 row.nrrd -o row.out.nrrd
	fourierphase -q --carrier 0,12 -a y --sigma --read-noise 2 --quantum 0 column.nrrd -o column.out.nrrd
	py '
turns = 2 * np.pi * np.arange(4000) / 12
for name in "row", "column":
	f = read_frame(name + ".out.nrrd")
	inner = np.s_[40:-40]
	error = np.angle(np.exp(1j * (f["phase"].ravel() - turns)))[inner]
	z = np.sqrt((error ** 2).mean()) / f["sigma"].ravel()[inner].mean()
	modulation = f["modulation"].ravel()[inner]
	expect(abs(z - 1) < 0.12, name, z)
	expect(abs(modulation.mean() * 120 / 100 - 1) < 0.005, name, modulation.mean())'
}

@test "fourierphase: a manifest says which images are fringes and flats; of its steps the first is taken" {
	mkdir captures
	fringesim -q -f -s 200x150 -p 16 --flats --ref-plane 1,0.38,0 -c 5 --scene plane -m captures/list.csv -o captures
	fourierphase -v -m captures/list.csv -o phase.nrrd 2>log
	cat log
	has "later steps are left out" <log
	fourierphase -q -F 2 captures/phase_00.png captures/uniform_0_white.png captures/uniform_1_black.png -o images.nrrd
	framecmp --channels phase phase.nrrd images.nrrd
}

@test "fourierphase: two frequencies of one image each, unwrapped; a surface against its plane" {
	for scene in plane relief; do
		height=$([ $scene = relief ] && echo 8 || echo 0)
		fringesim -q -s 160x120 -p 12,13 -c 3 --ref-plane 1,0.45,0 --scene $scene --height $height --bits float \
			--truth $scene.truth.nrrd | framecat -q --frames 0,3 --delete role -o $scene.nrrd
		fourierphase -p 12,13 -s -120 $scene.nrrd -o $scene.phase.nrrd
		unwrap2f $scene.phase.nrrd -o $scene.abs.nrrd
	done
	phase2depth --ref plane.abs.nrrd -c 3 relief.abs.nrrd -o depth.nrrd
	# one frequency: unwrapped in space, the difference of the two
	for scene in plane relief; do
		at=$(py "print(read_frame('$scene.truth.nrrd')['absphase'][60, 80])")
		unwrapq --channel phase1 --anchor "80,60,$at" $scene.phase.nrrd -o $scene.one.nrrd
	done
	phase2depth --ref plane.one.nrrd -c 3 relief.one.nrrd -o spatial.nrrd
	py "
true = read_frame('relief.truth.nrrd')['depth']
for name in ('depth.nrrd', 'spatial.nrrd'):
	e = (read_frame(name)['depth'] - true)[16:-16, 16:-16]
	print(name, 'rms of', np.ptp(true), 'mm:', np.sqrt((e ** 2).mean()))
	assert np.sqrt((e ** 2).mean()) < 0.15"
}

@test "fourierphase: the same bytes for any number of threads and any processor; in a chain as in a pipe" {
	fourierphase -j 1 "$data_of/face.nrrd" -o one.nrrd
	for j in 2 5; do
		fourierphase -j $j "$data_of/face.nrrd" -o other.nrrd
		cmp one.nrrd other.nrrd
	done
	for level in $(cpu_levels); do
		FRINGEPIPE_CPU=$level fourierphase "$data_of/face.nrrd" -o other.nrrd
		cmp one.nrrd other.nrrd
	done
	fourierphase "$data_of/face.nrrd" | gauss -o pipe.nrrd
	fringepipe fourierphase "$data_of/face.nrrd" , gauss -o chain.nrrd
	cmp pipe.nrrd chain.nrrd
}

# The page's row of the eye: the six figures as it defines them.
@test "fourierphase: one image of a real set against the phase of all its steps, within the band of its window" {
	need_data slmaster_eye_12step_gray
	phasewrap -q -n 12 "$data"/slmaster_eye_12step_gray/phase_*.png -o step.nrrd
	fourierphase -q "$data/slmaster_eye_12step_gray/phase_00.png" -o one.nrrd
	EYE=$data/slmaster_eye_12step_gray py "
import os
from PIL import Image
s, f = read_frame('step.nrrd'), read_frame('one.nrrd')
amplitude = s['modulation'] * s['texture'] / (1 + s['modulation'])
images = [np.asarray(Image.open(os.environ['EYE'] + '/phase_%02d.png' % k), float) for k in range(12)]
write_frames('fringes.nrrd', [Frame((amplitude * np.cos(s['phase'])).astype('f4'))])
write_frames('first.nrrd', [Frame(images[0].astype('f4')), Frame(np.mean(images, 0).astype('f4'))])
print(f.meta['carrier_px'].replace(' ', ','))" >carrier
	fourierphase -q --carrier "$(cat carrier)" fringes.nrrd -o band.nrrd
	fourierphase -q -F 1 --carrier "$(cat carrier)" first.nrrd -o flat.nrrd
	grep '^eye (12 steps)' "$top/man/fringepipe-phase.7" >row
	py "
period, *page = [float(v) for v in open('row').read().split(')')[1].split()]
s, f, q, b = (read_frame(n + '.nrrd') for n in ('step', 'one', 'flat', 'band'))
amplitude = s['modulation'] * s['texture'] / (1 + s['modulation'])
good, far = amplitude >= 8, np.pad(amplitude < 8, 41)
expect(abs(np.hypot(*[1 / float(v) for v in f.meta['carrier_px'].split()]) * period - 1) < 2e-3, f.meta['carrier_px'])
# pixels a period and more from those that do not count: none of them in the disk
near = np.zeros(good.shape, bool)
for y in range(-41, 42):
	half = int(np.sqrt(41 ** 2 - y * y))
	sum = np.cumsum(np.pad(far[41 + y:41 + y + 560], ((0, 0), (1, 0))), 1)
	near |= sum[:, 41 + half + 1:41 + half + 631] > sum[:, 41 - half:41 - half + 630]
def error(a, b, where):
	e = np.angle(np.exp(1j * (a['phase'].astype(float) - b['phase'])))[where]
	return np.sqrt((e ** 2).mean()), np.median(np.abs(e))
found = [*error(f, s, good), *error(q, s, good), error(f, b, ~near)[0], error(q, b, ~near)[0]]
print('page', page, 'found', found)
expect(np.abs(np.array(found) - page) < 0.0015, page, found)"
}
