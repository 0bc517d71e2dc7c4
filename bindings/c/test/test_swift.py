"""Checks what can be checked of the iOS app without Xcode: test_swift.py FOLDER HEADER

Each Swift file parses (with tree-sitter's grammar, where it is installed), and
each name of the library that it uses is in the header.
"""

import pathlib
import re
import sys

folder, header = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text()
known = set(re.findall(r"\b(?:gemwire|GEMWIRE)_\w+", header))
fields = set(re.findall(r"\b([a-z_]+)(?:\)\(|;)", header))
passed = failed = 0


def check(ok, what):
    global passed, failed
    passed, failed = passed + ok, failed + (not ok)
    if not ok:
        print(what, file=sys.stderr)


for file in sorted(folder.glob("*.swift")):
    text = file.read_text()
    for name in sorted(set(re.findall(r"\b(?:gemwire|GEMWIRE)_\w+", text))):
        check(name in known, f"{file}: {name} is not in the header")
    for name in sorted(set(re.findall(r"\b(?:options|result|pointee)\.([a-z_]+)", text))):
        check(name in fields, f"{file}: no struct of the header has a {name}")

try:
    import tree_sitter
    import tree_sitter_swift
except ImportError:
    print("the Swift files are not parsed: pip install tree-sitter tree-sitter-swift", file=sys.stderr)
else:
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_swift.language()))
    for file in sorted(folder.glob("*.swift")):
        root = parser.parse(file.read_bytes()).root_node
        lines, nodes = [], [root]
        while nodes:
            node = nodes.pop()
            if node.is_error or node.is_missing:
                lines.append(node.start_point[0] + 1)
            nodes.extend(node.children)
        check(not root.has_error, f"{file}: does not parse, lines {sorted(set(lines))}")

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or passed == 0)
