LOADED_frameplot := cairo
DEBIAN_frameplot := libcairo2-dev
