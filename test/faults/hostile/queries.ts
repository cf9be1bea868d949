import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Random } from '../../../packages/sdk/test/random.ts'
import type { Attack } from './attacker.ts'

const CONNECTION_COUNT = 4
/** What an attacker waits for an answer before it hangs up. Unit: milliseconds. */
const PATIENCE_MS = 500
const METRICS = ['hostile_heat_celsius', 'hostile_wide_turns_total', 'numbered_number_total', 'node_load1', 'none']

function open(address: string): Socket {
  return connect(Number(new URL(address).port), '127.0.0.1').on('error', () => undefined)
}

/** As many questions as a request may have, over all that there is. */
function questions(random: Random): string {
  const matchers = () =>
    Array.from({ length: random.integer(0, 16) }, (_, at) => ({ label: 'place', op: '!=', value: `none-${at}` }))
  const queries = Array.from({ length: 64 }, () => ({ metric: random.pick(METRICS), matchers: matchers() }))
  const fromMs = Date.now() - random.pick([1000, 60_000, 3_600_000, 86_400_000])
  return JSON.stringify({ fromMs, stepMs: random.pick([1000, 60_000]), queries })
}

function post(address: string, path: string, body: string, headers = ''): string {
  const { host } = new URL(address)
  const length = Buffer.byteLength(body)
  return `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${headers}\r\n${body}`
}

/** Attacks by queries. */
export const QUERY_ATTACKS: Readonly<Record<string, Attack>> = {
  /** Very much at a time, from connections that come again before they have all answers. */
  async asks({ address, random }) {
    for (let visit = 0; visit < 3; visit++) {
      const sockets = Array.from({ length: CONNECTION_COUNT }, () => open(address))
      for (const socket of sockets) socket.write(post(address, '/api/v1/query', questions(random)).repeat(4))
      const patience = AbortSignal.timeout(PATIENCE_MS)
      const answers = sockets.map((socket) => once(socket, 'data', { signal: patience }).catch(() => undefined))
      await (random.chance(0.5) ? Promise.all(answers) : Promise.race(answers))
      for (const socket of sockets) socket.destroy()
    }
  },
  /** Hangs up in the middle of a request, or of an answer that is not read. */
  async hangsUp({ address, random }) {
    for (let times = 0; times < 20; times++) {
      const socket = open(address)
      const path = random.pick(['/api/v1/query', '/api/v1/simulator/scenarios', '/api/v1/records', '/metrics'])
      const request = post(address, path, questions(random))
      await once(socket, 'connect')
      const cut = request.slice(0, random.chance(0.3) ? request.length : random.integer(1, request.length))
      await new Promise((resolve) => socket.write(cut, resolve))
      if (random.chance(0.5)) socket.resetAndDestroy()
      else socket.destroy()
    }
  },
  /** A page of another site starts something. */
  async foreignOrigin({ address, random }) {
    const origin = random.pick(['http://evil.example', 'null', 'http://127.0.0.1:1', 'https://localhost'])
    const scenario = JSON.stringify({ name: 'gpu-lost' })
    for (const path of ['/api/v1/simulator', '/api/v1/simulator/scenarios']) {
      const socket = open(address)
      socket.write(post(address, path, scenario, `origin: ${origin}\r\n`))
      const [answer] = await once(socket, 'data')
      socket.destroy()
      assert.match(String(answer), /^HTTP\/1\.1 403 /, `${path} of ${origin}`)
    }
  },
}
