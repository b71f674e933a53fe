#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page.py PROGRAM RECORDING - the page of `steno serve` in headless Chromium, with a microphone that plays RECORDING.

Needs Debian's chromium-driver and python3-selenium (tools/packages browser); exit status 77 where they are missing."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import wave

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError:
    sys.exit(77)

PROGRAM, RECORDING = sys.argv[1], pathlib.Path(sys.argv[2])
SAID = "the train to paris leaves in seven minutes"
WAIT = 60  # seconds: the machine may be busy


class Server:
    def __init__(self, *options):
        command = [PROGRAM, "serve", "--port", "0", "--demo", "parakeet-tdt", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"listening on http and ws://\S*?127\.0\.0\.1:(\d+)", line):
                self.url = f"http://127.0.0.1:{found[1]}/"
                return
        raise AssertionError("the server does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()


def spoken(folder):
    """RECORDING with the silence that ends a turn, as the browser's microphone plays it."""
    path = pathlib.Path(folder) / "microphone.wav"
    with wave.open(str(RECORDING)) as source, wave.open(str(path), "wb") as to:
        to.setparams(source.getparams())
        to.writeframes(source.readframes(source.getnframes()) + bytes(2 * 4 * source.getframerate()))
    return path


def open_browser(microphone):
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-fake-ui-for-media-stream",
                 "--use-fake-device-for-media-stream", f"--use-file-for-fake-audio-capture={microphone}%noloop",
                 "--autoplay-policy=no-user-gesture-required"):
        options.add_argument(flag)
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def at(browser, name):
    return browser.find_element(By.ID, name)


def turns(browser):
    return [t.text for t in browser.find_elements(By.CSS_SELECTOR, "#text .turn:not(.open)")]


def wait_for(browser, condition, what):
    WebDriverWait(browser, WAIT).until(lambda _: condition(), f"{what}; the page says {at(browser, 'state').text!r}")


def open_page(browser, server):
    browser.get(server.url)
    wait_for(browser, lambda: at(browser, "model").text != "" or at(browser, "state").text != "", "models are listed")


def file_is_heard(browser, server):
    open_page(browser, server)
    at(browser, "file").send_keys(str(RECORDING.resolve()))
    wait_for(browser, lambda: any(SAID in t for t in turns(browser)), "a file's words appear")
    words = browser.find_elements(By.CSS_SELECTOR, "#text .word")
    check([w.text for w in words] == SAID.split(), "every word is an element")
    times = [re.fullmatch(r"0:0(\d\.\d) – 0:0(\d\.\d)", w.get_attribute("title")) for w in words]
    check(all(times), "every word has its times")
    starts = [float(t[1]) for t in times]
    check(starts == sorted(starts) and starts[-1] > 1, "times go on")
    check(at(browser, "state").text == "", "nothing is said where nothing is wrong")


def what_is_no_recording_is_told(browser, server):
    open_page(browser, server)
    at(browser, "file").send_keys(__file__)
    wait_for(browser, lambda: at(browser, "state").get_attribute("className") == "bad", "a wrong file is told")
    check("page.py" in at(browser, "state").text or "file" in at(browser, "state").text, "it says what is wrong")


def microphone_is_heard(browser, server):
    open_page(browser, server)
    at(browser, "record").click()
    wait_for(browser, lambda: any(SAID in t for t in turns(browser)), "spoken words appear")
    check(re.search(r"0:0\d\.\d – 0:0\d\.\d", turns(browser)[0]), "the turn has its times")
    check(at(browser, "record").text == "Stop", "the button stops")
    at(browser, "record").click()
    wait_for(browser, lambda: at(browser, "record").text == "Record", "it has stopped")


def nothing_comes_from_elsewhere(browser, server):
    open_page(browser, server)
    names = browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    check(names and all(n.startswith(server.url) for n in names), f"all of it is of this server: {names}")
    errors = [e for e in browser.get_log("browser") if e["level"] == "SEVERE" and "favicon" not in e["message"]]
    check(not errors, f"the console has no errors: {errors}")


def key_is_asked_for(browser, folder):
    keys = pathlib.Path(folder) / "keys"
    keys.write_text("a-key-of-the-test\n")
    with Server("--api-keys", str(keys)) as server:
        open_page(browser, server)
        check("wants a key" in at(browser, "state").text, "the page asks for a key")
        at(browser, "key").send_keys("a-key-of-the-test\t")
        wait_for(browser, lambda: at(browser, "model").text != "", "a key opens it")
        Select(at(browser, "model")).select_by_index(0)
        at(browser, "file").send_keys(str(RECORDING.resolve()))
        wait_for(browser, lambda: any(SAID in t for t in turns(browser)), "and recordings are heard")


def speakers_are_told(folder):
    model = pathlib.Path(__file__).resolve().parents[2] / "golden" / "sortformer" / "model.gguf"  # small and random
    head = r"([A-D], )?0:\d\d\.\d – 0:\d\d\.\d"
    with Server("--speakers", str(model)) as server:
        browser = open_browser(spoken(folder))  # which plays the recording once
        try:
            open_page(browser, server)
            at(browser, "speakers").click()
            at(browser, "record").click()
            words = lambda: re.sub(head, "", " ".join(turns(browser))).split()
            wait_for(browser, lambda: words() == SAID.split(), "spoken words appear")
            at(browser, "record").click()
            wait_for(browser, lambda: any(re.match(r"[A-D], 0:0", t) for t in turns(browser)), "who spoke is told")
            check(words() == SAID.split(), f"the text is the same: {turns(browser)}")
        finally:
            browser.quit()


def main():
    if shutil.which("chromedriver") is None:
        return 77
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        browser = open_browser(spoken(folder))
        try:
            tests = (nothing_comes_from_elsewhere, file_is_heard, what_is_no_recording_is_told, microphone_is_heard)
            for test in tests:
                test(browser, server)
                print("ok", test.__name__, flush=True)
            key_is_asked_for(browser, folder)
            print("ok key_is_asked_for", flush=True)
        finally:
            browser.quit()
        speakers_are_told(folder)
        print("ok speakers_are_told")
    return 0


if __name__ == "__main__":
    sys.exit(main())
