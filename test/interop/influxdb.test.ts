import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSchema, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'
import { createInflux } from '../../packages/sdk/src/sinks/influx/influx.ts'
import { Random, SEED } from '../../packages/sdk/test/random.ts'
import { BatchSource, ODD_RECORD, oddType } from '../../packages/sdk/test/sink-records.ts'
import { needs } from '../debian.ts'
import { assertStops, startSonde, temporaryDir, until } from '../sonde-process.ts'
import { startInflux } from './influx-peer.ts'

const LIMIT_MS = 60_000
const jobType = defineType('job', 'A job that ended', { time: timestamp(), queue: label(), seconds: gauge('f64') })

test('InfluxDB has every record, kind of value and text as it was sent', needs('influxd'), async (t) => {
  const { url, query } = await startInflux(t)
  const sink = createInflux({ url, database: 'sonde', lingerMs: 0 })
  t.after(() => sink.close())
  const random = new Random(SEED)
  const characters = ['\n', '\r', '\\', '"', "'", ',', '=', ' ', '\t', 'a', 'µ', '#', '🛰', '\u2028']
  const any = (least: number) =>
    Array.from({ length: random.integer(least, 10) }, () => random.pick(characters)).join('')
  const start = 1_800_000_000_000_000
  const notes = Array.from({ length: 300 }, () => any(0))
  const rack = 'r=1, "a"\\b'
  const source = new BatchSource({ id: 'app', tag: 'x y', labels: { rack } })
  sink.accept(
    source.batch(
      oddType,
      notes.map((note, i) => ({ ...ODD_RECORD, time: start + i, note })),
    ),
  )
  const texts = Array.from({ length: 300 }, () => any(1))
  sink.accept(
    source.batch(
      jobType,
      texts.map((queue, i) => ({ time: BigInt(start + i) * 1000n, queue, seconds: i / 7 })),
    ),
  )
  await sink.flush()

  const rows = await query('SELECT * FROM "conformance.odd-type:1"')
  assert.deepEqual(
    rows.map(({ note }) => note),
    notes,
  )
  const [first] = rows
  assert.deepEqual(
    { ...first, host: '', note: '' },
    {
      ...{ name: 'conformance.odd-type:1', tags: '', time: '1800000000000000000', host: '', source: 'app' },
      ...{ source_tag: 'x y', rack, part: 'µ\\n"', flag: 'true', small: '-128', 'wide.0': '0', 'wide.2': '1' },
      ...{ signed: '-9223372036854775808', note: '', left_out: 'wide.1=18446744073709551615,real=NaN' },
      ...{ 'wait.0': '0', 'wait.1': '4294967295', 'wait.2': '0', 'wait.3': '1' },
    },
  )
  const jobs = await query('SELECT * FROM job')
  // Line protocol cannot write a line feed or a backslash at the end of a tag.
  const asTag = (text: string) =>
    text.replace(/\\+$/, '').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
  assert.deepEqual(
    jobs.map(({ queue }) => queue),
    texts.map(asTag),
  )
  assert.deepEqual(
    jobs.map(({ seconds }) => Number(seconds)),
    texts.map((_, i) => i / 7),
  )
  assert.deepEqual([sink.stats.out, sink.stats.dropped.size], [600, 0])
})

test('records of a program arrive although the database is made later, and none twice', needs('influxd'), async (t) => {
  const { url, query } = await startInflux(t)
  await query('DROP DATABASE sonde')
  const influx = { url, database: 'sonde', lingerMs: 0, backoffInitialMs: 10, backoffMaxMs: 50 }
  const schema = createSchema({ name: 'jobs', export: { influx } })
  t.after(() => schema.close())
  schema.addType(jobType)
  await schema.start()
  const source = schema.createSource({ tag: 'batch' })
  const time = wallNs()
  for (let i = 0; i < 1000; i++) source.report(jobType, { time: time + BigInt(i), queue: 'mail', seconds: i })
  source.flush()
  await until('the server refuses', LIMIT_MS, () => /database not found/.test(schema.status().sinks[0]?.failing ?? ''))
  await query('CREATE DATABASE sonde')
  await schema.flush()
  const rows = await query('SELECT count(seconds), sum(seconds) FROM job')
  assert.deepEqual([rows[0]?.count, rows[0]?.sum], ['1000', '499500'])
})

test('an agent with a simulated node loses no point on the way to InfluxDB', needs('influxd'), async (t) => {
  const { url, query } = await startInflux(t)
  const { path, remove } = temporaryDir()
  t.after(remove)
  const [file, lines] = [join(path, 'sonde.yaml'), join(path, 'lines')]
  writeFileSync(
    file,
    `store: { enabled: false }
export:
  influx: { url: '${url}', database: sonde, sources: ['!self'] }
  file: { path: ${lines}, format: template, template: '{type_name}', sources: ['!self'] }
`,
  )
  const sonde = await startSonde(['agent', '--simulate', '--config', file])
  t.after(() => sonde.stop('SIGKILL'))
  await until('ports and GPUs are there', LIMIT_MS, async () => {
    const names = (await query('SHOW MEASUREMENTS')).map(({ name }) => name ?? '')
    return names.includes('ethtool_port') && names.some((name) => name.startsWith('nvml'))
  })
  await assertStops(sonde)
  const sent = countsOf(readFileSync(lines, 'utf8').trimEnd().split('\n'))
  const points = new Map<string, number>()
  for (const type of sent.keys()) points.set(type, (await query(`SELECT * FROM "${type}"`)).length)
  assert.deepEqual(points, sent)
})

function countsOf(names: readonly string[]): Map<string, number> {
  const groups = Map.groupBy(names, (name) => name)
  return new Map(Array.from(groups, ([name, same]) => [name, same.length]))
}
