.PHONY: agree-all
agree-all: all  ## compare processor and device on more images than `make check` does
	AGREE_ALL=1 tests/run tests/agree_images.bats tests/agree/*.bats tests/rough.bats tests/device.bats tests/gauss.bats
