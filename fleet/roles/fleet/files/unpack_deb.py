# SPDX-License-Identifier: MIT
"""unpack_deb.py PACKAGE DIRECTORY: unpack a .deb without dpkg; deb(5), ar(5)."""

import io
import sys
import tarfile


def open_data(package):
    """The archive in the member data.tar.*."""
    package.seek(len(b"!<arch>\n"))
    while header := package.read(60):
        size = int(header[48:58])
        if header.startswith(b"data.tar"):
            try:
                return tarfile.open(fileobj=io.BytesIO(package.read(size)))
            except tarfile.ReadError:
                name = header[:16].decode().rstrip(" /")
                sys.exit(f"Python cannot read {name} here: set programs, or deb to a package built on Debian")
        package.seek(size + size % 2, io.SEEK_CUR)
    sys.exit("not a .deb: no data.tar")


with open(sys.argv[1], "rb") as package, open_data(package) as data:
    data.extractall(sys.argv[2])
