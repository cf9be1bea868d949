import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { test } from 'node:test'
import { Random, SEED } from '../../../sdk/test/random.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { simulator } from '../sources/simulator/simulator.ts'

const REQUESTS = 600
const PATHS = [
  '/api/v1/query',
  '/api/v1/stream',
  '/api/v1/series',
  '/api/v1/node',
  '/api/v1/types',
  '/api/v1/rates',
  '/api/v1/sources',
  '/api/v1/sources/steady',
  '/api/v1/sources/%F0%9F%92%A5',
  '/api/v1/devices',
  '/api/v1/hints',
  '/api/v1/explain',
  '/api/v1/simulator',
  '/api/v1/simulator/scenarios',
  '/api/v1/simulator/scenarios/1',
  '/metrics',
  '/cset/a',
  '/fset/%2e%2e',
  '/a',
  '/healthz',
  '/readyz',
  '/',
  '//',
  '/api',
  '/api/v1/',
  '/API/v1/node',
  '/api/v1/../v1/node',
]
const WORDS = [
  'steady_samples_total',
  'steady_sampled_ms',
  'sonde_http_streams',
  'straggler',
  'sim-gpu-3',
  'simulator',
  '',
  'device',
  '__proto__',
  'constructor',
  'toString',
  '\u0000',
  '%',
  'ß',
  '💥',
  '"',
  '\\',
  "'",
  '{',
  '-1',
  '1e309',
  'NaN',
  'null',
  'a'.repeat(3000),
]
const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1,
  100,
  1000,
  1e6,
  1e13,
  1e14,
  1e300,
  -1e300,
  '',
  [],
  {},
  [[]],
  Number.MAX_SAFE_INTEGER,
]
const KEYS = [
  'metric',
  'matchers',
  'by',
  'aggregate',
  'function',
  'stepMs',
  'fromMs',
  'toMs',
  'queries',
  'label',
  'op',
  'value',
  'name',
  'device',
  'severity',
  'delayS',
  'durationS',
  '__proto__',
  'extra',
]
const FUNCTIONS = ['last', 'avg', 'min', 'max', 'rate', 'increase', 'median']
const OPS = ['=', '!=', '=~', '!~', '~']
const HEADERS = [
  'accept',
  'accept-encoding',
  'content-type',
  'last-event-id',
  'range',
  'if-none-match',
  'cookie',
  'x-forwarded-for',
  'origin',
  'expect',
]
const HEADER_VALUES = [
  'gzip',
  'application/json',
  'application/x-sonde-columns',
  'application/openmetrics-text',
  '*/*',
  ';;;,q=',
  'text/plain;version=',
  'bytes=0-',
  'q=9',
  '0',
  '1795259190000',
  '-5',
  'x',
]

/** JSON that is nearly, or not at all, a request. */
function form(random: Random, depth = 0): unknown {
  if (depth > 3 || random.chance(0.3)) return random.chance(0.5) ? random.pick(VALUES) : random.pick(WORDS)
  const entries = Array.from({ length: random.integer(0, 4) }, () => [random.pick(KEYS), form(random, depth + 1)])
  return random.chance(0.2) ? entries.map(([, value]) => value) : Object.fromEntries(entries)
}

/** A start of a scenario that is right but for a value or two. */
function nearlyStart(random: Random): Record<string, unknown> {
  const wild = () => (random.chance(0.3) ? { [random.pick(KEYS)]: random.pick(VALUES) } : {})
  return { name: random.pick(['straggler', 'link-flap', 'mig', random.pick(WORDS)]), ...wild(), ...wild() }
}

/** A request that is right but for a key or two. */
function nearlyRight(random: Random): Record<string, unknown> {
  const nowMs = Date.now()
  const query = {
    metric: random.pick(WORDS),
    function: random.pick(FUNCTIONS),
    matchers: Array.from({ length: random.integer(0, 3) }, () => ({
      label: random.pick(WORDS),
      op: random.pick(OPS),
      value: random.pick([...WORDS, '.*', '(a|b)', '(a+)+', '[', 'dev\\d']),
    })),
    ...(random.chance(0.5) ? { by: [random.pick(WORDS)] } : {}),
  }
  const whole: Record<string, unknown> = {
    fromMs: nowMs - random.integer(0, 20_000),
    toMs: nowMs,
    stepMs: random.pick([0, 1, 10, 100, 1000]),
    queries: Array(random.integer(0, 3)).fill(query),
  }
  if (random.chance(0.3)) whole[random.pick(KEYS)] = form(random)
  return whole
}

/** Bytes as a part of an address: half a character can be written there too. */
function percentOf(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[^\w]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

function requestOf(random: Random): { options: RequestOptions; body: Buffer } {
  const made = random.chance(0.2) ? nearlyStart(random) : random.chance(0.7) ? nearlyRight(random) : form(random)
  const whole = Buffer.from(JSON.stringify(made) ?? '')
  const sent = random.chance(0.1) ? whole.subarray(0, random.integer(0, whole.length)) : whole
  const parameters = Array.from(
    { length: random.integer(0, 3) },
    () =>
      `${random.pick(['q', 'of', 'metric', 'type', 'lastEventId', 'x', '__proto__'])}=${random.chance(0.5) ? percentOf(sent) : random.pick(['', '%', '1', 'a&a=b', encodeURIComponent(random.pick(WORDS))])}`,
  )
  const headers = Object.fromEntries(
    Array.from({ length: random.integer(0, 3) }, () => [random.pick(HEADERS), random.pick(HEADER_VALUES)]),
  )
  delete headers.expect
  const method = random.pick([
    'GET',
    'GET',
    'GET',
    'POST',
    'POST',
    'HEAD',
    'OPTIONS',
    'PUT',
    'DELETE',
    'PATCH',
    'TRACE',
    'PROPFIND',
  ])
  const hasBody = method === 'POST' || method === 'PUT'
  if (hasBody && random.chance(0.8)) headers['content-type'] = 'application/json'
  return {
    options: { method, path: `${random.pick(PATHS)}?${parameters.join('&')}`, headers },
    body: hasBody ? sent : Buffer.alloc(0),
  }
}

/** Status and beginning of an answer; a stream has no end, so a little is enough. */
async function ask(
  address: string,
  { options, body }: { options: RequestOptions; body: Buffer },
): Promise<{ status: number; text: string }> {
  const asked = request(address, { ...options, agent: false }).end(body)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  if (response.headers['content-type'] === 'text/event-stream') {
    asked.destroy()
    return { status: response.statusCode ?? 0, text: '' }
  }
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, text }
}

test(`${REQUESTS} random requests: none fails by a fault of ours, and every refusal says why`, async (t) => {
  const { agent, address } = await serveAgent(t, { sources: [simulator] })
  const random = new Random(SEED)
  const seen = new Map<number, number>()
  for (let i = 0; i < REQUESTS; i++) {
    const asked = requestOf(random)
    const { status, text } = await ask(address, asked)
    const words = `request ${i} of SONDE_SEED=${SEED}: ${asked.options.method} ${asked.options.path} ${asked.body} → ${status} ${text}`
    seen.set(status, (seen.get(status) ?? 0) + 1)
    if (asked.options.path?.startsWith('/readyz') !== true) assert.ok(status < 500, words)
    if (status >= 400 && status < 500 && asked.options.method !== 'HEAD')
      assert.match(text, /^\{"error":\{"code":"[A-Z_]+","message":".+"\}\}$/s, words)
  }
  assert.equal(agent.http.errors, 0)
  assert.ok((seen.get(200) ?? 0) > 20 && (seen.get(400) ?? 0) > 20, `answers by status: ${JSON.stringify([...seen])}`)
  assert.equal((await fetch(`${address}/healthz`)).status, 200)
})
