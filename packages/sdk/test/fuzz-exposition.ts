import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { ExpositionParser } from '../src/wire/prometheus/parse.ts'
import type { Random } from './random.ts'

const LIMITS = { bodyBytes: 1 << 20, lineBytes: 2048, labelBytes: 1024, labelCount: 16, seriesCount: 200 }
const ODD = [
  '"',
  '\\',
  '}',
  '{',
  ',',
  '=',
  '\n',
  '\r',
  '#',
  ' ',
  '\t',
  '\0',
  'é',
  '\u{1f680}',
  '# EOF',
  '# TYPE ',
  'NaN',
]
const NAMES = ['up', 'DCGM_FI_DEV_GPU_TEMP', 'a:b_total', '_x', 'job']
const NUMBERS = [
  '0',
  '-1',
  '18446744073709551615',
  '1e400',
  '0.1',
  '+Inf',
  'NaN',
  '1e-400',
  '00000000000000000001',
  '1.5',
]

interface Line {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: string
  readonly text: string
}

/**
 * Feeds one parser with valid bodies, then damaged bodies, then valid bodies again. The parser never throws, it reads a
 * valid body correctly after any other body, and a damaged line affects no other line.
 */
export function fuzzExposition(random: Random, bodies: number): void {
  const parser = new ExpositionParser(LIMITS)
  let lines = freshLines(random)
  for (let body = 0; body < bodies; body++) {
    if (random.chance(0.2)) lines = freshLines(random)
    else lines = lines.map((line) => withValue(random, line))
    checkSound(parser, lines)
    const text = lines.map((line) => line.text).join('\n')
    parser.parse(damaged(random, Buffer.from(text)), random.pick(['text', 'openmetrics']))
    assert.ok(parser.count <= LIMITS.seriesCount && parser.series.length <= LIMITS.seriesCount)
    for (let i = 0; i < parser.count; i++) assert.ok(parser.seriesAt(i).name !== '' && parser.integer(i) !== null)
    checkOneBad(random, parser, lines)
  }
}

function checkSound(parser: ExpositionParser, lines: readonly Line[]): void {
  parser.parse(Buffer.from(lines.map((line) => line.text).join('\n')))
  // Where series that left took the room, the next body has it.
  if (parser.faults.counts.has('series_count')) parser.parse(Buffer.from(lines.map((line) => line.text).join('\n')))
  assert.equal(parser.faults.total, 0, JSON.stringify(parser.faults.lines))
  assert.equal(parser.count, lines.length)
  lines.forEach(({ name, labels, value }, i) => {
    const series = parser.seriesAt(i)
    assert.ok(series.name === name && isDeepStrictEqual({ ...series.labels }, { ...labels }), JSON.stringify(series))
    assert.ok(Object.is(parser.values[i], Number(value.replace('Inf', 'Infinity'))), `${value} is ${parser.values[i]}`)
  })
}

/** One line is anything: all others are read. */
function checkOneBad(random: Random, parser: ExpositionParser, lines: readonly Line[]): void {
  const at = random.integer(0, lines.length - 1)
  const bad = `${random.pick(['1', '{', '-', '}', '="'])}${noise(random)}`.replaceAll('\n', '')
  const texts = lines.map((line, i) => (i === at ? bad : line.text))
  for (let round = 0; round < 2; round++) parser.parse(Buffer.from(texts.join('\n')))
  const wanted = lines.flatMap(({ name, labels }, i) => (i === at ? [] : [JSON.stringify([name, labels])]))
  const found = new Set(
    Array.from({ length: parser.count }, (_, i) => {
      const series = parser.seriesAt(i)
      return JSON.stringify([series.name, series.labels])
    }),
  )
  for (const one of wanted) assert.ok(found.has(one), `${one} beside ${JSON.stringify(bad)}`)
}

function freshLines(random: Random): Line[] {
  const lines = new Map<string, Line>()
  for (let i = random.integer(1, 60); i > 0; i--) {
    const name = random.pick(NAMES)
    const entries = Array.from({ length: random.integer(0, 4) }, (_, at) => [`l${at}`, labelValue(random)] as const)
    const labels = Object.fromEntries(entries.filter(([, value]) => value !== ''))
    lines.set(JSON.stringify([name, labels]), withValue(random, { name, labels, value: '', text: '' }))
  }
  return [...lines.values()]
}

function withValue(random: Random, { name, labels }: Line): Line {
  const value = random.pick(NUMBERS)
  const gap = random.pick(['', ' '])
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${gap}"${escaped(text)}"`)
  const braces = pairs.length > 0 || random.chance(0.2) ? `{${pairs.join(`,${gap}`)}}` : ''
  const time = random.chance(0.2) ? ' 1700000000000' : ''
  return { name, labels, value, text: `${name}${braces} ${value}${time}${random.pick(['', '', '\r'])}` }
}

function labelValue(random: Random): string {
  const parts = Array.from({ length: random.integer(0, 3) }, () =>
    random.chance(0.5) ? random.pick(ODD) : String(random.integer(0, 99)),
  )
  return parts.join('')
}

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))
}

function noise(random: Random): string {
  return Array.from({ length: random.integer(0, 40) }, () => random.pick(ODD)).join('')
}

function damaged(random: Random, body: Buffer): Buffer {
  const bytes = Buffer.from(body)
  switch (random.integer(0, 4)) {
    case 0:
      for (let i = random.integer(1, 30); i > 0; i--)
        bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 255)
      return bytes
    case 1:
      return bytes.subarray(0, random.integer(0, bytes.length))
    case 2:
      return Buffer.concat([bytes, Buffer.from(noise(random)), bytes])
    case 3:
      return Buffer.from(random.pick(ODD).repeat(random.integer(1, 5000)))
    default:
      return Buffer.from(Array.from({ length: 500 }, () => random.integer(0, 255)))
  }
}
