import assert from 'node:assert/strict'
import { until } from './sonde-process.ts'

// What a running Sonde says over HTTP.

/** Whoever listens at an address: a `sonde` that a test started, or a stage. */
interface Listener {
  readonly address: string
}

/** How long a test waits for a source to come to something. Unit: milliseconds. */
const LIMIT_MS = 30_000

/** What a path of the API answers, `/api/v1/node`; with a body it is posted. Fails where that is an error. */
export async function ask<T>({ address }: Listener, path: string, body?: object): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(address + path, init)
  const text = await answer.text()
  assert.ok(answer.ok, `${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as T
}

/** The page of metrics. */
export async function metricsOf({ address }: Listener, accept = 'text/plain'): Promise<string> {
  const answer = await fetch(`${address}/metrics`, { headers: { accept } })
  assert.equal(answer.status, 200)
  return answer.text()
}

/** The lines of the page of metrics, with numbers as they are written without leading zeros. */
export async function metricLinesOf(listener: Listener): Promise<ReadonlySet<string>> {
  return new Set((await metricsOf(listener)).replace(/ 0+(?=\d)/g, ' ').split('\n'))
}

/** The value of a series on a page of metrics; undefined if it is not there. */
export function numberOn(page: string, series: string): number | undefined {
  const line = page.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

/** A source as the list of sources tells it. */
export interface SourceStatus {
  readonly name: string
  readonly host: string
  readonly state: string
  readonly reason: string
  readonly samples: number
  /** Samples that were left out. */
  readonly overruns: number
  readonly restarts: number
  readonly dropped: Readonly<Record<string, number>>
}

/** How a source fares. */
export async function sourceOf(listener: Listener, name: string): Promise<SourceStatus> {
  const { sources } = await ask<{ sources: SourceStatus[] }>(listener, '/api/v1/sources')
  const found = sources.find((source) => source.name === name)
  assert.ok(found, name)
  return found
}

/** Waits until a source fares as is wanted. */
export function untilSource(
  listener: Listener,
  name: string,
  what: string,
  holds: (status: SourceStatus) => boolean,
): Promise<SourceStatus> {
  return until(`${name}: ${what}`, LIMIT_MS, async () => {
    const status = await sourceOf(listener, name)
    return holds(status) && status
  })
}

/** A source goes on: it is sampled again and again, and never in any state but `reading`. */
export async function goesOn(listener: Listener, name: string): Promise<void> {
  const before = await sourceOf(listener, name)
  await untilSource(listener, name, 'samples that go on', ({ samples, state }) => {
    assert.equal(state, 'reading')
    return samples > before.samples + 3
  })
}
