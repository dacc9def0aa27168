load ../agreement

@test "agree: gauss" {
	agrees gauss <<'CASES'
float phase:-3.14..3.14 | period_px:=60 | gauss
float texture:0..1 phase1:-1..1 phase2:-3.14..3.14 | period_px:=60 66 | gauss -n 5 --as vector
float cos:-1..1 texture:0..1 sin:-1..1 | | gauss -n 3
float sin1:-1..1 cos1:0..1 depth:0..1000 | | gauss -n 3 -s 1 --as vector
float phase:-1..1 texture:0..1 depth:-10..100 | period_px:=60 | gauss -n 9 --on depth,texture
float phase:-3.14..3.14 depth:0..1 | period_px:=60 | gauss -n 1
float phase:-1..1 | period_px:=60 | gauss -n 33 -s 4
float phase:-1..1 depth:0..1 | period_px:=60 | gauss -n 101 --on phase,depth
CASES
}

@test "agree: gauss of sigmas, of phases with holes, of vectors, of depth" {
	agrees gauss <<'CASES'
float phase:-3.1..3.1 sigma:0.01..0.1 | | gauss -n 7
float phase1:-3.1..3.1 phase2:-3.1..3.1 sigma1:0..1 sigma2:0.1..0.2 | | gauss --as vector
float cos:-1..1 sin:-1..1 texture:0..9 sigma:0.01..0.1 | | gauss -n 5
float depth:0..9 sigma:0.01..0.1 | | gauss -n 5 --on depth
CASES
}
