load ../agreement

@test "agree: phasewrap" {
	agrees phasewrap <<'CASES'
uchar a:0..255 b:0..255 c:0..255 | | phasewrap -n 3
uchar a:0..255 b:0..255 c:0..255 d:0..254 e:0..254 f:0..254 | | phasewrap -n 3 -p 60,66 --min-modulation 0.1
ushort a:0..65535 b:0..65535 c:0..65535 d:0..65535 e:0..65535 | | phasewrap -n 5 --dark 20000 --min-amplitude 900
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 f:0..1 g:0..1 h:0..1 | | phasewrap -n 8 --as vector
float a:-1..1 b:0..1 c:0..1 d:0..1 | | phasewrap -n 4 --max-value 0.9
uchar a:0..255 b:0..255 c:0..255 | | phasewrap -k 2+1
uchar a:0..255 b:0..255 c:0..255 d:0..255 e:0..255 f:0..255 | | phasewrap -n 3 -p 20 -G 3
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 f:0..1 g:0..1 h:0..1 i:0..1 | | phasewrap -n 3 -p 20 -G 3 -i
uchar a:0..255 b:0..255 c:0..255 d:0..255 e:0..255 f:0..255 g:0..255 h:0..255 | | phasewrap -n 3 -p 20 -G 3 -F 2
uchar a:0..255 b:0..255 c:0..255 d:0..255 e:0..255 | | phasewrap -k gray -G 3 -F 2 --min-modulation 0.2
uchar a:0..255 b:0..255 c:0..255 d:0..254 | | phasewrap -n 4 --fit-residual
ushort a:0..65535 b:0..65535 c:0..65535 d:0..65535 e:0..65535 f:0..65535 g:0..65535 h:0..65535 i:0..65535 j:0..65535 | | phasewrap -n 5 -p 20,30 --fit-residual --max-fit-residual 2 --min-modulation 0.1
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 f:0..1 g:0..1 | | phasewrap -n 5 -p 20 -G 2 --max-fit-residual 1.1 --as vector
uchar a:0..255 b:0..255 c:0..255 d:0..254 e:0..254 f:0..254 | | phasewrap -n 3 -p 60,66 --sigma --read-noise 1.5 --gain 0.04 --black-level 3 --min-modulation 0.1
ushort a:0..65535 b:0..65535 c:0..65535 d:0..65535 e:0..65535 | | phasewrap -n 5 --shift 0,50,130,200,290 --sigma --gain 0.4 --fit-residual --as vector
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 f:0..1 | | phasewrap -n 4 -p 20 -G 2 --sigma --read-noise 0.1 --quantum 0
float a:0..1e-12 b:0..1e-12 c:0..1e-12 d:0..1e-12 e:0..1e-12 | | phasewrap -n 5 --fit-residual
float a:0..1e17 b:0..1e17 c:0..1e17 d:0..1e17 e:0..1e17 | | phasewrap -n 5 --fit-residual
CASES
}

# Twelve steps of a dark and noisy border: modulations a unit below 0.5, where the threshold is.
@test "agree: phasewrap of the real eye, at its modulations" {
	need_data slmaster_eye_12step_gray
	framecat --stack --crop 0,0,630,60 "$data"/slmaster_eye_12step_gray/phase_*.png -o eye.nrrd
	agrees_on phasewrap eye.nrrd phasewrap -n 12 --min-modulation 0.5
	agrees_on phasewrap eye.nrrd phasewrap -n 12 --as vector --fit-residual --max-fit-residual 0.5
}
