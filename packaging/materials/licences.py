"""The licences of everything in the program, as one text: who uses which, then each text once."""

import re

from linked_by_toolchain import PARTS

FILES = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)

# What a crate without a file of its own means by the name.
MIT = """{copyright}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""

RULE = "-" * 100


class NoLicence(Exception):
    pass


def licences(linked, target):
    """Raises `NoLicence` if the text of one cannot be found."""
    texts, lines = {}, []
    for crate in linked.crates:
        lines.append(f"{crate.name} {crate.version}: {crate.licence}")
        for text in texts_of(crate):
            texts.setdefault(text, []).append(f"{crate.name} {crate.version}")
    llvm = next((text for text in texts if "LLVM Exceptions to the Apache 2.0 License" in text), None)
    for part in PARTS:
        if not part.is_in(target):
            continue
        lines.append(f"{part.title}: {part.licence}")
        text = MIT.format(copyright=part.copyright) if "MIT" in part.licence else llvm
        if text is None:
            raise NoLicence(f"no crate has the text of {part.licence}, which {part.title} needs")
        texts.setdefault(text, []).append(part.title)
    used = "\n\n".join(f"{RULE}\n{', '.join(users)}\n{RULE}\n\n{text.strip()}" for text, users in texts.items())
    return (
        f"mcp-bash for {target} contains the following works of others. Where a licence names several, you may choose.\n\n"
        + "\n".join(lines)
        + f"\n\n{used}\n"
    )


def texts_of(crate):
    files = sorted(path for path in crate.folder.iterdir() if FILES.match(path.name) and path.is_file())
    if files:
        return [path.read_text(errors="replace").replace("\r\n", "\n").strip() + "\n" for path in files]
    if "MIT" in re.split(r"[ ()]+", crate.licence):
        authors = ", ".join(re.sub(r" *<[^>]*>", "", author) for author in crate.authors)
        return [MIT.format(copyright=f"Copyright (c) {authors or f'the authors of {crate.name}'}")]
    raise NoLicence(f"{crate.name} {crate.version} ({crate.licence}) has no licence file; add its text to {__file__}")
