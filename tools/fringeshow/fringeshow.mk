PACKAGES_fringeshow := xcb xcb-randr xcb-present
DEBIAN_fringeshow := libxcb1-dev libxcb-randr0-dev libxcb-present-dev
PROGRAM_fringeshow := own
