# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""python -m lanewise run|env|explain|stats|..: becomes the tool of this wheel."""
import os
import sys

from lanewise import TOOL


def main():
    os.execv(TOOL, ["lanewise", *sys.argv[1:]])


if __name__ == "__main__":
    main()
