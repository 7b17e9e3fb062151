# SPDX-License-Identifier: Apache-2.0
"""Every type has a name of its own: two definitions of one qualified name in two files are
undefined behaviour where one program holds both. Types of anonymous namespaces and of functions are
their file's own. The device library and its host twins are programs of their own."""
import re

from common import Finding, blank_comments, line_of

HEAD = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:struct|class))?)\s+"
                  r"(?:alignas\s*\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*(?P<name>[A-Za-z_][\w:]*)"
                  r"(?P<arguments>\s*<[^{]*?>)?\s*(?:final\s*)?(?::[^{]*)?$")
NAMESPACE = re.compile(r"\bnamespace(?:\s+(?P<name>[\w:]+))?\s*$")
LINKAGE = re.compile(r"\bextern\b\s*$")
DEVICE = re.compile(r"codegen/device/|tests/emulation/ptx/")
#: Folders whose files are many programs, each with its own types.
PROGRAMS = re.compile(r"examples/|tests/(?!support/)(?P<label>\w+)/")


def definitions(text):
    """Yields (qualified name, line) of each type that a file shares with others."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  blank_comments(text), flags=re.MULTILINE)
    scopes = []  # per open brace: the name that it adds; None where nothing inside is shared
    start = 0
    for match in re.finditer(r"[{};]", code):
        head = code[start:match.start()]
        start = match.end()
        if match.group() == "}" and scopes:
            scopes.pop()
        if match.group() != "{":
            continue
        shared = None not in scopes
        space, kind = NAMESPACE.search(head), HEAD.search(head)
        if space:
            scopes.append(space.group("name"))
        elif LINKAGE.search(head):
            scopes.append("")
        elif kind:
            name = kind.group("name") + re.sub(r"\s", "", kind.group("arguments") or "")
            if shared:
                place = start - len(head) - 1 + kind.start()
                yield "::".join(filter(None, [*scopes, name])), line_of(code, place)
            scopes.append(name)
        else:
            scopes.append(None)


def program_of(path):
    """The files that are linked together: the library and its tests' helpers, or one folder of
    programs."""
    if DEVICE.match(path):
        return None
    folder = PROGRAMS.match(path)
    return folder.group() if folder else ""


def check(paths, read):
    """The types of which there are two definitions, at the second."""
    known = {}
    for path in paths:
        program = program_of(path)
        if program is None or not path.endswith((".h", ".cpp", ".c")):
            continue
        for name, line in definitions(read(path)):
            first = known.setdefault((program, name), (path, line))
            if program and ("", name) in known:
                first = known["", name]
            if first[0] != path:
                yield Finding(path, line, f"{name}: {first[0]}:{first[1]} defines a type of this "
                                          "name too; rename one, or make it its file's own")
