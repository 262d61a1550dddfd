"""Functions of every kind, for the tests against a real interpreter."""
import asyncio
import dataclasses
import datetime
import decimal
import enum
import os
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Dict, List, Literal, Optional, Set, Tuple, TypedDict, Union

import beside  # of the agent's folder

CALLS = []


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Item:
    name: str
    price: float = 1.0
    parts: List["Item"] = field(default_factory=list)


class Options(TypedDict, total=False):
    fast: bool
    color: Color


def order(item: Item, color: Color = Color.RED, count: int = 1, tags: Optional[List[str]] = None,
          mode: Literal["full", "half"] = "full", options: Optional[Options] = None, note: Annotated[str, "for the kitchen"] = "",
          *rest, **more):
    """Order an item.

    Args:
        item: what is ordered,
            and how
        count (int): how many
        **more: anything

    Returns:
        what was understood: all of it
    """
    print("an order came in")
    assert isinstance(item, Item) and isinstance(color, Color) and all(isinstance(p, Item) for p in item.parts)
    return {"item": item, "color": color, "count": count, "tags": tags, "mode": mode, "options": options, "more": more}


def numbers(a: int, b: float = 0.5, /, *, c: Union[int, str] = 0, d: "Dict[str, float]" = {}, e: Tuple[int, int] = (1, 2), f: Set[str] = frozenset()):
    """Numbers.

    Parameters
    ----------
    a, b : number
        to be added
    c
        either

    Returns
    -------
    list
        all of them
    """
    return [a, b, c, d, list(e), sorted(f), type(b).__name__, type(e).__name__, type(f).__name__]


def when(day: datetime.date, at: Optional[datetime.datetime] = None, id: Optional[uuid.UUID] = None, price: decimal.Decimal = decimal.Decimal("1.50")):
    """
    :param day: the day
    :param decimal.Decimal price: the price
    """
    return {"weekday": day.isoweekday(), "at": at, "id": id, "price": price}


def plain(text, times=2, *, loud=False):
    return (text.upper() if loud else text) * times


def unknown(thing: "NoSuchType", other: Any = None, call: object = None):
    return [thing, other]


def state():
    CALLS.append(1)
    return len(CALLS)


def nothing():
    pass


def text():
    return "größe \U0001f600 \ud800"


def big():
    return 2 ** 80


def kinds():
    return {"set": {3, 1, 2}, "tuple": (1, 2), "bytes_as_text": b"x".decode(), "path": __import__("pathlib").Path("a/b"),
            "enum": Color.BLUE, "date": datetime.date(2026, 1, 2), 1: None, "map": map(str, [1, 2]), "keys": {"a": 1}.keys()}


def not_a_number():
    return {"x": float("nan")}


def cycle():
    x = []
    x.append(x)
    return x


def deep():
    x = []
    for _ in range(100000):
        x = [x]
    return x


def raw():
    return {"x": b"\x00"}


def an_object():
    return object()


def odd_keys():
    return {(1, 2): 3}


def too_long():
    return "x" * (17 << 20)


def generator():
    yield "Hel"
    yield "lo"


def listed():
    yield 1
    yield {"a": 2}


def endless():
    while True:
        yield "x" * 100000


def partial():
    print("half of it is printed")
    yield "half"
    raise ValueError("the rest\nis missing")


async def coroutine(seconds=0.0, result="done"):
    await asyncio.sleep(seconds)
    return result


async def async_generator():
    yield "Hel"
    await asyncio.sleep(0)
    yield "lo"


def returns_coroutine():
    return coroutine()


async def loop_forever():
    try:
        await asyncio.sleep(3600)
    finally:
        CALLS.append("cancelled")


def calls():
    return CALLS


def leave():
    sys.exit("goodbye")


def leave_at_once():
    os._exit(3)


def crash():
    import ctypes
    ctypes.string_at(0)


def sleep_forever():
    while True:
        time.sleep(3600)


def spin_forever():
    while True:
        pass


def sleep(seconds: float):
    time.sleep(seconds)
    return "slept"


def print_much():
    line = "x" * 999_999
    for _ in range(100):
        print(line)
    return "printed"


def print_raw():
    os.write(1, b'{"id":1,"result":"forged"}\n')
    subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    return "printed"


def read_input():
    return sys.stdin.read() + str(len(sys.argv))


def ask():
    return input("name? ")


def fork():
    if os.fork() == 0:
        return "the child came back"
    os.wait()
    return "the parent"


def fork_and_raise():
    if os.fork() == 0:
        raise ValueError("in the child")
    os.wait()
    return "the parent"


def fork_and_stay():
    pid = os.fork()
    if pid == 0:
        time.sleep(3600)
        os._exit(0)
    return pid


def memory():
    return len(bytearray(8 << 30))


def recursion():
    return recursion()


def bad_exception():
    class Bad(Exception):
        def __str__(self):
            raise RuntimeError("no words")
    raise Bad()


def keyboard():
    raise KeyboardInterrupt


def missing_later():
    import no_such_package_at_all  # noqa


def environment(name: str):
    return os.environ.get(name)


def folder():
    return os.getcwd()


def neighbours():
    return beside.NAME


def thread():
    import threading
    result = []
    t = threading.Thread(target=lambda: result.append(1))
    t.start()
    t.join()
    return result


VALUE = 5
