# bats file_tags=long
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
uchar a:0..255 b:0..255 c:0..255 d:0..254 | | phasewrap -n 4 --max-value 150 --saturated solve --sigma --gain 0.1
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 f:0..1 g:0..1 h:0..1 | | phasewrap -n 4 --exposures 2 --exposure-time 1,3 --max-value 0.9 --exposure-map --fit-residual --sigma --read-noise 0.1 --quantum 0 --as vector
uchar a:0..255 b:0..255 c:0..255 d:0..254 e:0..254 f:0..254 g:0..255 h:0..255 | | phasewrap -k double -G 2 --sigma --gain 0.2 --read-noise 3 --min-modulation 0.1
float a:0..1e-12 b:0..1e-12 c:0..1e-12 d:0..1e-12 e:0..1e-12 | | phasewrap -n 5 --fit-residual
uchar a:0..255 b:0..255 c:0..255 d:0..254 | | phasewrap -n 4 --max-value 150 --saturated solve
ushort a:0..65535 b:0..65535 c:0..65535 d:0..65535 e:0..65535 f:0..65535 | | phasewrap -n 6 --max-value 50000 --saturated solve --fit-residual --as vector --min-modulation 0.1
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 f:0..1 g:0..1 h:0..1 | | phasewrap -n 4 --exposures 2 --exposure-time 1,3 --max-value 0.9 --exposure-map
uchar a:0..60 b:0..60 c:0..60 d:0..90 e:0..90 f:0..90 g:0..255 h:0..255 i:0..255 j:0..255 k:0..255 l:0..255 | | phasewrap -n 3 -p 20,30 --exposures 2 --exposure-time 1,2 --max-value 240 --saturated solve
uchar a:0..60 b:0..60 c:0..60 d:0..90 e:0..90 f:0..90 g:0..255 h:0..255 i:0..255 j:0..255 k:0..255 l:0..255 m:0..255 n:0..255 | | phasewrap -n 5 -G 2 --exposures 2 --exposure-time 1,2 --max-value 240 --max-fit-residual 2 --fit-residual --saturated solve
uchar a:0..60 b:0..60 c:0..60 d:0..90 e:0..90 f:0..90 g:0..255 h:0..255 i:0..255 j:0..255 k:0..255 l:0..255 m:0..255 n:0..255 | | phasewrap -n 3 -G 1 -i -F 2 --exposures 2 --exposure-time 2,1 --min-amplitude 3
uchar a:0..255 b:0..255 c:0..255 d:0..254 e:0..254 f:0..254 | | phasewrap -k double
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 f:0..1 g:0..1 h:0..1 i:0..1 j:0..1 k:0..1 l:0..1 m:0..1 n:0..1 | | phasewrap -k double -p 20,30 -G 2 --as vector --fit-residual --max-fit-residual 2 --min-modulation 0.1
ushort a:0..65535 b:0..65535 c:0..65535 d:0..65535 e:0..65535 f:0..65535 g:0..65535 h:0..65535 i:0..65535 | | phasewrap -k double -G 1 -F 2 --dark 9000 --max-value 60000
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 f:0..1 g:0..1 | | phasewrap -n 5 -p 20 -G 2 --fit-residual
float a:0..1e17 b:0..1e17 c:0..1e17 d:0..1e17 e:0..1e17 | | phasewrap -n 5 --fit-residual
uchar a:0..255 b:0..255 c:0..255 d:0..254 e:0..254 f:0..254 | | phasewrap -n 3 -p 60,66 --texture-from mean
float a:0..4e19 b:0..4e19 c:0..1 d:-4e19..1 e:0..1 | | phasewrap -n 5 --texture-from mean
uchar a:0..255 b:0..255 c:0..255 | | phasewrap -k 2+1 --texture-from max
ushort a:0..65535 b:0..65535 c:0..65535 d:0..65535 e:0..65535 f:0..65535 | | phasewrap -k double --texture-from mean
uchar a:0..255 b:0..255 c:0..255 d:0..254 e:0..254 f:0..254 | | phasewrap -k 2+1 --exposures 2 --exposure-time 1,3 --max-value 200
CASES
}

@test "agree: phasewrap of a Gray code alone, its edges" {
	agrees phasewrap <<'CASES'
uchar a:0..255 b:0..255 c:0..255 d:0..255 e:0..255 f:0..255 | | phasewrap -k gray -G 3 -i --min-amplitude 60 --dark 100
uchar a:0..255 b:0..255 c:0..255 d:0..255 | | phasewrap -k gray -G 2 -i --edges
ushort a:0..65535 b:0..65535 c:0..65535 d:0..65535 e:0..65535 f:0..65535 | | phasewrap -k gray -G 3 -i --edges -a y
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 f:0..1 g:0..1 h:0..1 | | phasewrap -k gray -G 2,2 -i --edges --min-modulation 0.2
CASES
}

@test "agree: phasewrap --harmonics" {
	printf 'axis period_px harmonic cosine sine\nx 20 2 0.2 0.02\nx 20 3 -0.05 0\nx 30 2 0.1 0\nx 30 5 0 0.03\n' >h.txt
	agrees phasewrap <<'CASES'
uchar a:0..255 b:0..255 c:0..255 | | phasewrap -n 3 -p 20 --harmonics h.txt
uchar a:0..255 b:0..255 c:0..255 d:0..254 e:0..254 f:0..254 g:0..255 h:0..255 | | phasewrap -n 4 -p 20,30 --harmonics h.txt --sigma --gain 0.2 --read-noise 3 --min-modulation 0.1
uchar a:0..255 b:0..255 c:0..255 d:0..254 e:0..254 f:0..254 | | phasewrap -n 3 -p 20,30 --as vector --harmonics h.txt --min-modulation 0.1
float a:0..1 b:0..1 c:0..1 d:0..1 e:0..1 | | phasewrap -n 5 -p 30 --fit-residual --harmonics h.txt
float a:-1..1 b:0..1 c:0..1 d:0..1 | | phasewrap -n 4 -p 20 --as vector --max-value 0.9 --harmonics h.txt
CASES
}

# Twelve steps of a dark and noisy border: modulations a unit below 0.5, where the threshold is.
@test "agree: phasewrap of the real eye, at its modulations" {
	need_data slmaster_eye_12step_gray
	framecat --stack --crop 0,0,630,60 "$data"/slmaster_eye_12step_gray/phase_*.png -o eye.nrrd
	agrees_on phasewrap eye.nrrd phasewrap -n 12 --min-modulation 0.5
	agrees_on phasewrap eye.nrrd phasewrap -n 12 --max-value 100 --saturated solve
	agrees_on phasewrap eye.nrrd phasewrap -n 12 --as vector --fit-residual --max-fit-residual 0.5
	framecat --stack --crop 0,300,630,60 "$data"/slmaster_eye_12step_gray/phase_*.png -o lit.nrrd
	agrees_on phasewrap lit.nrrd phasewrap -n 12 --shift auto
}
