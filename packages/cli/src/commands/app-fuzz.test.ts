import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appRoutes } from '@sonde/console'
import type { AppGpuAnswer } from '@sonde/sdk/api'
import { podSource } from '../../../agent/test/pod-source.ts'
import { serveAgent } from '../../../agent/test/served-agent.ts'
import { until } from '../../../sdk/test/helper.ts'
import { Random, SEED } from '../../../sdk/test/random.ts'
import { gpuReaders } from './gpu-readers.ts'

const REQUESTS = 600
const LIMITS = { services: 3, concurrent: 10, cells: 5000 }
const WORDS = [
  ...[
    'chat',
    'decode',
    'decode-0',
    'gpu-util',
    '',
    '.',
    '..',
    '.*',
    '(a+)+',
    '[',
    'a|b',
    '"',
    '\\',
    "'",
    '{}',
    '}) or vector(1',
  ],
  ...[
    '__proto__',
    'constructor',
    '\u0000',
    '%',
    'ß',
    '💥',
    'a,b',
    ',',
    'true',
    'null',
    'NaN',
    '-1',
    '0',
    '1',
    '5',
    '7.5',
    '60',
  ],
  ...[
    '1e3',
    '1e309',
    '0x10',
    '9007199254740993',
    '99999999999999999999',
    '1970-01-01',
    '2026-13-40',
    '+275760-09-13',
    'a'.repeat(300),
  ],
]
const KEYS = ['app', 'services', 'start', 'end', 'period', 'fields', 'largest', '__proto__', 'x']
const PATHS = [
  '/api/v1/apps',
  '/api/v1/pods',
  '/api/v1/apps/$/gpu',
  '/api/v1/apps/$/services',
  '/api/v1/apps/$/processes',
  '/api/v1/apps/$/processes/$',
  '/api/v1/apps/$/services/$/metrics',
  '/api/v1/apps/$/metrics-by-service',
]

/** A valid request in which one or two words are wrong. */
function addressOf(random: Random): string {
  const word = () =>
    encodeURIComponent(random.chance(0.5) ? random.pick(['chat', 'decode', 'decode-0']) : random.pick(WORDS))
  const path = random.pick(PATHS).replaceAll('$', word)
  const toMs = Date.now()
  const usual = random.chance(0.5) ? [`services=decode&start=${toMs - random.integer(0, 90_000_000)}&end=${toMs}`] : []
  const wild = Array.from({ length: random.integer(0, 3) }, () => `${random.pick(KEYS)}=${word()}`)
  return `${path}?${[...usual, ...wild].join('&')}`
}

test(`${REQUESTS} random requests to the routes of apps: each is answered or refused with what is allowed (seed ${SEED})`, async (t) => {
  const pods = [{ app: 'chat', service: 'decode', pod: 'decode-0', gpus: [{ UUID: 'G0', values: { gpu_util: 40 } }] }]
  const { address, agent } = await serveAgent(t, {
    sources: [podSource(() => ({ pods }))],
    routes: (app, agent) =>
      appRoutes(app, { history: agent.history, limits: () => LIMITS, readers: () => gpuReaders(agent) }),
  })
  const chat = async () => {
    const answer = (await (await fetch(`${address}/api/v1/apps/chat/gpu`)).json()) as AppGpuAnswer
    return answer.pods[0]?.values['gpu-util'] === 40
  }
  await until('the pod', chat)
  const random = new Random(SEED)
  const seen = new Map<number, number>()
  for (let i = 0; i < REQUESTS; i++) {
    const path = addressOf(random)
    const answer = await fetch(`${address}${path}`)
    const text = await answer.text()
    const words = `request ${i}: ${path} → ${answer.status} ${text.slice(0, 300)}`
    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
    assert.ok([200, 400, 404, 414].includes(answer.status), words)
    if (answer.status !== 200) assert.match(text, /^\{"error":\{"code":"[A-Z_]+","message":".+"\}\}$/s, words)
  }
  for (const status of [200, 400, 404]) assert.ok((seen.get(status) ?? 0) > 20, JSON.stringify([...seen]))
  assert.equal(agent.http.errors, 0)
  assert.ok(await chat(), 'the pod has its number as before')
})
