PACKAGES_fringeshoot := aravis-0.8 xcb xcb-randr xcb-present
DEBIAN_fringeshoot := libaravis-dev libusb-1.0-0-dev libxcb1-dev libxcb-randr0-dev libxcb-present-dev
PROGRAM_fringeshoot := own
