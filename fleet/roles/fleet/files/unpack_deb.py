# SPDX-License-Identifier: MIT
"""unpack_deb.py PACKAGE DIRECTORY: unpack a .deb without dpkg; deb(5), ar(5)."""

import io
import sys
import tarfile


def data_of(package):
    """The archive member data.tar.*."""
    package.seek(len(b"!<arch>\n"))
    while header := package.read(60):
        size = int(header[48:58])
        if header.startswith(b"data.tar"):
            return io.BytesIO(package.read(size))
        package.seek(size + size % 2, io.SEEK_CUR)
    sys.exit("not a .deb: no data.tar")


with open(sys.argv[1], "rb") as package, tarfile.open(fileobj=data_of(package)) as data:
    data.extractall(sys.argv[2])
