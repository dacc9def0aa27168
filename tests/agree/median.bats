load ../agreement

@test "agree: median" {
	agrees median <<'CASES'
float absphase:-40..40 | axis:=x | median
float absphase:-40..40 texture:0..1 | axis:=y | median
float texture:0..1 absphase:0..6 | axis:=x | median -s row
float absphase:-40..40 | axis:=x | median -s column
float texture:0..1 absphase:-40..40 | axis:=x | median -s box
float absphase:0..6 | axis:=x | median -s box
CASES
}
