# Graders: functions that score an answer. Their files import two names of the
# Python edition, which are supplied here where it is not installed.


def grader_types():
    """The classes that graders know, made once."""
    global _grader_types
    with _lock:
        if _grader_types is None:
            import dataclasses
            from typing import Any, Dict, Optional, Tuple

            def tool_invocation_dump(self, **_):
                return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

            def made(name, fields, **namespace):
                cls = dataclasses.make_dataclass(name, fields, namespace=namespace, frozen=True)
                cls.__module__ = "holodeck.models.test_result" if name == "ToolInvocation" else "holodeck.lib.test_runner.code_grader"
                return cls

            def opt(name, kind, default=None):
                return (name, kind, dataclasses.field(default=default))

            invocation = made("ToolInvocation", [
                ("name", str), ("args", Dict[str, Any], dataclasses.field(default_factory=dict)), opt("result", Any),
                opt("bytes", int, 0), opt("duration_ms", Optional[int]), opt("error", Optional[str]),
            ], model_dump=tool_invocation_dump)
            result = made("GraderResult", [
                ("score", float), opt("passed", Optional[bool]), opt("reason", Optional[str]), opt("details", Optional[Dict[str, Any]]),
            ])
            context = made("GraderContext", [
                ("turn_input", str), ("agent_response", str), opt("ground_truth", Optional[str]),
                opt("tool_invocations", Tuple[Any, ...], ()), opt("retrieval_context", Optional[Tuple[str, ...]]),
                opt("turn_index", int, 0), opt("test_case_name", Optional[str]),
                ("turn_config", Dict[str, Any], dataclasses.field(default_factory=dict)),
                # What follows is ours.
                opt("expected_tools", Tuple[str, ...], ()), opt("structured_output", Any),
                opt("token_usage", Optional[Dict[str, int]]), opt("cost_usd", Optional[float]), opt("latency_ms", float, 0.0),
                opt("attempt", int, 1), opt("prior_turns", Tuple[Any, ...], ()), opt("files", Tuple[str, ...], ()),
            ])
            _grader_types = {"ToolInvocation": invocation, "GraderResult": result, "GraderContext": context}
    return _grader_types


_grader_types = None


class Shim:
    """The finder of the two modules that graders import. It comes last: an
    installed Python edition is used as it is."""

    names = {
        "holodeck": (), "holodeck.lib": (), "holodeck.lib.test_runner": (), "holodeck.models": (),
        "holodeck.lib.test_runner.code_grader": ("GraderContext", "GraderResult"),
        "holodeck.models.test_result": ("ToolInvocation",),
    }

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in cls.names:
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, cls, is_package=not cls.names[name])

    @staticmethod
    def create_module(spec):
        return None

    @classmethod
    def exec_module(cls, module):
        types = grader_types()
        for name in cls.names[module.__name__]:
            setattr(module, name, types[name])


def grader_context(values):
    """The argument of a grader."""
    types = grader_types()
    values = dict(values)
    values["tool_invocations"] = tuple(types["ToolInvocation"](**t) for t in values.get("tool_invocations") or ())
    for key in ("retrieval_context", "expected_tools", "prior_turns", "files"):
        if values.get(key) is not None:
            values[key] = tuple(values[key])
    return types["GraderContext"](**values)


def grader_verdict(value):
    """What a grader returned, as an object of JSON."""
    import numbers
    if isinstance(value, bool):
        return {"score": 1 if value else 0, "passed": value}
    if isinstance(value, numbers.Real):
        return {"score": number(value)}
    if type(value).__name__ != "GraderResult" or not hasattr(value, "score"):
        raise BadResult("it is of type %s; a grader returns a bool, a number or a GraderResult" % type(value).__qualname__)
    verdict = {"score": number(value.score)}
    for key in ("passed", "reason", "details"):
        part = getattr(value, key, None)
        if part is not None:
            verdict[key] = part
    return verdict


def number(value):
    """A score: whole numbers stay what they are, and True is 1."""
    import numbers
    if not isinstance(value, numbers.Real):
        raise BadResult("its score is of type %s, and not a number" % type(value).__qualname__)
    return int(value) if isinstance(value, int) else float(value)
