# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Where the plugin and the tool of this wheel are. Starting a server: python -m lanewise run -- CMD"""
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
TOOL = FOLDER / "bin" / "lanewise"
PLUGIN = FOLDER / "lib" / "libnccl-tuner-lanewise.so"
