#!/usr/bin/env python3
"""format_page.py FORMAT_H PAGE: the tables of docs/trace-format.md agree with format.h.

Each struct of the header has a section in the page whose heading ends in the struct's name in
backquotes, with a table of offset, size and field; each enumerator has its number in the page.
With one argument the tables are printed, to begin a page from.
"""
import re
import sys

SIZES = {"char": 1, "uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "int32_t": 4, "uint64_t": 8,
         "int64_t": 8, "gpuleak_string_id": 4}

Field = tuple[int, int, str]


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def constants(text: str) -> dict[str, int]:
    """Every enumerator with its value; expressions may use those before it."""
    known: dict[str, int] = {}
    for name, value in re.findall(r"\b(GPULEAK_\w+) = ([^,\n}]+)", text):
        value = re.sub(r"sizeof\(struct (\w+)\)", "32", value)
        value = re.sub(r"(\d)u\b", r"\1", value).replace("0xffffffffu", "0xffffffff")
        known[name] = int(eval(value.replace("/", "//"), {}, known))
    return known


def structs(text: str) -> dict[str, list[Field]]:
    known = constants(text)
    sizes = dict(SIZES)
    found: dict[str, list[Field]] = {}
    for name, body in re.findall(r"struct (\w+) \{(.*?)\n\};", text, flags=re.S):
        fields, offset = [], 0
        for kind, field, count in re.findall(r"(?:struct )?(\w+) (\w+)(?:\[(\w+)\])?;", body):
            size = sizes[kind] * (int(known.get(count, count)) if count else 1)
            fields.append((offset, size, field))
            offset += size
        sizes[name] = offset
        found[name] = fields
    return found


def page_tables(page: str) -> dict[str, list[Field]]:
    tables: dict[str, list[Field]] = {}
    for part in re.split(r"^#+ ", page, flags=re.M)[1:]:
        heading = re.match(r".*`struct (\w+)`\s*\n", part)
        if heading:
            rows = re.findall(r"^\| (\d+) \| (\d+) \| `(\w+)` \|", part, flags=re.M)
            tables[heading[1]] = [(int(a), int(b), c) for a, b, c in rows]
    return tables


def compare(header: str, page: str) -> list[str]:
    tables = page_tables(page)
    wrong = [f"{name}: {tables.get(name)} in the page, {fields} in the header"
             for name, fields in structs(header).items() if tables.get(name) != fields]
    for name, value in constants(header).items():
        short = re.sub("^GPULEAK_", "", name)
        if not re.search(rf"`{short}`(?: =|:| \|) ?(?:0x{value:x}|{value:,}|{value})\b", page):
            wrong.append(f"{name}: {value} is not in the page")
    return wrong


def main() -> int:
    header = without_comments(open(sys.argv[1], encoding="utf-8").read())
    if len(sys.argv) < 3:
        for name, fields in structs(header).items():
            print(f"### `struct {name}`\n\n| offset | size | field | what |\n|---|---|---|---|")
            print("".join(f"| {a} | {b} | `{c}` | |\n" for a, b, c in fields))
        return 0
    wrong = compare(header, open(sys.argv[2], encoding="utf-8").read())
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
