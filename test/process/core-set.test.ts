import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HttpPeer } from '../../packages/sdk/test/http-peer.ts'
import { ask, metricsOf, numberOn } from '../ask.ts'
import { assertStops, runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
const INTERVAL_S = 2

interface Line {
  readonly type: string
  readonly record: Readonly<Record<string, unknown>>
}

interface Answer {
  readonly results: readonly { readonly series: readonly { readonly values: readonly (number | null)[] }[] }[]
}

test('a destination gets the core set once an interval, the history keeps everything, and check estimates both', async (t) => {
  const peer = await HttpPeer.start(t)
  const { path: dir, remove } = temporaryDir()
  t.after(remove)
  const core = `url: '${peer.url}', linger_ms: 0, set: core, interval_s: ${INTERVAL_S}`
  const configWith = (name: string, jsonl: string) => {
    const file = join(dir, name)
    writeFileSync(file, `export: { jsonl: ${jsonl} }\n`)
    return file
  }
  const sonde = await startSonde(['up', '--only-simulated', '--config', configWith('core.yaml', `{ ${core} }`)])
  t.after(() => sonde.stop('SIGKILL'))

  await until('four intervals have passed', LIMIT_MS, () => gpusOf(peer).size > 0 && leastRecords(peer) >= 4)
  const page = await metricsOf(sonde)
  for (const times of gpusOf(peer).values())
    for (const [i, ns] of times.entries()) {
      const before = times[i - 1]
      // A turn of the agent that comes late moves a record by one sample.
      if (before !== undefined) assert.ok(ns - before >= (INTERVAL_S - 1) * 1e9, `${times.join(' ')}`)
    }
  const gpu = linesOf(peer).find(({ type }) => type === 'nvml_gpu')?.record ?? {}
  assert.ok('gpu_util' in gpu && !('enc_util' in gpu), JSON.stringify(gpu))
  assert.ok(
    linesOf(peer).every(({ type }) => type !== 'ethtool_lane'),
    'a type without a core field is left out',
  )
  assert.ok((numberOn(page, 'sonde_sink_records_thinned_total{sink="jsonl"}') ?? 0) > 0)
  assert.equal(numberOn(page, 'sonde_sink_records_dropped_total{sink="jsonl"}'), 0)
  assert.equal(numberOn(page, 'sonde_sink_records_thinned_total{sink="store"}'), undefined)

  const { sinks } = await ask<{ sinks: { name: string; set: string; intervalS: number }[] }>(sonde, '/api/v1/sources')
  const [jsonl, store] = ['jsonl', 'store'].map((name) => sinks.find((sink) => sink.name === name))
  assert.deepEqual([jsonl?.set, jsonl?.intervalS, store?.set, store?.intervalS], ['core', INTERVAL_S, 'full', 0])

  const toMs = Math.floor(Date.now() / 1000) * 1000 - 2000
  const queries = [{ metric: 'DCGM_FI_DEV_ENC_UTIL', function: 'last' }]
  const form = { fromMs: toMs - 3000, toMs, stepMs: 1000, queries }
  const { results } = await ask<Answer>(sonde, '/api/v1/query', form)
  const values = results[0]?.series[0]?.values ?? []
  assert.ok(values.length >= 3 && values.every((value) => value !== null), JSON.stringify(results))

  const both = configWith('both.yaml', `[{ name: core, ${core} }, { name: full, url: '${peer.url}' }]`)
  const { output } = await runSonde(['check', '--config', both, '--listen', new URL(sonde.address).host])
  const [few, all] = [estimateIn(output, 'core'), estimateIn(output, 'full')]
  const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  const coreLines = lines(await (await fetch(`${sonde.address}/metrics?set=core`)).text())
  assert.ok(Math.abs(few.series / coreLines - 1) < 0.1, `${few.series} of ${coreLines}`)
  assert.ok(Math.abs(all.series / lines(await metricsOf(sonde)) - 1) < 0.1, `${all.series}`)
  assert.ok(few.samples <= few.series / INTERVAL_S + 1, output)
  assert.ok(all.samples > few.samples * 2, output)
  await assertStops(sonde)
})

/** Lines of the bodies so far; each body is parsed once. */
const parsed = new WeakMap<HttpPeer, Line[][]>()

function linesOf(peer: HttpPeer): Line[] {
  const lines = parsed.get(peer) ?? []
  parsed.set(peer, lines)
  for (const body of peer.bodies.slice(lines.length))
    lines.push(body.split('\n').flatMap((line): Line[] => (line === '' ? [] : [JSON.parse(line)])))
  return lines.flat()
}

/** Times of the records of each GPU. Unit: nanoseconds. */
function gpusOf(peer: HttpPeer): Map<unknown, number[]> {
  const times = new Map<unknown, number[]>()
  for (const { type, record } of linesOf(peer))
    if (type === 'nvml_gpu') times.set(record.UUID, [...(times.get(record.UUID) ?? []), Number(record.time)])
  return times
}

function leastRecords(peer: HttpPeer): number {
  return Math.min(...Array.from(gpusOf(peer).values(), (times) => times.length))
}

function estimateIn(output: string, name: string): { readonly series: number; readonly samples: number } {
  const words = new RegExp(`^${name} +estimate +.*: about (\\S+) series, (\\S+) samples/s, \\S+ bytes/s$`, 'm')
  const [, series, samples] = words.exec(output) ?? []
  assert.ok(series !== undefined, output)
  return { series: Number(series), samples: Number(samples) }
}
