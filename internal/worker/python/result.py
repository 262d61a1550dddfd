# What a function returned, as JSON.


class BadResult(Exception):
    """A result that is no JSON."""


def encode(value):
    """A result as JSON text of bounded length."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=plain_value)
    except ValueError as e:
        if "Circular" in str(e):
            raise BadResult("it holds itself (a cycle)") from None
        raise BadResult("it holds NaN or an infinite number, which JSON has not") from None
    except TypeError as e:
        raise BadResult(one_line(e, with_type=False)) from None
    except RecursionError:
        raise BadResult("it is nested too deeply") from None
    if len(text) > MAX_RESULT:
        raise BadResult("it has %d characters as JSON, and at most %d are taken" % (len(text), MAX_RESULT))
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        text = json.dumps(value, allow_nan=False, separators=(",", ":"), default=plain_value)
    return text


def plain_value(value):
    """A value that json does not know, as one that it does."""
    import dataclasses
    import enum
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise BadResult("it holds bytes; return text, such as that of base64")
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)):  # pydantic
        return value.model_dump(mode="json")
    if isinstance(value, (set, frozenset)):
        try:
            return sorted(value)
        except TypeError:
            return list(value)
    if callable(getattr(value, "isoformat", None)):
        return value.isoformat()
    if type(value).__module__.split(".")[0] in ("uuid", "decimal", "pathlib", "fractions"):
        return str(value)
    if callable(getattr(value, "tolist", None)):  # numpy
        return value.tolist()
    if hasattr(value, "__iter__") and hasattr(value, "__next__"):
        return list(value)
    raise BadResult("it holds an object of type %s, which has no form in JSON" % type(value).__qualname__)


class Pieces:
    """The pieces of a generator: texts are joined, other values are a list."""

    def __init__(self):
        self.items, self.size = [], 0

    def add(self, item):
        self.items.append(item)
        self.size += len(item) if isinstance(item, str) else 1
        if self.size > MAX_RESULT:
            raise BadResult("the generator gave more than %d characters" % MAX_RESULT)

    def value(self):
        if all(isinstance(i, str) for i in self.items):
            return "".join(self.items)
        return self.items
