import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HttpPeer } from '../../packages/sdk/test/http-peer.ts'
import { ask, metricsOf, numberOn } from '../ask.ts'
import { assertStops, runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
const INTERVAL_S = 3

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
  const configWith = (name: string, options: string) => {
    const file = join(dir, name)
    writeFileSync(file, `export: { jsonl: { url: '${peer.url}', linger_ms: 0, ${options} } }\n`)
    return file
  }
  const file = configWith('core.yaml', `set: core, interval_s: ${INTERVAL_S}`)
  const sonde = await startSonde(['up', '--only-simulated', '--config', file])
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
  const form = { fromMs: toMs - 5000, toMs, stepMs: 1000, queries }
  const { results } = await ask<Answer>(sonde, '/api/v1/query', form)
  const values = results[0]?.series[0]?.values ?? []
  assert.ok(values.length >= 5 && values.every((value) => value !== null), JSON.stringify(results))

  const [core, full] = await Promise.all(
    [file, configWith('full.yaml', 'set: full')].map((each) => estimateIn(each, new URL(sonde.address).port)),
  )
  const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  const coreLines = lines(await (await fetch(`${sonde.address}/metrics?set=core`)).text())
  assert.ok(Math.abs((core?.series ?? 0) / coreLines - 1) < 0.1, `${core?.series} of ${coreLines}`)
  assert.ok(Math.abs((full?.series ?? 0) / lines(await metricsOf(sonde)) - 1) < 0.1, `${full?.series}`)
  assert.ok((core?.samples ?? 0) <= (core?.series ?? 0) / INTERVAL_S + 1, JSON.stringify(core))
  assert.ok((full?.samples ?? 0) > (core?.samples ?? 0) * 3, JSON.stringify([core, full]))
  await assertStops(sonde)
  const alone = await runSonde(['check', '--config', file, '--listen', '127.0.0.1:0'])
  assert.match(alone.output, /^jsonl +estimate +none: no agent answers at /m)
})

function linesOf({ bodies }: HttpPeer): Line[] {
  return bodies.flatMap((body) => body.split('\n').flatMap((line): Line[] => (line === '' ? [] : [JSON.parse(line)])))
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

async function estimateIn(file: string, port: string): Promise<{ series: number; samples: number }> {
  const { output } = await runSonde(['check', '--config', file, '--listen', `127.0.0.1:${port}`])
  const [, series, samples] =
    /^jsonl +estimate +.*: about (\S+) series, (\S+) samples\/s, \S+ bytes\/s$/m.exec(output) ?? []
  assert.ok(series !== undefined, output)
  return { series: Number(series), samples: Number(samples) }
}
