"""Put a text between two marks of a page, as the pages of methods have them.

<!-- name -->
(whatever stands here is replaced)
<!-- name: end -->
"""

from __future__ import annotations

from pathlib import Path


def put(page: Path, name: str, text: str) -> None:
    """Replace what stands between the marks ``name`` of a page."""
    begin, end = f"<!-- {name} -->", f"<!-- {name}: end -->"
    before, begun, rest = page.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"{page.name} lacks the marks {begin} and {end}: write them into it.")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")
