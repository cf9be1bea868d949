import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const STEP_MS = 200
const QUERY = {
  stepMs: STEP_MS,
  queries: [{ metric: 'sonde_source_samples_total', function: 'max', matchers: [{ label: 'source', value: 'host' }] }],
}

interface Points {
  readonly times: readonly number[]
  readonly results: readonly { readonly series: readonly { readonly values: readonly (number | null)[] }[] }[]
}

interface Reader {
  readonly request: ClientRequest
  /** Every step with its value; null is a gap. */
  readonly steps: [number, number | null][]
  lastId: string
}

/** Reads the live stream until its connection ends. */
async function read({ address }: SondeProcess, lastId: string): Promise<Reader> {
  const url = `${address}/api/v1/stream?q=${encodeURIComponent(JSON.stringify(QUERY))}`
  const request = get(url, { agent: false, headers: lastId === '' ? {} : { 'last-event-id': lastId } })
  request.on('error', () => undefined)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const reader: Reader = { request, steps: [], lastId }
  let text = ''
  response.setEncoding('utf8').on('error', () => undefined)
  response.on('data', (chunk: string) => {
    text += chunk
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) take(reader, event)
  })
  return reader
}

function take(reader: Reader, event: string): void {
  const [, id, data] = /^event: points\nid: (\d+)\ndata: (.*)$/.exec(event) ?? []
  if (id === undefined || data === undefined) return
  const { times, results } = JSON.parse(data) as Points
  const values = results[0]?.series[0]?.values
  reader.steps.push(...times.map((time, i): [number, number | null] => [time, values?.[i] ?? null]))
  reader.lastId = id
}

test('a stream goes on across cuts and a restart: every step once, in order, from history where it was missed', async (t) => {
  const dir = temporaryDir()
  const args = ['up', '--data-dir', dir.path, '--log-level', 'error']
  let sonde = await startSonde(args)
  t.after(async () => {
    await sonde.stop('SIGKILL')
    dir.remove()
  })
  const steps: [number, number | null][] = []
  let lastId = ''
  const readUntil = async (what: string, isEnough: (reader: Reader) => boolean) => {
    const reader = await read(sonde, lastId)
    await until(what, 30_000, () => isEnough(reader))
    reader.request.destroy()
    steps.push(...reader.steps)
    lastId = reader.lastId
  }
  await readUntil('10 steps', (reader) => reader.steps.length >= 10)
  for (let cut = 0; cut < 3; cut++) await readUntil('5 steps', (reader) => reader.steps.length >= 5)
  const counted = steps.flatMap(([, value]) => (value === null ? [] : [value]))
  // Everything that the client has seen is on disk by then, and what came after it, too.
  assert.equal(await sonde.stop('SIGTERM'), 0)
  sonde = await startSonde(args)
  const isAgain = ([, value]: readonly [number, number | null]) => value !== null && value < Math.max(...counted)
  await readUntil('the counter of the new process starts again', (reader) => reader.steps.some(isAgain))

  const [[firstMs] = [0]] = steps
  assert.deepEqual(
    steps.map(([time]) => time),
    steps.map((_, i) => firstMs + i * STEP_MS),
  )
  assert.ok(counted.length > 10)
  assert.deepEqual(
    counted,
    [...counted].sort((a, b) => a - b),
    'a counter only rises',
  )
})
