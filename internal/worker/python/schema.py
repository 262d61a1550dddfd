# JSON Schema of a function's parameters, from its type hints, defaults and
# docstring; and the way back: values of JSON as what the hints ask for.


def hints_of(function):
    """The type hints of a function, as far as they can be resolved."""
    import typing
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # a name that is not there at run time
        return {k: v for k, v in getattr(function, "__annotations__", {}).items() if not isinstance(v, str)}


def parameters_of(function):
    """The parameters of a function that can be given by name or place."""
    import inspect
    skipped = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in inspect.signature(function).parameters.values() if p.kind not in skipped]


def describe(function):
    """The JSON Schema of a function's parameters."""
    import inspect
    hints, said = hints_of(function), described_parameters(inspect.getdoc(function) or "")
    definitions = {}
    properties, required = {}, []
    for p in parameters_of(function):
        hint = hints.get(p.name, inspect.Parameter.empty)
        if hint is inspect.Parameter.empty:
            schema = schema_of_default(p.default)
        else:
            schema = schema_of(hint, definitions)
        if p.name in said and "description" not in schema:
            schema = with_keys(schema, description=said[p.name])
        if p.default is inspect.Parameter.empty:
            required.append(p.name)
        elif plain(p.default):
            schema = with_keys(schema, default=getattr(p.default, "value", p.default))
        properties[p.name] = schema
    whole = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(function).parameters.values()):
        del whole["additionalProperties"]
    if definitions:
        whole["$defs"] = definitions
    return whole


def with_keys(schema, **keys):
    """A schema with keys beside it; a reference keeps to itself."""
    if "$ref" in schema:
        return dict({"allOf": [schema]}, **keys)
    return dict(schema, **keys)


def plain(value):
    """Whether a default can stand in a schema."""
    import enum
    if isinstance(value, enum.Enum):
        value = value.value
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return value is not None


def schema_of_default(value):
    """The schema of a parameter without a hint."""
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return {"type": name}
    return {}


def schema_of(hint, definitions):
    """The JSON Schema of a type hint; {} where there is nothing to say."""
    import collections.abc
    import dataclasses
    import enum
    import typing

    hint, description = unannotated(hint)
    if description:
        return with_keys(schema_of(hint, definitions), description=description)
    simple = {
        str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"},
        type(None): {"type": "null"}, None: {"type": "null"}, list: {"type": "array"}, tuple: {"type": "array"},
        set: {"type": "array", "uniqueItems": True}, frozenset: {"type": "array", "uniqueItems": True},
        dict: {"type": "object"},
    }
    try:
        if hint in simple:
            return dict(simple[hint])
    except TypeError:
        return {}
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        values = [v.value if isinstance(v, enum.Enum) else v for v in args]
        kinds = {type(v) for v in values}
        schema = {"enum": values}
        if len(kinds) == 1 and kinds <= {str, int, bool}:
            schema = dict(simple[kinds.pop()], **schema)
        return schema
    if is_union(origin):
        options = [schema_of(a, definitions) for a in args]
        if {} in options:
            return {}
        kinds = [o.get("type") for o in options]
        if all(isinstance(k, str) and set(o) == {"type"} for k, o in zip(kinds, options)):
            return {"type": kinds if len(kinds) > 1 else kinds[0]}
        return {"anyOf": options}
    if origin in (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection):
        return with_items({"type": "array"}, args[:1], definitions)
    if origin in (set, frozenset, collections.abc.Set):
        return with_items({"type": "array", "uniqueItems": True}, args[:1], definitions)
    if origin is tuple:
        if len(args) == 2 and args[1] is Ellipsis:
            return with_items({"type": "array"}, args[:1], definitions)
        items = [schema_of(a, definitions) for a in args if a != ()]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin in (dict, collections.abc.Mapping, collections.abc.MutableMapping):
        values = schema_of(args[1], definitions) if len(args) == 2 else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if not isinstance(hint, type):
        supertype = getattr(hint, "__supertype__", None)  # NewType
        return schema_of(supertype, definitions) if supertype else {}
    if issubclass(hint, enum.Enum):
        return schema_of(typing.Literal[tuple(m.value for m in hint)], definitions) if len(hint) else {}
    if hasattr(hint, "model_json_schema"):  # pydantic
        return adopt(hint.model_json_schema(), definitions)
    if dataclasses.is_dataclass(hint):
        needed = [f.name for f in dataclasses.fields(hint)
                  if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
        return record(hint, needed, definitions)
    if is_typed_dict(hint):
        return record(hint, sorted(hint.__required_keys__), definitions)
    texts = {"datetime": "date-time", "date": "date", "time": "time", "UUID": "uuid"}
    if hint.__module__ in ("datetime", "uuid") and hint.__name__ in texts:
        return {"type": "string", "format": texts[hint.__name__]}
    if hint.__module__.split(".")[0] in ("pathlib", "decimal"):
        return {"type": "string"} if hint.__name__ != "Decimal" else {"type": ["number", "string"]}
    return {}


def with_items(schema, args, definitions):
    items = schema_of(args[0], definitions) if args else {}
    return dict(schema, items=items) if items else schema


def unannotated(hint):
    """A hint without Annotated, Required and NotRequired, and what it says of itself."""
    import typing
    description = ""
    while True:
        if hasattr(hint, "__metadata__"):
            for m in hint.__metadata__:
                text = m if isinstance(m, str) else getattr(m, "description", None)
                if isinstance(text, str) and not description:
                    description = text
            hint = hint.__origin__
        elif getattr(typing.get_origin(hint), "_name", None) in ("Required", "NotRequired", "ReadOnly"):
            hint = typing.get_args(hint)[0]
        else:
            return hint, description


def is_union(origin):
    import types
    import typing
    return origin is typing.Union or origin is getattr(types, "UnionType", typing.Union)


def is_typed_dict(hint):
    return isinstance(hint, type) and issubclass(hint, dict) and hasattr(hint, "__required_keys__")


def record(hint, required, definitions):
    """The schema of a class with fields, kept once: it may hold itself."""
    name = hint.__name__
    if name not in definitions:
        definitions[name] = {}  # taken
        fields = {k: schema_of(h, definitions) for k, h in hints_of(hint).items() if not k.startswith("_")}
        definitions[name] = {
            "type": "object", "properties": fields, "required": [r for r in required if r in fields], "additionalProperties": False,
        }
    return {"$ref": "#/$defs/" + name}


def adopt(schema, definitions):
    """A schema with definitions of its own, which become ours."""
    definitions.update(schema.pop("$defs", {}))
    name = schema.get("title") or "Model"
    definitions.setdefault(name, schema)
    return {"$ref": "#/$defs/" + name}


def described_parameters(doc):
    """What a docstring says of each parameter: Google's, NumPy's and Sphinx's way."""
    import re
    found = {m[1]: m[2].strip() for m in re.finditer(r"^\s*:param\s+(?:[^:]*\s)?(\w+):\s*(.+)$", doc, re.M)}
    lines = doc.splitlines()
    for i, line in enumerate(lines):
        if re.match(r"^(Args|Arguments|Parameters):\s*$", line):
            found.update(google_parameters(lines[i + 1:]))
        elif line.strip() == "Parameters" and i + 1 < len(lines) and re.match(r"^-{3,}\s*$", lines[i + 1]):
            found.update(numpy_parameters(lines[i + 2:]))
    return found


def google_parameters(lines):
    import re
    found, name, depth = {}, None, None
    for line in lines:
        if line.strip() and not line.startswith((" ", "\t")):
            break
        m = re.match(r"^(\s+)\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$", line)
        if m and (depth is None or len(m[1]) <= depth):
            depth, name = len(m[1]), m[2]
            found[name] = m[3].strip()
        elif name and line.strip():
            found[name] = (found[name] + " " + line.strip()).strip()
    return found


def numpy_parameters(lines):
    import re
    found, names = {}, []
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and re.match(r"^-{3,}\s*$", lines[i + 1]):
            break
        m = re.match(r"^(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$", line)
        if m:
            names = re.split(r"\s*,\s*", m[1])
        elif names and line.strip():
            for n in names:
                found[n] = (found.get(n, "") + " " + line.strip()).strip()
    return found


def bind(function, values):
    """Positional and named arguments for a function, from values of JSON."""
    import inspect
    hints, args, named = hints_of(function), [], dict(values)
    for name in named:
        if name in hints:
            named[name] = coerce(hints[name], named[name], name)
    for p in parameters_of(function):
        if p.kind is inspect.Parameter.POSITIONAL_ONLY and p.name in named:
            args.append(named.pop(p.name))
    return args, named


class BadArgument(Exception):
    """A value that is not what the hint of its parameter says."""


def coerce(hint, value, where):
    """A value of JSON as the hint asks for it; unchanged where it asks for nothing."""
    import collections.abc
    import dataclasses
    import enum
    import typing

    hint, _ = unannotated(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if is_union(origin):
        return coerce_union(args, value, where)
    if value is None:
        return None
    if origin in (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection) and isinstance(value, list):
        return [coerce(args[0], v, "%s[%d]" % (where, i)) for i, v in enumerate(value)] if args else value
    if (origin or hint) in (set, frozenset, tuple) and isinstance(value, list):
        one = args[0] if args and (origin is not tuple or args[-1] is Ellipsis) else None
        kinds = [one] * len(value) if one is not None else list(args)[:len(value)]
        kinds += [typing.Any] * (len(value) - len(kinds))
        return (origin or hint)(coerce(k, v, "%s[%d]" % (where, i)) for i, (k, v) in enumerate(zip(kinds, value)))
    if origin in (dict, collections.abc.Mapping, collections.abc.MutableMapping) and isinstance(value, dict) and len(args) == 2:
        return {k: coerce(args[1], v, "%s.%s" % (where, k)) for k, v in value.items()}
    if not isinstance(hint, type):
        return value
    try:
        if issubclass(hint, enum.Enum):
            return hint(value)
        if hasattr(hint, "model_validate"):
            return value if isinstance(value, hint) else hint.model_validate(value)
        if dataclasses.is_dataclass(hint) and isinstance(value, dict):
            fields = hints_of(hint)
            return hint(**{k: coerce(fields.get(k, typing.Any), v, "%s.%s" % (where, k)) for k, v in value.items()})
        if is_typed_dict(hint) and isinstance(value, dict):
            fields = hints_of(hint)
            return {k: coerce(fields.get(k, typing.Any), v, "%s.%s" % (where, k)) for k, v in value.items()}
        if hint.__module__ == "datetime" and isinstance(value, str) and hasattr(hint, "fromisoformat"):
            # Before 3.11 Z is not read.
            return hint.fromisoformat(value[:-1] + "+00:00" if value.endswith("Z") else value)
        if hint.__name__ in ("UUID", "Decimal", "Path", "PurePath") and hint.__module__.split(".")[0] in ("uuid", "decimal", "pathlib"):
            return hint(str(value))
        if hint is float and type(value) is int:
            return float(value)
    except BadArgument:
        raise
    except Exception as e:
        raise BadArgument("%s: %s" % (where, one_line(e))) from e
    return value


def coerce_union(args, value, where):
    """The first option of a union that a value fits: of its own kind, else by conversion."""
    if value is None or any(isinstance(a, type) and type(value) is a for a in args):
        return value
    failed = None
    for a in args:
        if a is type(None):
            continue
        try:
            converted = coerce(a, value, where)
        except BadArgument as e:
            failed = failed or e
            continue
        if converted is not value or not isinstance(a, type):
            return converted
    if failed is not None and not any(a in (str, int, float, bool, dict, list) for a in args):
        raise failed
    return value
