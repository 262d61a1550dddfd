"""Use HTML reports in headless Chromium, over its debugging pipe.

htmlpage.py WORK SCREENS: WORK holds the program, holodeck; SCREENS takes pictures.
"""

import base64
import json
import os
import pathlib
import random
import subprocess
import sys
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe",
]
OPEN_LIMIT_MS = 3000  # for 10,000 cases, on a slow machine
PATIENCE_S = 60  # for any answer of the browser


class Browser:
    """A page of a headless Chromium, and what it said while it was used."""

    def __init__(self, profile):
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()

        def pipes():  # the browser reads from 3 and writes to 4
            high = [os.dup2(to_child, 50), os.dup2(from_child, 51)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            ["chromium", *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=pipes, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.last, self.session = b"", 0, None
        self.said, self.requests = [], []
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(PATIENCE_S)

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.inp, 1 << 20)
            if not part:
                raise AssertionError("the browser went away")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.said.append(params)
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        self.loaded = method == "Page.loadEventFired" or getattr(self, "loaded", False)
        return message

    def open(self, url):
        # A new document even where only what follows the "#" differs.
        for address in ("about:blank", url):
            self.loaded = False
            self.call("Page.navigate", url=address)
            until = time.monotonic() + PATIENCE_S
            while not self.loaded:
                assert time.monotonic() < until, f"{address} does not load"
                self.receive()

    def js(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def settle(self):
        """Wait for a frame to be drawn, and for what a search waits for."""
        self.js("new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 150))")

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def click(self, selector):
        # Where it is clicked must not move between being measured and being hit.
        self.js(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        self.settle()
        box = self.js(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)
        self.settle()

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.settle()

    def scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.settle()

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


def equal(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


EVIL = "</script><img src=http://canary.invalid/x onerror=\"window.pwned=1\"><script>window.pwned=1</script>"

SMALL = f"""
name: 'fernhollow {EVIL}'
instructions: {{inline: Answer.}}
model:
  provider: offline
  name: scripted
  script:
    - when: {{user: pump, round: 1}}
      do: [{{call: {{name: docs_search, args: {{query: 'pump {EVIL}'}}}}}}, {{call: {{name: orders, args: {{id: A-17, lines: [1, 2, 3], note: a long enough note to need more than a line}}}}}}]
    - when: {{user: evil}}
      do: [{{text: '{EVIL}'}}]
    - when: {{user: hours}}
      do: [{{text: "We are open\\non weekdays\\nfrom nine to five."}}]
    - do: [{{text: Lamps and pumps are covered for three years. Keep the bill. It is what we ask for when you write to us.}}]
evaluations:
  metrics: [{{metric: contains, threshold: 0.5}}]
test_cases:
  - {{name: Warranty of the pump, input: How long is the pump covered?, ground_truth: three years, expected_tools: [docs_search, refunds]}}
  - {{name: 'Evil {EVIL}', input: 'evil {EVIL}', ground_truth: '{EVIL}'}}
  - {{name: Opening hours, input: What are your hours?, ground_truth: from ten to six}}
  - name: A conversation
    turns:
      - {{input: What are your hours?, ground_truth: nine to five}}
      - {{input: And how long is the pump covered?, ground_truth: three years}}
      - {{input: Thank you!}}
  - {{input: 'This case has no name and nothing that would be checked in it, so it is unchecked'}}
"""


def big():
    chance = random.Random(1)
    words = "garden lamp pod return shipping warranty order customer delivery water plant seed light tower price policy".split()
    text = lambda n: " ".join(chance.choice(words) for _ in range(n))
    lines = [
        "name: big", "instructions: {inline: Answer.}", "model:", "  provider: offline", "  name: scripted", "  script:",
        f"    - when: {{round: 1}}\n      do: [{{call: {{name: docs_search, args: {{query: {text(8)}}}}}}}, {{call: {{name: faq_search, args: {{query: {text(6)}}}}}}}]",
        f"    - do: [{{text: {text(60)}}}]",
        "evaluations: {metrics: [{metric: contains}]}", "test_cases:",
    ]
    for i in range(10_000):
        truth = chance.choice(words) if chance.random() < 0.95 else "absent"
        lines.append(f"  - {{name: Case {i} {text(4)}, input: {text(25)}, ground_truth: {truth}}}")
    return "\n".join(lines)


def report(work, name, agent):
    folder = work / name
    folder.mkdir()
    (folder / "agent.yaml").write_text(agent)
    page = folder / "report.html"
    done = subprocess.run([work / "holodeck", "test", folder, "-q", "--output", page], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return page


def contrast(browser, selector):
    """The WCAG contrast of an element's text with what stands behind it."""
    return browser.js("""((selector) => {
      const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
      const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const node = document.querySelector(selector);
      let behind = node;
      while (behind.parentElement && /, 0\\)$|transparent/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
      const a = light(rgb(getComputedStyle(node).color)), b = light(rgb(getComputedStyle(behind).backgroundColor));
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    })(""" + json.dumps(selector) + ")")


def check_small(browser, page, screens):
    url = page.as_uri()
    found = lambda: browser.js("document.getElementById('found').textContent")
    title = lambda: browser.js("document.querySelector('#detail h2').textContent")
    rows = lambda: browser.js("[...document.querySelectorAll('.row .name span')].map((n) => n.textContent)")

    browser.size(1280, 900)
    browser.open(url)
    equal("the counts", browser.js("document.getElementById('counts').textContent"), "2 of 4 cases passed")
    equal("the cases", (found(), len(rows())), ("5 cases", 5))
    equal("what is opened first", title(), "Warranty of the pump")
    equal("reasons", browser.js("document.querySelectorAll('.box li').length"), 1)

    # Texts stay texts.
    equal("elements made by texts", browser.js("document.images.length + document.scripts.length - 4"), 0)
    browser.open(url + "#case=2")
    equal("what the texts ran", browser.js("[document.images.length, document.scripts.length - 4, typeof window.pwned]"), [0, 0, "undefined"])
    equal("the answer as it was said", browser.js("document.querySelector('.said.agent .text').textContent"), EVIL)
    equal("what it said and asked for", (browser.said, [r for r in browser.requests if not r.startswith(("file:", "data:", "about:"))]), ([], []))
    blocked = browser.js("fetch('http://canary.invalid/').then(() => 'fetched', (e) => e.name)")
    equal("a request from the page", blocked, "TypeError")
    browser.said.clear()  # the policy reports what it refused
    browser.requests.clear()

    # Filters, by mouse, and in the address.
    browser.open(url)
    browser.click("#status .failed")
    equal("failed cases", (found(), rows()), ("2 of 5 cases", ["Warranty of the pump", "Opening hours"]))
    equal("the address", browser.js("location.hash"), "#status=failed&case=1")
    browser.open(url + "#status=unchecked")
    equal("unchecked cases", (found(), title()), ("1 of 5 cases", "This case has no name and nothing that would be checked in…"))
    browser.open(url + "#sort=failed")
    equal("failures first", rows()[:2], ["Warranty of the pump", "Opening hours"])

    # Search, by keys.
    browser.open(url)
    browser.key("/")
    browser.call("Input.insertText", text="A-17")
    browser.settle()
    equal("what a search in the tools finds", rows(), ["Warranty of the pump", "A conversation"])
    browser.key("Escape")
    equal("after Escape", found(), "5 cases")

    # Moving by keys.
    browser.open(url)
    browser.key("j")
    assert title().startswith("Evil"), title()
    browser.key("n")
    equal("the next failure", title(), "Opening hours")
    browser.key("k")
    browser.key("k")
    equal("two back", title(), "Warranty of the pump")
    browser.js("document.getElementById('rows').focus()")
    browser.key("ArrowDown")
    browser.key("ArrowDown")
    browser.key("ArrowDown")
    equal("by arrows", (title(), browser.js("document.querySelectorAll('.turn').length")), ("A conversation", 3))
    equal("the option that is active", browser.js("document.getElementById(document.getElementById('rows').getAttribute('aria-activedescendant'))?.ariaSelected"), "true")

    # Light and dark: as the system has it, and by the button.
    ground = lambda: browser.js("getComputedStyle(document.body).backgroundColor")
    browser.scheme("light")
    light = ground()
    browser.scheme("dark")
    dark = ground()
    assert light != dark, light
    browser.click("#theme")
    equal("light by the button", ground(), light)
    browser.click("#theme")
    browser.scheme("light")
    equal("dark by the button", ground(), dark)
    browser.click("#theme")

    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.open(url)
        for selector in ("#rate", "#interval", ".row.failed .why", ".row[aria-selected=true] .why", ".pill.failed", ".box h3", ".said.user .text", ".said.agent .text", ".check .reason", ".chips button", "#found"):
            ratio = contrast(browser, selector)
            assert ratio >= 4.5, f"{selector} in {scheme}: contrast {ratio:.2f}"
        browser.js("document.querySelectorAll('.call').forEach((c) => c.open = true)")
        browser.size(1280, 1300)
        browser.picture(screens / f"wide-{scheme}.png")
        browser.size(1280, 900)

    # A narrow screen shows the list or the case, and is as wide as it is.
    wide = lambda: browser.js("document.documentElement.scrollWidth")
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.size(400, 800)
        browser.open(url)
        visible = lambda: browser.js("['.cases', '.detail'].map((s) => document.querySelector(s).checkVisibility())")
        equal("a narrow screen", (wide(), visible()), (400, [True, False]))
        browser.picture(screens / f"narrow-list-{scheme}.png")
        browser.click(".row")
        equal("a case on a narrow screen", (wide(), visible(), title()), (400, [False, True], "Warranty of the pump"))
        browser.js("scrollTo(0, 0)")
        browser.picture(screens / f"narrow-case-{scheme}.png")
        browser.click(".back")
        equal("back in the list", visible(), [True, False])
        browser.size(1280, 900)
    browser.scheme("light")

    # On paper: every case that is shown.
    browser.open(url)
    browser.js("""window.papers = []; addEventListener('beforeprint', () => {
      papers = [document.querySelectorAll('#paper .detail').length, document.querySelector('.summary').checkVisibility()]; })""")
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    assert pdf.startswith(b"%PDF"), pdf[:10]
    equal("cases and summary on paper", browser.js("papers"), [5, True])
    (screens / "report.pdf").write_bytes(pdf)

    equal("what it said and asked for", (browser.said, [r for r in browser.requests if not r.startswith(("file:", "data:", "about:"))]), ([], []))


def check_big(browser, page, screens):
    opened = []
    for _ in range(3):
        browser.open(page.as_uri())
        opened.append(int(browser.js("document.documentElement.dataset.opened")))
    equal("the cases", browser.js("document.getElementById('found').textContent"), "10,000 cases")
    nodes = browser.js("document.querySelectorAll('*').length")
    assert nodes < 1500, f"{nodes} elements for what is in view"
    browser.js("scrollTo(0, 1e9), document.getElementById('rows').scrollTop = 1e9")
    browser.settle()
    last = browser.js("[...document.querySelectorAll('.row')].pop().id")
    equal("the last row", last, "row-9999")
    searched = browser.js("""(() => { const start = performance.now();
      const box = document.getElementById('search'); box.value = 'absent'; box.dispatchEvent(new Event('input'));
      return new Promise((done) => { const look = () => /of/.test(document.getElementById('found').textContent) ? done(performance.now() - start) : setTimeout(look, 5); look(); }); })()""")
    browser.picture(screens / "big.png")
    equal("what it said", browser.said, [])
    size = page.stat().st_size / 1e6
    print(f"10,000 cases: {size:.1f} MB, opened in {sorted(opened)[1]} ms, first search in {searched:.0f} ms, {nodes} elements")
    assert min(opened) <= OPEN_LIMIT_MS, f"opened in {opened} ms, of which {OPEN_LIMIT_MS} are allowed"


def main():
    work, screens = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    small, large = report(work, "small", SMALL), report(work, "big", big())
    browser = Browser(work / "profile")
    try:
        check_small(browser, small, screens)
        check_big(browser, large, screens)
    finally:
        browser.close()
    print(f"the HTML report holds; screenshots are in {screens}")


if __name__ == "__main__":
    main()
