import assert from 'node:assert/strict'
import { property } from '../../../test/helper.ts'
import type { ExposedFamily } from '../../../test/parse-exposition.ts'
import { FORMATS, PrometheusRig } from '../../../test/prometheus-rig.ts'
import type { Random } from '../../../test/random.ts'
import {
  array,
  buckets,
  chars,
  counter,
  defineType,
  type Field,
  gauge,
  label,
  labelNumber,
  optional,
  type RecordOf,
  type RecordType,
  type Source,
} from '../../index.ts'

type AnyRecord = Record<string, unknown>
/** A series as it was reported: its labels, and what each metric should show, by the text of the line's own label. */
interface Reported {
  readonly labels: Readonly<Record<string, string>>
  readonly record: AnyRecord
}

const MODES = ['user', 'a"b', 'new\nline', '{}']
const TEXTS = ['eth0', 'a"b', 'back\\slash', 'new\nline', '', '{}', ',', '=', 'é', '𝄞', '\\n', '"', ' ', '# EOF']

function randomType(random: Random, round: number): RecordType {
  const fields: Record<string, Field> = { id: labelNumber('u32'), name: random.chance(0.5) ? label() : chars(24) }
  const numbers = ['u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64', 'f32', 'f64'] as const
  for (let i = random.integer(1, 6); i > 0; i--) {
    const kind = random.pick(numbers)
    const field = random.chance(0.5) ? counter(kind, { help: random.pick(TEXTS) }) : gauge(kind, { unit: 'bytes' })
    const name = `m${i}${random.pick(['', '_total', '_bytes', '_bytes_total'])}`
    fields[name] = random.chance(0.2) ? (array(field, 3) as Field) : random.chance(0.4) ? optional(field) : field
  }
  if (random.chance(0.3)) fields.bins = buckets('u64', [-1, 0.5, 10])
  if (random.chance(0.5)) {
    // Fields of one metric, which may also be the metric of another version of the type.
    const metric = `t${round % 3}_shared`
    const [kind, other] = [random.pick(numbers), random.pick(numbers)]
    fields.shared = gauge(kind, { metric, labels: { mode: random.pick(MODES), part: 'a' } })
    fields.shared_too = optional(gauge(other, { metric, labels: { mode: random.pick(MODES) } }))
    fields.bins_too = buckets('u64', [-1, 0.5, 10], { labels: { mode: random.pick(MODES) } })
  }
  return defineType(`t${round % 3}`, random.pick(TEXTS), fields, { layout: random.pick(['aligned', 'packed']) })
}

function randomNumber(random: Random, kind: string): number | bigint {
  const bits = random.bits64() >> BigInt(random.integer(0, 63))
  if (kind === 'f64' || kind === 'f32') {
    const special = [0, -0, Number.NaN, Infinity, -Infinity, 0.1, -123.456, 1e300, 5e-324, 2 ** 53]
    const value = random.chance(0.5) ? random.pick(special) : (random.next() - 0.5) * 10 ** random.integer(-9, 18)
    return kind === 'f32' ? Math.fround(value) : value
  }
  const width = Number(kind.slice(1))
  const value = kind.startsWith('u') ? BigInt.asUintN(width, bits) : BigInt.asIntN(width, bits)
  return width === 64 ? value : Number(value)
}

function randomRecord(random: Random, type: RecordType, id: number): AnyRecord {
  const record: AnyRecord = { id, name: random.pick(TEXTS) }
  for (const [name, field] of Object.entries(type.fields)) {
    if (field.role === 'label' || (field.optional && random.chance(0.4))) continue
    // Small bins, so that their sums stay below 2^64.
    const one = () => (field.role === 'bucket' ? BigInt(random.integer(0, 1e9)) : randomNumber(random, field.kind))
    record[name] = field.count === 1 ? one() : Array.from({ length: field.count }, one)
  }
  return record
}

/** Lines that a record should give, as `metric{sorted labels} value`. */
function wantedLines(type: RecordType, { labels, record }: Reported): string[] {
  const lines: string[] = []
  const addLine = (metric: string, value: unknown, more: Record<string, string>) =>
    lines.push(lineOf(metric, { ...labels, ...more }, canonical(Object.is(value, -0) ? '-0' : String(value))))
  for (const [name, metric] of type.metrics) {
    const value = record[name]
    const field = type.fields[name]
    if (value === undefined || field === undefined) continue
    const add = (name: string, value: unknown, more: Record<string, string> = {}) =>
      addLine(name, value, { ...(field.kind === 'record' ? {} : field.labels), ...more })
    if (field.role === 'bucket') {
      let total = 0n
      for (const [i, bin] of (value as bigint[]).entries()) {
        total += bin
        add(`${metric}_bucket`, total, { le: ['-1.0', '0.5', '10.0', '+Inf'][i] ?? '' })
      }
    } else if (field.count === 1) add(metric, value)
    else for (const [i, one] of (value as unknown[]).entries()) add(metric, one, { index: String(i) })
  }
  return lines
}

/** The number without zeros in front, a double as JavaScript writes it: equal text is an equal value. */
function canonical(text: string): string {
  const plain = text.replace('+', '').replace('Infinity', 'Inf')
  if (/^-?\d+$/.test(plain)) return /^-0+$/.test(plain) ? '-0' : String(BigInt(plain))
  if (!/^-?\d/.test(plain)) return plain
  const value = Number(plain)
  return Object.is(value, -0) ? '-0' : Number.isInteger(value) ? String(BigInt(value)) : String(value)
}

function lineOf(name: string, labels: Readonly<Record<string, string>>, value: string): string {
  const pairs = Object.entries(labels).filter(([, text]) => text !== '')
  return `${name}${JSON.stringify(pairs.sort(([a], [b]) => (a < b ? -1 : 1)))} ${value}`
}

function shownLines(families: ReadonlyMap<string, ExposedFamily>): string[] {
  const samples = [...families.values()].flatMap((family) => family.samples)
  return samples.map(({ name, labels, value }) => lineOf(name, labels, canonical(value))).sort()
}

function reportSome(random: Random, rig: PrometheusRig, source: Source, type: RecordType, live: Map<number, Reported>) {
  for (let i = random.integer(1, 40); i > 0; i--) {
    const id = random.integer(0, 60)
    const record = randomRecord(random, type, id)
    // The labels are those of the series: a known id keeps its name.
    record.name = live.get(id)?.record.name ?? record.name
    source.report(type, record as RecordOf<RecordType>)
    live.set(id, { labels: { id: String(id), name: String(record.name), node: 'n' }, record })
  }
  source.flush()
  if (random.chance(0.1)) {
    rig.view.removeSource(source.info)
    live.clear()
  }
}

property(
  'what was reported is what an independent reader finds, in both formats, after every change',
  60,
  async (random) => {
    const rig = new PrometheusRig()
    const type = randomType(random, random.integer(0, 99))
    const source = rig.source('s', { node: 'n' })
    const live = new Map<number, Reported>()
    for (let step = 0; step < 8; step++) {
      reportSome(random, rig, source, type, live)
      const wanted = [...live.values()].flatMap((reported) => wantedLines(type, reported)).sort()
      for (const format of FORMATS) assert.deepEqual(shownLines(await rig.families(format)), wanted, format)
    }
    assert.equal(rig.view.stats.dropped.size, 0)
    assert.equal(
      rig.view.stats.out,
      rig.view.stats.in,
      'every record counts, also where a later one of the batch is shown',
    )
  },
)
