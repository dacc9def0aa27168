load helpers

# Pipelines whose calls fail one at a time, through a library for LD_PRELOAD (tests/faults); `make faults`
# does all of it, and says more about each finding.

@test "faults: failing calls, short memory, full disks, cut files and signals lose nothing" {
	if nm "$(command -v fringepipe)" | grep '__[at]san_init' >/dev/null; then
		skip "sanitized tools: they are tested by make faults"
	fi
	"$top/tests/faults/run"
}
