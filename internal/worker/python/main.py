# The worker: reads requests, runs each in a thread or, when it is a coroutine,
# on one event loop, and answers in the order in which they end.
import json
import os
import sys
import threading

DIR, MAX_RESULT = sys.argv[1], int(sys.argv[2])
sys.argv[:] = [""]
MAX_THREADS = 128

# The protocol keeps the pipes for itself. What user code prints goes to stderr,
# and what it reads is empty; a program that it starts inherits neither pipe.
_in, _out = os.dup(0), os.dup(1)
_nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(_nothing, 0)
os.close(_nothing)
os.dup2(2, 1)
sys.stdout.reconfigure(line_buffering=True)

_forked = False
_write_lock = threading.Lock()
_lock = threading.RLock()  # of what is made once
_load_locks = {}  # by module: one that hangs while it is imported keeps no other
_loaded = {}  # by what was asked for: the function
_loop = None


def leave_pipes():
    """A process that user code forked has no part in the protocol."""
    global _forked
    _forked = True
    for fd in (_in, _out):
        try:
            os.close(fd)
        except OSError:
            pass


_running = threading.local()  # its call: the one that this thread is at
_leave = os._exit


def leave(status):
    """os._exit, told first: it ends every call, and this one is the cause."""
    call = getattr(_running, "call", None)
    if not _forked and call is not None:
        reply(json.dumps({"id": call["id"], "error": {"kind": "ends", "message": str(status)}}))
    _leave(status)


os._exit = leave


def reply(line):
    if _forked:  # a child that user code forked came back from its function
        sys.stdout.flush()
        _leave(0)
    data = memoryview(line.encode() + b"\n")
    with _write_lock:
        while data:
            data = data[os.write(_out, data):]


def succeed(call, value):
    try:
        if call["op"] == "grade":
            value = grader_verdict(value)
        text = encode(value)
    except BaseException as e:
        return fail(call, e)
    reply('{"id":%d,"result":%s}' % (call["id"], text))


def fail(call, e):
    reply(json.dumps({"id": call["id"], "error": failure(e)}))


class Failure(Exception):
    """What keeps a call from being made, told to the other side as it is."""

    def __init__(self, kind, message="", **more):
        super().__init__(message)
        self.told = dict(more, kind=kind, message=message)


def failure(e):
    """An error as an object of JSON."""
    if isinstance(e, Failure):
        return e.told
    if isinstance(e, BadResult):
        return {"kind": "result", "message": str(e)}
    if isinstance(e, BadArgument):
        return {"kind": "arguments", "message": str(e)}
    if isinstance(e, SystemExit):
        return {"kind": "exit", "message": str(e.code if e.code is not None else 0)}
    try:
        import traceback
        at = e.__traceback__
        while at is not None and at.tb_next is not None and at.tb_frame.f_code.co_filename == "holodeck worker":
            at = at.tb_next
        traceback.print_exception(type(e), e, at)
    except BaseException:
        pass  # an error that cannot be shown
    told = {"kind": "exception", "message": one_line(e)}
    if isinstance(e, ModuleNotFoundError) and e.name:
        told["package"] = e.name
    return told


def one_line(e, with_type=True):
    """The last line of a traceback: the error's type and what it says."""
    try:
        text = " ".join(str(e).split())
    except Exception:
        text = "(it cannot be shown)"
    if len(text) > 1000:
        text = text[:1000] + "…"
    if not with_type:
        return text
    name = type(e).__qualname__
    return "%s: %s" % (name, text) if text else name


def load(call):
    """The function that a call names."""
    key = (call.get("file"), call.get("module"), call["function"])
    if key in _loaded:
        return _loaded[key]
    with _lock:
        preload()
        lock = _load_locks.setdefault(call.get("module"), threading.RLock())
    with lock:
        if key not in _loaded:
            module = load_file(call["file"], call["module"]) if call.get("file") else load_module(call["module"])
            _loaded[key] = pick(module, call["function"])
    return _loaded[key]


def preload():
    """Import what is used here, before any code of the user runs: where two threads
    import modules that need one another, one of them may be given half a module."""
    import collections.abc, dataclasses, enum, importlib.machinery, importlib.util, inspect, numbers, re, traceback, types, typing  # noqa


def load_file(file, name):
    if name in sys.modules:
        return sys.modules[name]
    import importlib.machinery
    import importlib.util
    if not os.path.isfile(file):
        raise Failure("file", file=file)
    folder = os.path.dirname(os.path.abspath(file))
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(name, file, loader=importlib.machinery.SourceFileLoader(name, file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as e:
        del sys.modules[name]
        raise import_failure(e) from e
    return module


def load_module(name):
    import importlib
    try:
        return importlib.import_module(name)
    except BaseException as e:
        if isinstance(e, ModuleNotFoundError) and e.name and (name == e.name or name.startswith(e.name + ".")):
            raise Failure("no_module", module=e.name) from e
        raise import_failure(e) from e


def import_failure(e):
    """Why a file of the user cannot be imported."""
    if isinstance(e, SyntaxError):
        return Failure("syntax", e.msg or "", file=e.filename or "", line=e.lineno or 0, column=e.offset or 0)
    told = failure(e)
    told["import"] = True
    at = e.__traceback__
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        if os.path.abspath(file).startswith(os.path.abspath(DIR) + os.sep):
            told["file"], told["line"] = file, at.tb_lineno
        at = at.tb_next
    return Failure(told.pop("kind"), told.pop("message"), **told)


def pick(module, name):
    found = getattr(module, name, None)
    if found is None:
        names = [n for n, v in vars(module).items() if callable(v) and not isinstance(v, type) and not n.startswith("_") and getattr(v, "__module__", None) == module.__name__]
        raise Failure("no_function", names=names[:20])
    if not callable(found):
        raise Failure("not_callable", type(found).__qualname__)
    return found


def flags(function):
    """The flags of a function's code: whether it is a coroutine or a generator."""
    function = getattr(function, "__func__", function)
    return getattr(getattr(function, "__code__", None), "co_flags", 0)


COROUTINE, ASYNC_GENERATOR = 0x80, 0x200


def run(call):
    """Run a call in this thread; coroutines are handed to the event loop."""
    _running.call = call
    try:
        function = load(call)
        if call["op"] == "describe":
            return succeed(call, describe(function))
        if call["op"] == "grade":
            args, named = [grader_context(call["context"])], {}
        else:
            args, named = bind(function, call["args"])
        value = function(*args, **named)
        if hasattr(value, "__await__") or hasattr(value, "__aiter__"):
            return on_loop(call, value)
        if hasattr(value, "__next__") and hasattr(value, "send"):  # a generator
            value = drain(value)
    except BaseException as e:
        return fail(call, e)
    finally:
        _running.call = None
    succeed(call, value)


def drain(generator):
    pieces = Pieces()
    for item in generator:
        pieces.add(item)
    return pieces.value()


def on_loop(call, value):
    async def finish():
        try:
            if hasattr(value, "__aiter__"):
                pieces = Pieces()
                async for item in value:
                    pieces.add(item)
                result = pieces.value()
            else:
                result = await value
        except BaseException as e:
            return fail(call, e)
        finally:
            tasks.pop(call["id"], None)
        succeed(call, result)

    def begin():
        tasks[call["id"]] = loop.create_task(finish())

    loop = event_loop()
    loop.call_soon_threadsafe(begin)


tasks = {}  # of the event loop, by the id of their call


def event_loop():
    global _loop
    with _lock:
        if _loop is None:
            import asyncio
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, daemon=True).start()
            _loop = loop
    return _loop


class Threads:
    """Threads that run calls; one more whenever none is free."""

    def __init__(self):
        self.changed = threading.Condition(threading.Lock())
        self.waiting, self.count, self.queue = 0, 0, {}

    def submit(self, call):
        with self.changed:
            self.queue[call["id"]] = call
            if self.waiting < len(self.queue) and self.count < MAX_THREADS:
                try:
                    threading.Thread(target=self.work, daemon=True).start()
                    self.count += 1
                except RuntimeError as e:  # the system gives no more
                    if self.count == 0:
                        del self.queue[call["id"]]
                        return fail(call, e)
            self.changed.notify()

    def forget(self, number):
        """Drop a call that has not begun."""
        with self.changed:
            return self.queue.pop(number, None)

    def work(self):
        while True:
            with self.changed:
                while not self.queue:
                    self.waiting += 1
                    self.changed.wait()
                    self.waiting -= 1
                call = self.queue.pop(next(iter(self.queue)))
            run(call)


def cancel(number, threads):
    call = threads.forget(number)
    if call is not None:
        return reply(json.dumps({"id": number, "error": {"kind": "cancelled", "message": ""}}))
    if _loop is not None:
        task = tasks.get(number)
        if task is not None:
            _loop.call_soon_threadsafe(task.cancel)


def main():
    sys.path.insert(0, DIR)
    if sys.prefix == sys.base_prefix:  # isolated mode leaves the user's packages out
        import site
        folder = site.getusersitepackages()
        if os.path.isdir(folder):
            site.addsitedir(folder)
    sys.meta_path.append(Shim)
    threading.stack_size(4 << 20)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=leave_pipes)
    reply(json.dumps({"ready": "holodeck.worker/v1", "python": "%d.%d.%d" % sys.version_info[:3], "prefix": sys.prefix}))
    threads = Threads()
    with os.fdopen(_in, "rb", buffering=1 << 16) as requests:
        for line in requests:
            call = json.loads(line)
            if call["op"] == "cancel":
                cancel(call["id"], threads)
            else:
                threads.submit(call)


main()
