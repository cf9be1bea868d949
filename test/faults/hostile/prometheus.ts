import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type SondeProcess, startSonde } from '../../sonde-process.ts'
import type { Attack } from './attacker.ts'

/** The honest reader has its answer within this. Unit: milliseconds. */
const ANSWER_LIMIT_MS = 20_000
/** What a hostile reader waits for its answer. Unit: milliseconds. */
const PATIENCE_MS = 300
const HOUR_S = 3600

function answerWith(response: ServerResponse, resultType: string, result: readonly object[]): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ status: 'success', data: { resultType, result } }))
}

/** A series with a value at a time from now. */
function seriesAt(path: string, metric: string, agoS: number): RequestListener {
  const at = Math.round(Date.now() / 1000) - agoS
  const labels = { __name__: metric, __part: '0', instance: 'node' }
  return (_, response) =>
    path.endsWith('query_range')
      ? answerWith(response, 'matrix', [{ metric: labels, values: [[at, '1']] }])
      : answerWith(response, 'vector', [{ metric: labels, value: [at, '1'] }])
}

/** How the server answers, where it is not asked for honest metrics. */
interface Stage {
  lie: RequestListener
}

/** A console over a server that answers questions about `honest_` metrics, and lies about all others. */
export class LyingPrometheus {
  readonly #server: Server
  readonly #console: SondeProcess
  readonly #stage: Stage
  #asked = 0

  private constructor(server: Server, sonde: SondeProcess, stage: Stage) {
    this.#server = server
    this.#console = sonde
    this.#stage = stage
  }

  static async open(): Promise<LyingPrometheus> {
    const stage: Stage = { lie: (_, response) => answerWith(response, 'matrix', []) }
    const server = createServer(async (request, response) => {
      const { url = '' } = request
      if (url.startsWith('/-/healthy')) return void response.end('ok')
      const asked = new URLSearchParams(await text(request).catch(() => '')).get('query') ?? url
      const [honest] = /honest_\d+/.exec(asked) ?? []
      const answer = honest === undefined ? stage.lie : seriesAt(url, honest, 5)
      return answer(request, response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const sonde = await startSonde(['console', '--prometheus', url, '--log-level', 'error'])
    return new LyingPrometheus(server, sonde, stage)
  }

  /** Hostile readers ask, and hang up; an honest reader asks meanwhile, and is answered. */
  async lies(lie: RequestListener): Promise<void> {
    this.#stage.lie = lie
    const patience = AbortSignal.timeout(PATIENCE_MS)
    const hostile = [0, 1, 2, 3].map(() => this.#ask('hostile', patience).catch(() => undefined))
    const pods = fetch(`${this.#console.address}/api/v1/pods`, { signal: patience }).catch(() => undefined)
    await Promise.all([...hostile, pods])
    const { status, body } = await this.#ask('honest', AbortSignal.timeout(ANSWER_LIMIT_MS))
    assert.equal(status, 200, body)
    const { results } = JSON.parse(body) as { results: { series?: unknown[] }[] }
    assert.equal(results[0]?.series?.length, 1, `the honest reader got ${body}`)
  }

  /** The console lives, and said nothing bad. */
  check(): void {
    assert.equal(this.#console.child.exitCode, null)
    assert.doesNotMatch(this.#console.output(), /"level":(50|60)/)
  }

  async close(): Promise<void> {
    await this.#console.stop('SIGKILL')
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #ask(whose: string, signal: AbortSignal): Promise<{ status: number; body: string }> {
    const queries = [{ metric: `${whose}_${this.#asked++}` }]
    const body = JSON.stringify({ fromMs: Date.now() - 60_000, stepMs: 1000, queries })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${this.#console.address}/api/v1/query`, { method: 'POST', headers, body, signal })
    return { status: answer.status, body: await answer.text() }
  }
}

/** What a Prometheus can do to the readers of a console. */
export const PROMETHEUS_ATTACKS: Readonly<Record<string, Attack>> = {
  /** Refuses for ever. */
  async refuses({ prometheus, random }) {
    const status = random.pick([503, 422, 500, 401, 302])
    const errorType = random.pick(['timeout', 'canceled', 'execution', 'bad_data'])
    const body = JSON.stringify({ status: 'error', errorType, error: 'x'.repeat(random.integer(0, 10_000)) })
    await prometheus.lies((_, response) => void response.writeHead(status).end(body))
  },
  /** Takes questions and never answers, or never ends its answer; says all the while that it is healthy. */
  async hangs({ prometheus, random }) {
    const start = random.pick(['', '{"status":"success","data":{"resultType":"matrix","result":['])
    await prometheus.lies((_, response) => void (start !== '' && response.write(start)))
  },
  /** Cuts connections. */
  async cuts({ prometheus }) {
    await prometheus.lies((_, response) => void response.destroy())
  },
  /** Its newest sample is of hours ago, or of the future. */
  async mistimes({ prometheus, random }) {
    const agoS = random.pick([5 * HOUR_S, -5 * HOUR_S, 1e9, -1e12])
    await prometheus.lies((request, response) => seriesAt(request.url ?? '', 'hostile', agoS)(request, response))
  },
}
