"""What to install for a module that cannot be imported: the package often has another name than its module."""

from __future__ import annotations

import sys

# The packages of modules that have other names, as people import them most.
_PACKAGES = {
    "Crypto": "pycryptodome",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "PIL": "Pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "discord": "discord.py",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "github": "PyGithub",
    "googleapiclient": "google-api-python-client",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "ldap": "python-ldap",
    "magic": "python-magic",
    "markdown_it": "markdown-it-py",
    "nacl": "PyNaCl",
    "pkg_resources": "setuptools",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "pymysql": "PyMySQL",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "telegram": "python-telegram-bot",
    "usb": "pyusb",
    "win32api": "pywin32",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
_INSTEAD = "import the same names from `mcp_bash.fastmcp`, which needs nothing installed (docs/from-fastmcp.md)"
_FASTMCP = "; this file is written for FastMCP: " + _INSTEAD


def remedy(problem: BaseException) -> str:
    """How to install the module that is missing, for the Python that runs; empty for other problems."""
    if not isinstance(problem, ModuleNotFoundError) or not problem.name:
        return ""
    module = problem.name.partition(".")[0]
    if module == "fastmcp" or problem.name.startswith("mcp.server"):
        return _FASTMCP
    if module == "mcp":
        return "; if this file is a server of FastMCP, " + _INSTEAD + "; if it is a client, install the package `mcp`"
    package = _PACKAGES.get(module, module)
    if sys.prefix != sys.base_prefix:
        return "; install it: `%s -m pip install %s`" % (sys.executable, package)
    return "; make a `.venv` in the project (`python3 -m venv .venv`) and install it there: `.venv/bin/pip install %s`" % package
