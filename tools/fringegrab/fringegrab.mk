PACKAGES_fringegrab := aravis-0.8
DEBIAN_fringegrab := libaravis-dev libusb-1.0-0-dev
PROGRAM_fringegrab := own
