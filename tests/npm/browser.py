#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser.py PACKAGE SOURCES - the npm package in headless Chromium: on the page and in a worker, and how fast it is.

Needs Debian's chromium-driver and python3-selenium (tools/packages browser); exit status 77 where they are missing."""
import functools
import http.server
import json
import pathlib
import shutil
import sys
import threading

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    sys.exit(77)

PACKAGE, SOURCES = map(pathlib.Path, sys.argv[1:3])
SAID = "the train to paris leaves in seven minutes"
PAGE = """<!doctype html><meta charset="utf-8"><title>steno</title><script type="module">
import { Model, StenoError } from "/package/steno.mjs";
import { StenoWorker } from "/package/worker.mjs";
async function run() {
  const file = await (await fetch("/sources/examples/audio/train.wav")).arrayBuffer();
  const audio = new OfflineAudioContext(1, 16000, 16000);
  const samples = (await audio.decodeAudioData(file)).getChannelData(0);
  const model = await Model.load("/sources/examples/models/demo.gguf");
  const result = model.transcribe(samples);
  const begin = performance.now();
  for (let i = 0; i < 5; ++i) model.transcribe(samples);
  const seconds = (performance.now() - begin) / 5000;
  const worker = await StenoWorker.open();
  const live = await worker.load(await (await fetch("/sources/examples/models/u2.gguf")).blob());
  const finals = [];
  const stream = await live.stream({}, (event) => event.final && finals.push(event.utterance.text));
  for (let i = 0; i < samples.length; i += 1600) await stream.push(samples.slice(i, i + 1600));
  await stream.finish();
  await worker.close();
  const missing = await Model.load("/sources/nothing.gguf").catch((e) => e instanceof StenoError && e.message);
  return { text: result.text, words: result.segments[0].words.length, finals, missing, seconds,
           duration: result.duration };
}
run().then((found) => (window.found = found), \
(failure) => (window.found = { failure: String(failure?.stack ?? failure) }));
</script>"""


class Files(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript",
                      ".wasm": "application/wasm"}

    def translate_path(self, path):
        for name, folder in (("/package/", PACKAGE), ("/sources/", SOURCES)):
            if path.startswith(name):
                return str(folder / path[len(name):])
        return "/nonexistent"

    def do_GET(self):
        if self.path != "/":
            return super().do_GET()
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, *_):
        pass


def main():
    if shutil.which("chromedriver") is None:
        return 77
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    try:
        browser.set_script_timeout(120)
        browser.get(f"http://127.0.0.1:{server.server_address[1]}/")
        found = browser.execute_async_script(
            "const done = arguments[0]; const look = () => window.found ? done(window.found) : setTimeout(look, 50);"
            "look();")
    finally:
        browser.quit()
    print(json.dumps(found))
    assert "failure" not in found, found["failure"]
    assert found["text"] == SAID and found["words"] == len(SAID.split()), found
    assert found["finals"] == [SAID], found
    assert "404" in found["missing"], found
    return 0


sys.exit(main())
