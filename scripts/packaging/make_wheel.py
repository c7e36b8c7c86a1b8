#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Makes the wheel of an installed Lanewise: plugin, tool, machines and `python -m lanewise`.

    make_wheel.py INSTALLED VERSION PLATFORM OUT    (manylinux_2_28_x86_64, say)

The same tree gives the same bits: names in order, times of SOURCE_DATE_EPOCH. A wheel cannot hold
links, so NCCL's net and env kinds, which are links to the plugin, are left out. Standard library.
"""
import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
OLDEST_ZIP_TIME = (1980, 1, 1, 0, 0, 0)

METADATA = """Metadata-Version: 2.1
Name: lanewise
Version: {version}
Summary: Fast small all-reduces on PCIe GPUs: a tuner plugin for NCCL and its tool
License: Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""
WHEEL = """Wheel-Version: 1.0
Generator: lanewise
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""
ENTRY_POINTS = """[console_scripts]
lanewise = lanewise.__main__:main
"""


def list_files(installed):
    """{name in the wheel: path}; the plugin comes into lib whatever the installation calls it."""
    plugins = sorted(installed.glob("lib*/**/libnccl-tuner-lanewise.so"))
    if len(plugins) != 1:
        sys.exit(f"make_wheel: {installed}: expected one libnccl-tuner-lanewise.so, found "
                 f"{len(plugins)}")
    files = {"lanewise/bin/lanewise": installed / "bin" / "lanewise",
             "lanewise/lib/libnccl-tuner-lanewise.so": plugins[0]}
    for path in sorted((HERE / "lanewise").glob("*.py")):
        files[f"lanewise/{path.name}"] = path
    share = installed / "share" / "lanewise"
    for path in sorted(share.rglob("*.*")):
        if path.is_file():
            files[f"lanewise/share/lanewise/{path.relative_to(share).as_posix()}"] = path
    return files


def list_texts(version, platform):
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    info = f"lanewise-{version}.dist-info"
    return info, {f"{info}/METADATA": METADATA.format(version=version) + readme,
                  f"{info}/WHEEL": WHEEL.format(platform=platform),
                  f"{info}/entry_points.txt": ENTRY_POINTS,
                  f"{info}/LICENSE": (SOURCE / "LICENSE").read_text(encoding="utf-8")}


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def write_wheel(path, contents, record_name):
    """contents: {name: (data, mode)}."""
    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))[:6]
    record = "".join(record_line(name, data) for name, (data, _) in contents.items())
    contents[record_name] = (f"{record}{record_name},,\n".encode(), 0o644)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, (data, mode) in contents.items():
            entry = zipfile.ZipInfo(name, max(when, OLDEST_ZIP_TIME))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose modes these are
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, data)


def main():
    if len(sys.argv) != 5:
        sys.exit("make_wheel: expected INSTALLED VERSION PLATFORM OUT")
    installed, version, platform, out = sys.argv[1:]
    info, texts = list_texts(version, platform)
    contents = {}
    for name, path in list_files(pathlib.Path(installed)).items():
        contents[name] = (path.read_bytes(), 0o755 if name.startswith("lanewise/bin/") else 0o644)
    for name, text in texts.items():
        contents[name] = (text.encode(), 0o644)
    path = pathlib.Path(out) / f"lanewise-{version}-py3-none-{platform}.whl"
    write_wheel(path, contents, f"{info}/RECORD")
    print(path)


if __name__ == "__main__":
    main()
