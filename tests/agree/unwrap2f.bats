load ../agreement

@test "agree: unwrap2f" {
	agrees unwrap2f <<'CASES'
float phase1:-3.14..3.14 phase2:-3.14..3.14 texture:0..1 | period_px:=60 66; axis:=x x | unwrap2f
float phase1:-3.14..3.14 phase2:-3.14..3.14 phase3:-3.14..3.14 | period_px:=48 56 64; axis:=x x x; projector_px:=1024 768 | unwrap2f --max-residual 0.3
float phase1:-3.14..3.14 phase2:-3.14..3.14 phase3:-3.14..3.14 | period_px:=20 120 720; axis:=x x x; projector_px:=700 700 | unwrap2f -m hierarchical
float phase1:-3.14..3.14 phase2:-3.14..3.14 phase3:-3.14..3.14 | period_px:=48 56 64; axis:=x x x; projector_px:=512 512 | unwrap2f -m best
float phase:-3.14..3.14 index:0..63 | period_px:=20; axis:=x; gray_cell:=period; gray_planes:=6 | unwrap2f
float phase:-3.14..3.14 index:0..1023 | period_px:=20; axis:=x; gray_cell:=column; gray_planes:=10 | unwrap2f -m gray
float phase1:-3.14..3.14 phase2:-3.14..3.14 | period_px:=60 66; axis:=x x | unwrap2f --line 800,30
float phase1:-3.14..3.14 phase2:-3.14..3.14 phase3:-3.14..3.14 phase4:-3.14..3.14 texture:0..1 | period_px:=18 23 31 650; axis:=x x x x; projector_px:=650 512 | unwrap2f
float phase1:-3.14..3.14 phase2:-3.14..3.14 phase3:-3.14..3.14 texture:0..1 | period_px:=60 66 78; axis:=x x x; projector_px:=640 512 | unwrap2f --fuse --all
float phase1:-3.14..3.14 phase2:-3.14..3.14 phase3:-3.14..3.14 | period_px:=66 60 78; axis:=x x x; projector_px:=1920 512 | unwrap2f -u 1 --fuse --sigma 1,2,3
float phase1:-3.14..3.14 phase2:-3.14..3.14 texture:0..1 | period_px:=60 66; axis:=x x | unwrap2f --fuse --all --max-residual 0.3
float phase1:-3.14..3.14 phase2:-3.14..3.14 index:0..63 | period_px:=20 18; axis:=x x; gray_cell:=half; gray_planes:=6 | unwrap2f --fuse --all
CASES
}

@test "agree: unwrap2f of sigmas" {
	agrees unwrap2f <<'CASES'
float phase1:-3.1..3.1 phase2:-3.1..3.1 sigma1:0.05..0.3 sigma2:0.05..0.3 | period_px:=60 66 | unwrap2f --field 600
float phase1:-3.1..3.1 phase2:-3.1..3.1 sigma1:0.05..0.3 sigma2:0.05..0.3 | period_px:=60 66 | unwrap2f --field 600 --fuse --unwrap 2
float phase1:-3.1..3.1 phase2:-3.1..3.1 phase3:-3.1..3.1 sigma1:0.1..0.9 sigma2:0.1..0.3 sigma3:0.1..0.3 texture:0..1 | period_px:=60 66 78 | unwrap2f --field 640 --fuse --sigma 1,2,3 --all
float phase1:-3.1..3.1 phase2:-3.1..3.1 phase3:-3.1..3.1 sigma1:0.1..0.9 sigma2:0.1..0.3 sigma3:0.1..0.3 | period_px:=60 66 78 | unwrap2f --field 640 --fuse
float phase:-3.1..3.1 sigma:0.1..0.9 index:0..20 whole:0..1 | period_px:=60;gray_cell:=half;whole:=1 | unwrap2f
CASES
}

@test "agree: unwrap2f of a Gray code alone, with and without edges" {
	agrees unwrap2f <<'CASES'
float index:0..4 edge:0..1 edge_sigma:0..0.5 texture:0..1 | axis:=x; gray_cell:=column | unwrap2f
float index:0..4 edge:0..1 edge_sigma:0..0.5 | axis:=y; gray_cell:=period | unwrap2f -p 8
CASES
	fringesim -q -s 160x120 -n 3 -p 8 --gray period -a both --inverse --defocus 0.7 --noise 2 -o both.nrrd
	phasewrap -k gray --edges both.nrrd -o edges.nrrd
	for axis in x y; do
		agrees_on unwrap2f edges.nrrd unwrap2f -p 8 -a $axis
	done
	# without edges sigma is one value
	framecat -c index1 edges.nrrd -o code.nrrd
	for device in cpu gpu; do unwrap2f -d $device -p 8 --gray-offset 20 code.nrrd -o $device.nrrd; done
	framecmp --ulp 0 cpu.nrrd gpu.nrrd
}
