// The npm packages openai and ws, and a parser of Prometheus' text, against the real program.
//
//   npm install && node clients.mjs STENO RECORDING.wav
//
// openai's realtime client speaks TLS alone, which the server leaves to a proxy: one of a few lines stands before it.
// SPDX-License-Identifier: Apache-2.0
import { spawn, execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import vm from 'node:vm';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import WebSocket from 'ws';
import parsePrometheus from 'parse-prometheus-text-format';

const [program, recording] = process.argv.slice(2);
const said = 'the train to paris leaves in seven minutes';
const key = 'sk-0123456789abcdef';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'steno-npm-'));
fs.writeFileSync(path.join(folder, 'keys'), key + '\n');

async function serve(...more) {
  const child = spawn(program, ['serve', '--port', '0', '--api-keys', path.join(folder, 'keys'), ...more]);
  let log = '';
  const port = await new Promise((resolve, reject) => {
    child.stderr.on('data', (data) => {
      log += data;
      const at = /:\/\/127\.0\.0\.1:(\d+)/.exec(log);
      if (at) resolve(Number(at[1]));
    });
    child.on('exit', () => reject(new Error(log)));
  });
  return { port, log: () => log, stop: () => new Promise((done) => (child.on('exit', done), child.kill('SIGTERM'))) };
}

// 16 kHz to 24 kHz by straight lines, behind half a second of silence and before a whole one.
function faster(wav) {
  const pcm = new Int16Array(wav.buffer.slice(wav.byteOffset + 44));
  const out = new Int16Array(12000 + Math.floor(pcm.length * 1.5) - 2 + 24000);
  for (let i = 0; i < pcm.length * 1.5 - 2; ++i) {
    const at = Math.floor((i * 2) / 3);
    const rest = (i * 2) / 3 - at;
    out[12000 + i] = pcm[at] * (1 - rest) + pcm[at + 1] * rest;
  }
  return Buffer.from(out.buffer);
}

function certificate() {
  const [keyFile, certFile] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost',
    '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' });
  return { key: fs.readFileSync(keyFile), cert: fs.readFileSync(certFile) };
}
async function encrypted(port) {
  const proxy = tls.createServer(certificate(), (from) => {
    const to = net.connect(port, '127.0.0.1');
    from.pipe(to).pipe(from);
    from.on('error', () => to.destroy());
    to.on('error', () => from.destroy());
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  return proxy;
}

async function recordings(client) {
  const file = () => fs.createReadStream(recording);
  const model = 'parakeet-tdt';
  assert.equal((await client.audio.transcriptions.create({ file: file(), model })).text, said);
  const verbose = await client.audio.transcriptions.create({
    file: file(), model, response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'],
  });
  assert.equal(verbose.words.length, 8);
  assert.equal(verbose.segments.length, 1);
  const srt = await client.audio.transcriptions.create({ file: file(), model, response_format: 'srt' });
  assert.match(srt, /^1\n00:00:00,\d+ --> /);
  let text = '';
  let done = '';
  for await (const event of await client.audio.transcriptions.create({ file: file(), model, stream: true })) {
    if (event.type === 'transcript.text.delta') text += event.delta;
    if (event.type === 'transcript.text.done') done = event.text;
  }
  assert.equal(text, said);
  assert.equal(done, said);
  await assert.rejects(client.audio.transcriptions.create({ file: file(), model: 'gpt-4o-transcribe' }),
    (e) => e instanceof OpenAI.NotFoundError && e.code === 'model_not_found' && e.param === 'model');
  await assert.rejects(client.audio.transcriptions.create({ file: file(), model, known_speaker_names: ['A'] }),
    (e) => e instanceof OpenAI.BadRequestError && e.param === 'known_speaker_names[]');
  await assert.rejects(client.audio.translations.create({ file: file(), model }), OpenAI.BadRequestError);
  const ids = [];
  for await (const m of client.models.list()) ids.push(m.id);
  assert.deepEqual(ids, [model]);
  assert.equal((await client.models.retrieve(model)).owned_by, 'steno');
}

async function realtime(client, proxy) {
  const url = `https://127.0.0.1:${proxy.address().port}/v1`;
  const rt = new OpenAIRealtimeWS({ model: 'parakeet-tdt', options: { rejectUnauthorized: false } },
    { apiKey: client.apiKey, baseURL: url });
  const seen = [];
  let deltas = '';
  const completed = new Promise((resolve, reject) => {
    rt.on('event', (e) => seen.push(e.type));
    rt.on('error', reject);
    rt.on('conversation.item.input_audio_transcription.delta', (e) => (deltas += e.delta));
    rt.on('conversation.item.input_audio_transcription.completed', resolve);
  });
  await new Promise((done) => rt.on('session.created', done));
  rt.send({ type: 'session.update', session: { type: 'transcription', audio: { input: {
    format: { type: 'audio/pcm', rate: 24000 }, transcription: { model: 'parakeet-tdt' },
    turn_detection: { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 } } } } });
  await new Promise((done) => rt.on('session.updated', done));
  const pcm = faster(fs.readFileSync(recording));
  for (let at = 0; at < pcm.length; at += 9600)
    rt.send({ type: 'input_audio_buffer.append', audio: pcm.subarray(at, at + 9600).toString('base64') });
  const e = await completed;
  assert.equal(e.transcript, said);
  assert.ok(said.startsWith(deltas), deltas);
  for (const type of ['input_audio_buffer.speech_started', 'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed', 'conversation.item.added', 'conversation.item.done'])
    assert.ok(seen.includes(type), type);
  const refused = new Promise((resolve) => rt.on('error', resolve));
  rt.send({ type: 'response.create', event_id: 'mine' });
  assert.equal((await refused).error.event_id, 'mine');
  rt.close();
}

async function wenet(port) {
  const ws = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { Authorization: `Bearer ${key}` } });
  await new Promise((done) => ws.on('open', done));
  const last = new Promise((resolve) => {
    let sentence = '';
    ws.on('message', (data) => {
      const m = JSON.parse(data);
      if (m.type === 'server_ready') {
        ws.send(fs.readFileSync(recording).subarray(44));
        ws.send(JSON.stringify({ signal: 'end' }));
      }
      if (m.type === 'final_result') sentence += JSON.parse(m.nbest)[0].sentence;
      if (m.type === 'speech_end') resolve(sentence);
    });
  });
  ws.send(JSON.stringify({ signal: 'start', nbest: 1, continuous_decoding: true }));
  assert.equal(await last, said);
}

// The page is whole, asks nobody else for anything, and its script is one that a browser takes.
async function page(port) {
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-security-policy'), /default-src 'none'/);
  const html = await answer.text();
  assert.ok(html.startsWith('<!doctype html>') && html.trimEnd().endsWith('</html>'));
  assert.doesNotMatch(html, /(src|href)=/);
  new vm.Script(/<script>([^]*)<\/script>/.exec(html)[1]);
}

async function figures(port) {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { Authorization: `Bearer ${key}` } });
  const families = parsePrometheus(await answer.text());
  const one = (name) => families.find((f) => f.name === name);
  assert.equal(one('steno_recordings_total').type, 'COUNTER');
  const latency = one('steno_request_seconds');
  assert.equal(latency.type, 'HISTOGRAM');
  const { buckets, count, sum } = latency.metrics[0];
  assert.equal(buckets['+Inf'], count);
  let before = 0;
  for (const le of Object.keys(buckets).filter((k) => k !== '+Inf').sort((a, b) => a - b)) {
    assert.ok(Number(buckets[le]) >= before);
    before = Number(buckets[le]);
  }
  assert.ok(Number(sum) > 0);
}

const server = await serve('--demo', 'parakeet-tdt');
const client = new OpenAI({ apiKey: key, baseURL: `http://127.0.0.1:${server.port}/v1`, maxRetries: 0 });
const proxy = await encrypted(server.port);
try {
  await recordings(client);
  await realtime(client, proxy);
  await wenet(server.port);
  await figures(server.port);
  await page(server.port);
} finally {
  proxy.close();
  await server.stop();
}
const whisper = await serve('--demo', 'whisper');
try {
  const c = new OpenAI({ apiKey: key, baseURL: `http://127.0.0.1:${whisper.port}/v1`, maxRetries: 0 });
  const t = await c.audio.translations.create({ file: fs.createReadStream(recording), model: 'whisper' });
  assert.equal(typeof t.text, 'string');
} finally {
  await whisper.stop();
}
fs.rmSync(folder, { recursive: true });
console.log('all clients are content');
process.exit(0);
