#!/usr/bin/env python3
"""Uses the inspector in Chromium and in Firefox as people do, and saves pictures of it: check-inspector.py [--program dflat] [FOLDER].

It makes a file, serves it, and in Chromium goes the whole way by the keyboard alone: to a type, an object, what that refers to, a query
and its error, a change that is compared and committed, and one that another process was faster with. On every screen each control must be reached by the Tab key and have a name for a
screen reader, and the landmarks must be there. A commit of another process must mark the row that it changed. An answer that comes late
must not replace what a person has chosen or typed since. No text of the file may become markup, no other host may be asked, and nothing may be written to the console. Firefox must show the same screens.

Pictures go into FOLDER (.build/inspector). It needs chromium, firefox-esr, and websocket-client of the Python package index, which is
installed into .build/python; `Scripts/bootstrap.sh browsers` sees to them.
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / ".build/python"))
import websocket  # noqa: E402

AUTHOR = """namespace Blog;
table Author { handle: string (primary); name: string; born: int; constructor: string; __proto__: string; }
root_type Author;
"""
POST = """include "author.fbs";
namespace Blog;
enum Status: byte { Draft, Published, Archived }
struct Place { lat: double; lon: double; }
table Photo { path: string; width: int; }
table Link { url: string; }
union Attachment { Photo, Link }
table Comment { author: string; text: string; likes: int; }
table Post {
  id: long (primary);
  title: string (indexed);
  status: Status;
  likes: int (indexed);
  author: string (indexed, references: "Author");
  place: Place;
  attachment: Attachment;
  tags: [string];
  comments: [Comment];
  text: string;
}
root_type Post;
"""
HOSTILE = "<script>document.title='x'</script><img src=x onerror=alert(1)>"
WORDS = "tea bread salt river north window garden slow bright paper stone quiet market harbour winter".split()
AUTHORS = "ada grace alan edsger barbara donald".split()


def posts():
    for number in range(1, 301):
        word = lambda shift: WORDS[(number * 7 + shift * 5 + number // 9) % len(WORDS)]  # noqa: E731
        post = {
            "id": number, "title": f"{word(0)} and {word(1)} {word(2)}".capitalize(), "likes": number * 37 % 500,
            "status": ("Draft", "Published", "Archived")[number % 3], "author": AUTHORS[number % len(AUTHORS)],
            "tags": [word(3), word(4)][: number % 3], "text": " ".join(word(shift) for shift in range(number % 20 + 4)).capitalize() + ".",
        }
        if number % 3 == 0:
            post |= {"attachment_type": "Photo", "attachment": {"path": f"img/{number}.jpg", "width": 640}}
        elif number % 3 == 1:
            post |= {"attachment_type": "Link", "attachment": {"url": f"https://example.org/{number}"}}
        if number % 2:
            post["place"] = {"lat": number / 4, "lon": -number / 2}
        if number % 4 == 3:
            post["comments"] = [{"author": "grace", "text": f"{word(5)} {word(6)}", "likes": number % 9}]
        yield post
    yield {"id": 9001, "title": HOSTILE, "author": "nobody", "text": "NUL \0, \u202eright to left\u202c, \u200bnothing, \u00ad, \U000e0041", "tags": ["<b>"], "place": {"lat": -0.0, "lon": 0}}
    yield {"id": 9002, "title": "A long text", "text": "word " * 200000}


class File:
    """A file with objects, and the inspector that serves it."""

    def __init__(self, program, folder):
        self.program, self.folder, self.path = pathlib.Path(program).resolve(), folder, "blog.db"
        (folder / "author.fbs").write_text(AUTHOR)
        (folder / "post.fbs").write_text(POST)
        self.store("Author", [{"handle": name, "name": name.capitalize(), "born": 1900 + len(name)} for name in AUTHORS])
        self.store("Post", posts())

    def store(self, kind, objects):
        lines = "".join(json.dumps(value) + "\n" for value in objects)
        schemas = ["--schema", self.folder / "post.fbs", "--schema", self.folder / "author.fbs"]
        command = [self.program, "import", self.path, kind, "-", *schemas, "--yes"]
        subprocess.run(command, input=lines, text=True, check=True, capture_output=True, cwd=self.folder)

    def serve(self):
        self.process = subprocess.Popen(
            [self.program, "serve", self.path, "--allow-changes"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            cwd=self.folder)
        return self.process.stdout.readline().strip()

    def stop(self):
        self.process.terminate()
        if self.process.wait(30) != 0:
            fail("the inspector ended with an error")


def fail(message):
    sys.exit(f"check-inspector: {message}")


def wait(what, condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    fail(f"{what} did not come")


class Socket:
    """Commands and their answers, as both protocols number them."""

    def __init__(self, address):
        self.socket = websocket.create_connection(address, timeout=60, suppress_origin=True)
        self.number = 0
        self.events = []

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                if "error" in message:
                    fail(f"{method}: {message['error']} {message.get('message', '')}")
                return message["result"]
            self.events.append(message)


class Chromium:
    KEYS = {"Tab": 9, "Enter": 13, "Backspace": 8, "ArrowRight": 39, "End": 35}

    def __init__(self, folder):
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--hide-scrollbars",
                   f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = wait("Chromium", lambda: (folder / "DevToolsActivePort").exists() and (folder / "DevToolsActivePort").read_text().split("\n")[0])
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list"))
        self.page = Socket(next(page for page in pages if page["type"] == "page")["webSocketDebuggerUrl"])
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"]:
            self.page.call(f"{domain}.enable")

    def open(self, address):
        self.page.call("Page.navigate", url=address)

    def run(self, script):
        result = self.page.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            fail(f"{script}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def look(self, width, height, scheme):
        self.page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.page.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.page.call("Page.captureScreenshot", format="png")["data"]))

    def key(self, name, modifiers=0):
        text = {"text": "\r"} if name == "Enter" else {}
        values = {"key": name, "code": name, "windowsVirtualKeyCode": self.KEYS.get(name, 0), "modifiers": modifiers}
        self.page.call("Input.dispatchKeyEvent", type="keyDown", **values, **text)
        self.page.call("Input.dispatchKeyEvent", type="keyUp", **values)

    def type(self, text):
        self.page.call("Input.insertText", text=text)

    def roles(self):
        """The roles and names of the accessibility tree."""
        nodes = self.page.call("Accessibility.getFullAXTree")["nodes"]
        return [(node.get("role", {}).get("value"), node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]

    def complaints(self):
        self.run("0")
        found = []
        for event in self.page.events:
            values = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(values["exceptionDetails"]["exception"].get("description"))
            elif event.get("method") == "Log.entryAdded" and "status of 400" not in values["entry"]["text"]:
                found.append(values["entry"]["text"])
        return found

    def addresses(self):
        return [event["params"]["request"]["url"] for event in self.page.events if event.get("method") == "Network.requestWillBeSent"]

    def close(self):
        self.process.terminate()
        self.process.wait(30)


class Firefox:
    def __init__(self, folder):
        (folder / "user.js").write_text('user_pref("remote.active-protocols", 1);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n')
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--remote-debugging-port=0", "--profile", str(folder)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=os.environ | {"HOME": str(folder)})
        server = wait("Firefox", lambda: (folder / "WebDriverBiDiServer.json").exists() and (folder / "WebDriverBiDiServer.json").read_text(), 120)
        self.page = Socket(f"ws://127.0.0.1:{json.loads(server)['ws_port']}/session")
        self.page.call("session.new", capabilities={})
        self.context = self.page.call("browsingContext.getTree")["contexts"][0]["context"]
        self.page.call("session.subscribe", events=["log.entryAdded"])

    def open(self, address):
        self.page.call("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def run(self, script):
        result = self.page.call("script.evaluate", expression=script, target={"context": self.context}, awaitPromise=True)
        if result["type"] != "success":
            fail(f"{script}: {result}")
        return result["result"].get("value")

    def look(self, width, height, scheme):
        self.page.call("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.page.call("browsingContext.captureScreenshot", context=self.context)["data"]))

    def complaints(self):
        self.run("0")
        return [event["params"].get("text") for event in self.page.events
                if event.get("method") == "log.entryAdded" and event["params"]["level"] == "error"]

    def close(self):
        self.process.terminate()
        self.process.wait(60)


def title(browser):
    return browser.run("document.querySelector('h1')?.textContent ?? ''")


def go(browser, address, expected):
    browser.run(f"document.activeElement.blur(); var target = {json.dumps(address)}; "
                "if ((location.hash || '#/') === target) dispatchEvent(new Event('hashchange')); else location.hash = target; 0")
    # The content gets the focus once everything is there.
    wait(f"the screen {expected}", lambda: title(browser).startswith(expected) and browser.run("document.activeElement.id") == "main")


# What the Tab key has to reach.
CONTROLS = """[...document.querySelectorAll('a[href], button:not(:disabled), input, textarea, summary, [tabindex="0"]')]
  .filter(element => element.checkVisibility())"""
FOCUSED = f"{CONTROLS}.indexOf(document.activeElement)"
NAME = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()"


def check_tabs(browser, screen):
    """The Tab key must reach every control, in the order of the page."""
    browser.run("document.activeElement.blur(); document.getElementById('skip').focus(); 0")
    count = browser.run(f"{CONTROLS}.length")
    visited = []
    for _ in range(count):
        visited.append(browser.run(FOCUSED))
        browser.key("Tab")
    if visited != list(range(count)):
        fail(f"{screen}: Tab visits {visited} of {count} controls")


def check_roles(browser, screen):
    """Landmarks, and a name for every control."""
    roles = browser.roles()
    for landmark in [("banner", ""), ("main", ""), ("navigation", "Screens"), ("navigation", "Types"), ("status", "")]:
        if landmark not in roles:
            fail(f"{screen}: there is no {landmark}")
    for role, name in roles:
        if role in ("button", "link", "textbox", "table", "region", "RootWebArea", "heading") and not name.strip():
            fail(f"{screen}: a {role} has no name")
    if sum(role == "heading" and name == title(browser) for role, name in roles) != 1:
        fail(f"{screen}: the heading is not there once")


def press(browser, name):
    """Goes on with Tab until a control with this name is reached, and presses Enter."""
    for _ in range(400):
        if browser.run(NAME) == name:
            browser.key("Enter")
            return
        browser.key("Tab")
    fail(f"Tab does not reach '{name}'")


def set_likes(browser, number):
    """Types another number into the text of a draft."""
    browser.run("var area = document.getElementById('draft'); area.focus(); var at = area.value.search(/^  \"likes\" : /m) + 12; "
                "area.setSelectionRange(at, at + area.value.slice(at).search(/,/)); 0")
    browser.type(str(number))


def keyboard_path(browser, file, address):
    """The whole way without a mouse."""
    browser.open(address)
    wait("the overview", lambda: title(browser) == "Overview")
    origin = browser.run("location.origin")
    if browser.run("location.href").find("token") >= 0:
        fail("the token stays in the address")
    browser.key("Tab")
    if browser.run(NAME) != "Skip to the content":
        fail("the first stop is not the link to the content")
    press(browser, "Skip to the content")
    press(browser, "Post")
    wait("the rows", lambda: title(browser) == "Post")
    press(browser, "Next page")
    wait("the second page", lambda: "after" in browser.run("location.hash") and browser.run("document.querySelector('tbody th a').textContent") == "51")
    press(browser, "Previous page")
    wait("the first page", lambda: browser.run("document.querySelector('tbody th a')?.textContent") == "1")
    press(browser, "3")
    wait("the object", lambda: title(browser) == "Post 3")
    press(browser, "Author edsger")
    wait("the author", lambda: title(browser) == "Author edsger")
    wait("the posts of the author", lambda: browser.run("document.querySelectorAll('main li a').length") > 5)
    press(browser, "Query")
    wait("the query", lambda: title(browser) == "Query")
    browser.run("document.getElementById('query').focus(); document.getElementById('query').select(); 0")
    browser.type("Post where likes > 400 and attachment is Photo order by likes desc")
    browser.key("Enter", modifiers=2)
    wait("the answer", lambda: "objects in" in browser.run("document.querySelector('main').textContent"))
    browser.run("document.getElementById('query').select(); 0")
    browser.type("Post where lkes > 400")
    browser.key("Enter", modifiers=2)
    wait("the error", lambda: "did you mean 'likes'?" in browser.run("document.querySelector('[role=alert]')?.textContent ?? ''"))
    if browser.run("getSelection().toString() || document.getElementById('query').value.slice(document.getElementById('query').selectionStart, document.getElementById('query').selectionEnd)") != "lkes":
        fail("the wrong word is not selected")
    go(browser, "#/object/blog__post/7", "Post 7")
    press(browser, "Change")
    wait("the draft", lambda: title(browser) == "Change Post")
    set_likes(browser, 777)
    press(browser, "Show differences")
    wait("the differences", lambda: browser.run("document.activeElement.id") == "commit")
    if "777" not in browser.run("document.querySelector('ins').textContent"):
        fail("the difference is not shown")
    browser.key("Enter")
    wait("the changed object", lambda: title(browser) == "Post 7" and "777" in browser.run("document.querySelector('main').textContent"))
    # Another process changes an object while it is edited.
    go(browser, "#/edit/blog__post/9", "Change Post")
    set_likes(browser, 888)
    file.store("Post", [next(post for post in posts() if post["id"] == 9) | {"likes": 999}])
    press(browser, "Show differences")
    wait("the conflict", lambda: "not the one any more" in browser.run("document.querySelector('[role=alert]')?.textContent ?? ''"))
    if "999" not in browser.run("document.querySelector('del').textContent"):
        fail("the conflict does not show what is stored")
    press(browser, "Keep mine, and compare again")
    wait("the differences", lambda: browser.run("document.activeElement.id") == "commit")
    browser.key("Enter")
    wait("the changed object", lambda: title(browser) == "Post 9" and "888" in browser.run("document.querySelector('main').textContent"))
    # A post is looked at and kept, and then deleted.
    go(browser, "#/object/blog__post/11", "Post 11")
    press(browser, "Delete")
    wait("what would be lost", lambda: title(browser) == "Delete Post 11" and browser.run("document.querySelectorAll('main del').length") > 5)
    press(browser, "Keep it")
    wait("the object", lambda: title(browser) == "Post 11")
    press(browser, "Delete")
    wait("what would be lost", lambda: title(browser) == "Delete Post 11")
    press(browser, "Delete")
    wait("the rows without it", lambda: title(browser) == "Post"
         and "11" not in browser.run("[...document.querySelectorAll('tbody th a')].map(a => a.textContent)"))
    # The head of a column sorts, and sorts in the opposite order when it is used again.
    press(browser, "likes, in its order")
    likes = "[...document.querySelectorAll('tbody tr')].map(tr => Number(tr.querySelectorAll('td')[%d].textContent))"
    place = browser.run("[...document.querySelectorAll('thead th')].findIndex(th => th.textContent.startsWith('likes')) - 1")
    wait("the sorted objects", lambda: title(browser) == "Query" and "objects in" in browser.run("document.querySelector('main').textContent"))
    if (found := browser.run(likes % place)) != sorted(found) or len(found) != 50:
        fail(f"the objects are not sorted: {found}")
    press(browser, "likes, in the opposite order")
    wait("the opposite order", lambda: (found := browser.run(likes % place)) and found == sorted(found, reverse=True) and found[0] > found[-1])
    go(browser, "#/health", "Health")
    press(browser, "Check")
    wait("the check", lambda: "Next: do nothing" in browser.run("document.querySelector('main').textContent"))
    # Another process changes a row that is shown.
    go(browser, "#/type/blog__post", "Post")
    wait("the first look", lambda: browser.run("document.getElementById('state').textContent") == "live")
    changed = next(post for post in posts() if post["id"] == 5) | {"likes": 12345}
    file.store("Post", [changed])
    wait("the marked row", lambda: "12345" in browser.run("document.querySelector('tr.changed')?.textContent ?? ''"))
    wait("the notice", lambda: "1 changed" in browser.run("document.getElementById('status').textContent"))
    go(browser, "#/live", "Live")
    wait("the commit", lambda: "12345" in browser.run("document.querySelector('main').textContent"))
    return origin


HOLDING = """var held = null, release = null, askedBefore = window.fetch
window.fetch = async (address, question) => {
  const answer = await askedBefore(address, question)
  if (JSON.parse(question.body).ask === held) await new Promise(done => { release = done })
  return answer
}; 0"""


def hold(browser, question, act):
    """Has a person act, and keeps the answer to the question back until `let_come`."""
    browser.run(f"held = '{question}'; release = null; 0")
    act()
    wait("the answer", lambda: browser.run("release !== null"))
    browser.run("held = null; 0")


def let_come(browser):
    browser.run("release(); new Promise(done => setTimeout(done, 200)).then(() => 0)")


def late_answers(browser):
    """Answers that come late, and the browser's Back."""
    browser.run(HOLDING)
    go(browser, "#/edit/blog__post/13", "Change Post")
    set_likes(browser, 111)
    hold(browser, "draft", lambda: browser.run("document.querySelector('form').requestSubmit(); 0"))
    set_likes(browser, 222)
    let_come(browser)
    if browser.run("document.querySelector('ins') !== null"):
        fail("the differences of an older draft are shown")
    press(browser, "Show differences")
    wait("the differences", lambda: browser.run("document.activeElement.id") == "commit")
    # What was shown is what is committed.
    browser.run("document.getElementById('draft').value = document.getElementById('draft').value.replace('222', '333'); 0")
    browser.key("Enter")
    wait("the changed object", lambda: title(browser) == "Post 13" and "222" in browser.run("document.querySelector('main').textContent"))
    hold(browser, "object", lambda: browser.run("location.hash = '#/object/blog__post/15'; 0"))
    go(browser, "#/object/blog__post/17", "Post 17")
    let_come(browser)
    if title(browser) != "Post 17":
        fail("a late answer has replaced the screen")
    go(browser, "#/type/blog__post", "Post")
    # Post 11 was deleted.
    for number in [52, 102]:
        press(browser, "Next page")
        wait("the next page", lambda: browser.run("document.querySelector('tbody th a')?.textContent") == str(number))
    browser.run("history.back(); 0")
    wait("the page before", lambda: browser.run("document.querySelector('tbody th a')?.textContent") == "52")
    press(browser, "Previous page")
    wait("the first page", lambda: browser.run("document.querySelector('tbody th a')?.textContent") == "1")


def check_values(browser):
    """Values that are easily shown as others."""
    values = "Object.fromEntries([...document.querySelectorAll('.fields tr')].slice(1).map(row => [...row.children].map(cell => cell.textContent)))"
    go(browser, "#/object/blog__author/1", "Author ada")
    shown = browser.run(f"JSON.stringify({values})")
    for name in ["constructor", "__proto__"]:
        if json.loads(shown).get(f"{name} string", "–") != "–":
            fail(f"the absent field {name} has a value: {shown}")
    go(browser, "#/object/blog__post/301", "Post 9001")
    text = browser.run("document.querySelector('main').textContent")
    for mark in ["U+0000", "U+202E", "U+200B", "U+00AD", "U+E0041", "lat-0lon0"]:
        if mark not in text:
            fail(f"{mark} is not shown")


SCREENS = [
    ("overview", "#/", "Overview"), ("rows", "#/type/blog__post", "Post"), ("object", "#/object/blog__post/3", "Post 3"),
    ("author", "#/object/blog__author/1", "Author ada"), ("hostile", "#/object/blog__post/301", "Post 9001"),
    ("large", "#/object/blog__post/302", "Post 9002"), ("live", "#/live", "Live"), ("health", "#/health", "Health"),
    ("edit", "#/edit/blog__post/3", "Change Post"), ("delete", "#/delete/blog__post/3", "Delete Post 3"), ("query", "#/query", "Query"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=str(root / ".build/debug/dflat"))
    parser.add_argument("folder", nargs="?", default=str(root / ".build/inspector"))
    arguments = parser.parse_args()
    pictures = pathlib.Path(arguments.folder)
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ["file", "chromium", "firefox"]:
            (folder / part).mkdir()
        file = File(arguments.program, folder / "file")
        check_chromium(file, folder / "chromium", pictures)
        check_firefox(file, folder / "firefox", pictures)
    print(f"check-inspector: all is well; pictures are in {pictures}")


def check_chromium(file, folder, pictures):
    browser = Chromium(folder)
    try:
        browser.look(1440, 900, "light")
        origin = keyboard_path(browser, file, file.serve())
        print("check-inspector: Chromium: the way by keyboard is whole")
        late_answers(browser)
        check_values(browser)
        print("check-inspector: Chromium: late answers replace nothing, and values are shown as they are")
        for name, address, expected in SCREENS:
            go(browser, address, expected)
            if name == "query":
                browser.run("document.getElementById('query').value = 'Post where likes > 400 and attachment is Photo order by likes desc limit 8'; document.querySelector('form').requestSubmit(); 0")
                wait("the answer", lambda: "objects in" in browser.run("document.querySelector('main').textContent"))
            check_tabs(browser, name)
            check_roles(browser, name)
            browser.run("document.activeElement.blur(); scrollTo(0, 0); 0")
            for width, height in [(400, 800), (900, 700), (1440, 900)]:
                for scheme in ["light", "dark"]:
                    browser.look(width, height, scheme)
                    wide = browser.run("document.documentElement.scrollWidth")
                    if wide > width:
                        fail(f"{name}: the page is {wide} wide on a screen of {width}")
                    browser.picture(pictures / f"chromium-{name}-{width}-{scheme}.png")
            browser.look(1440, 900, "light")
            if browser.run("document.querySelectorAll('main script, main img, main iframe, main b').length") != 0:
                fail(f"{name}: a text of the file became markup")
        foreign = [address for address in browser.addresses() if not address.startswith(origin) and not address.startswith("data:") and address != "about:blank"]
        if foreign or browser.complaints():
            fail(f"foreign addresses {foreign}, complaints {browser.complaints()}")
        print(f"check-inspector: Chromium: {len(SCREENS)} screens have landmarks, names, and controls that Tab reaches")
    finally:
        browser.close()
        file.stop()


def check_firefox(file, folder, pictures):
    browser = Firefox(folder)
    try:
        browser.open(file.serve())
        wait("the overview", lambda: title(browser) == "Overview")
        for name, address, expected in SCREENS:
            go(browser, address, expected)
            if name == "query":
                browser.run("document.getElementById('query').value = 'Post where likes > 400 limit 8'; document.querySelector('form').requestSubmit(); 0")
                wait("the answer", lambda: "objects in" in browser.run("document.querySelector('main').textContent"))
            for width, height in [(400, 800), (1440, 900)]:
                browser.look(width, height, "light")
                browser.picture(pictures / f"firefox-{name}-{width}.png")
        if browser.complaints():
            fail(f"Firefox: {browser.complaints()}")
        print(f"check-inspector: Firefox: {len(SCREENS)} screens are shown")
    finally:
        browser.close()
        file.stop()


for tool in ["chromium", "firefox-esr"]:
    if not shutil.which(tool):
        fail(f"there is no {tool}: call Scripts/bootstrap.sh browsers")
main()
