"""The ids of docs/requirements.md that are built; each has at least one test that proves it."""


def _numbered(area: str, *numbers: int) -> set[str]:
    return {f"{area}-{number}" for number in numbers}


BUILT: frozenset[str] = frozenset(
    _numbered("WIRE", *range(1, 9))
    | _numbered("LANE", *range(1, 18))
    | _numbered("CTX", *range(1, 9))
    | _numbered("ROOM", *range(1, 9))
    | _numbered("FAIL", *range(1, 7))
    | _numbered("ING", *range(1, 11))
    | _numbered("DUR", 1, 2, 3, 5)
    | _numbered("OUT", *range(1, 6))
    | _numbered("ART", *range(1, 5))
    | _numbered("IMG", *range(1, 11))
    | _numbered("OPS", 1, 2, 3, *range(5, 13))
    | _numbered("SEC", 1, 2, 3)
    | _numbered("LOOP", *range(1, 10))
    | _numbered("GRANT", *range(1, 6))
    | _numbered("VOX", 1, 2)
)
