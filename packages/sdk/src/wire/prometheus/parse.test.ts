import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzExposition } from '../../../test/fuzz-exposition.ts'
import { Random, SEED } from '../../../test/random.ts'
import { type ExpositionFormat, ExpositionParser } from './parse.ts'
import type { ParseLimits } from './parse-limits.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

function parsed(text: string, limits: Partial<ParseLimits> = {}, format: ExpositionFormat = 'text'): ExpositionParser {
  const parser = new ExpositionParser(limits)
  parser.parse(bytesOf(text), format)
  return parser
}

function samplesOf(parser: ExpositionParser): unknown[] {
  return Array.from({ length: parser.count }, (_, i) => {
    const { name, labels } = parser.seriesAt(i)
    const time = parser.timesMs[i] as number
    return [name, { ...labels }, parser.values[i], ...(Number.isNaN(time) ? [] : [time])]
  })
}

const faultsOf = ({ faults }: ExpositionParser) => faults.lines.map(({ line, fault }) => `${line} ${fault}`)

test('reads names, labels, values and times, whatever blanks and line ends are between them', () => {
  const parser = parsed(
    'up 1\r\n\n  a:b{x="1",y="two",} -2.5e-3 1700000000123\nc { z = "" , w = "ü" }\t+Inf\n#\n# a comment\nd{}NaN\ne{x="}"} 4',
  )
  assert.deepEqual(samplesOf(parser), [
    ['up', {}, 1],
    ['a:b', { x: '1', y: 'two' }, -0.0025, 1700000000123],
    ['c', { w: 'ü' }, Number.POSITIVE_INFINITY],
    ['d', {}, Number.NaN],
    ['e', { x: '}' }, 4],
  ])
  assert.deepEqual(faultsOf(parser), [])
})

test('takes escapes out of label values, and leaves a backslash before anything else', () => {
  const parser = parsed(String.raw`a{x="q\"q",y="b\\nb",z="n\nn",w="C:\temp"} 1`)
  const { labels } = parser.seriesAt(0)
  assert.deepEqual({ ...labels }, { x: 'q"q', y: String.raw`b\nb`, z: 'n\nn', w: String.raw`C:\temp` })
  assert.deepEqual(faultsOf(parser), [])
})

test('every number of Prometheus is read as it reads it', () => {
  const numbers = ['0', '-0', '00042', '1.', '.5', '1e3', '1E-3', '123456789.123456789', '0.1', '-Inf', 'inf', 'nan']
  const more = ['9007199254740993', '18446744073709551615', '1.7976931348623157e308', '5e-324', '0.30000000000000004']
  const all = [...numbers, ...more]
  const parser = parsed(all.map((number, i) => `m${i} ${number}\n`).join(''))
  const wanted = all.map((number) => Number(number.replace(/inf/i, 'Infinity').replace('nan', 'NaN')))
  assert.deepEqual([...parser.values.subarray(0, parser.count)], wanted)
  const random = new Random(SEED)
  const doubles = Array.from({ length: 2000 }, () => random.next() * 10 ** random.integer(-20, 20))
  const texts = doubles.map((value, i) => (i % 3 === 0 ? value.toFixed(random.integer(0, 12)) : String(value)))
  const read = parsed(texts.map((text, i) => `m${i} ${text}\n`).join(''))
  assert.deepEqual([...read.values.subarray(0, read.count)], texts.map(Number))
})

test('whole numbers are exact to 64 bits', () => {
  const numbers = ['0', '9007199254740993', '18446744073709551615', '00000000000000000000042', '1.5e3', '1e19']
  const none = ['1.5', '-1', 'NaN', '+Inf', '18446744073709551616', '1e20']
  const parser = parsed([...numbers, ...none].map((number, i) => `m${i} ${number}\n`).join(''))
  const exact = Array.from({ length: parser.count }, (_, i) => parser.integer(i))
  assert.deepEqual(exact.slice(0, numbers.length), [
    0n,
    9007199254740993n,
    18446744073709551615n,
    42n,
    1500n,
    10000000000000000000n,
  ])
  assert.deepEqual(exact.slice(numbers.length), Array(none.length).fill(undefined))
})

test('keeps type, unit and help by name', () => {
  const text =
    '# HELP a_bytes What\\na \\\\ is\n# TYPE a_bytes counter\n# UNIT a_bytes bytes\na_bytes 1\n# TYPE b\tgauge\n'
  const { families } = parsed(text)
  assert.deepEqual(families.get('a_bytes'), {
    name: 'a_bytes',
    type: 'counter',
    unit: 'bytes',
    help: 'What\na \\ is',
  })
  assert.equal(families.get('b')?.type, 'gauge')
})

test('reads OpenMetrics: seconds, exemplars, quoted names, the end', () => {
  const text =
    'a_total{x="1"} 5 1700000000.123 # {trace_id="x y"} 0.5 1700000000.1\n{"b.c","d e"="f"} 6\n# EOF\nlate 1\n'
  const parser = parsed(text, {}, 'openmetrics')
  assert.deepEqual(samplesOf(parser), [
    ['a_total', { x: '1' }, 5, 1700000000123],
    ['b.c', { 'd e': 'f' }, 6],
  ])
  assert.equal(parser.exemplars, 1)
  assert.deepEqual(faultsOf(parser), ['4 after_end'])
})

const BAD: readonly (readonly [line: string, fault: string])[] = [
  ['1a 1', 'name'],
  ['a-b 1', 'name'],
  ['a', 'value'],
  ['a 0x10', 'value'],
  ['a 1 2 3', 'timestamp'],
  ['a 1 x', 'timestamp'],
  ['a{x="1" 1', 'labels'],
  ['a{x=1} 1', 'labels'],
  ['a{x="1" y=2} 1', 'labels'],
  ['a{x="1",x="2"} 1', 'labels'],
  ['a{"b",x="1"} 1', 'name'],
  ['{x="1"} 1', 'name'],
  ['# TYPE a wrong', 'comment'],
  ['# TYPE 1a gauge', 'comment'],
]

test('a line that is wrong costs that line, and is told with its number and reason', () => {
  for (const [line, fault] of BAD) {
    const parser = parsed(`before 1\n${line}\nafter 2\n`)
    assert.deepEqual(faultsOf(parser), [`2 ${fault}`], line)
    assert.deepEqual(
      samplesOf(parser),
      [
        ['before', {}, 1],
        ['after', {}, 2],
      ],
      line,
    )
  }
})

test('labels that dcgm-exporter did not escape are read, and counted each time', () => {
  const line = String.raw`XID{gpu="0",err_msg="said "no", C:\x\",pod="a"} 13`
  const parser = new ExpositionParser()
  for (const round of [0, 1]) {
    parser.parse(bytesOf(`a 1\n${line}\n`))
    assert.deepEqual(samplesOf(parser)[1], ['XID', { err_msg: 'said "no", C:\\x\\', gpu: '0', pod: 'a' }, 13])
    assert.deepEqual(faultsOf(parser), ['2 unescaped'], `round ${round}`)
  }
})

test('a series keeps its number from body to body, in any order and however its labels are written', () => {
  const parser = new ExpositionParser()
  const numbersOf = (text: string) => {
    parser.parse(bytesOf(text))
    return [...parser.numbers.subarray(0, parser.count)]
  }
  const first = numbersOf('a{x="1",y="2"} 1\nb 2\nb{} 9\nc 3\n')
  assert.deepEqual(first, [0, 1, 2])
  assert.deepEqual(faultsOf(parser), ['3 duplicate'])
  assert.deepEqual(numbersOf('a{x="1",y="2"} 1\nb 2\nc 3\n'), [0, 1, 2])
  assert.deepEqual(numbersOf('c 3\nnew 4\na{ y="2", x="1" } 5\nb 2'), [2, 3, 0, 1])
  assert.deepEqual([...parser.values.subarray(0, parser.count)], [3, 4, 5, 2])
  assert.deepEqual(numbersOf('b{x="1"} 2\nb 3\nbb 1\n'), [4, 1, 5])
})

test('limits cost what is beyond them, and are told', () => {
  const lines = Array.from({ length: 10 }, (_, i) => `m{i="${i}"} ${i}\n`).join('')
  const counts = (limits: Partial<ParseLimits>, text = lines) => {
    const { count, faults } = parsed(text, limits)
    return [count, ...[...faults.counts].flat()]
  }
  assert.deepEqual(counts({ seriesCount: 4 }), [4, 'series_count', 6])
  assert.deepEqual(counts({ bodyBytes: 23 }), [2, 'body_bytes', 1])
  assert.deepEqual(counts({ lineBytes: 10 }, `a 1\nb ${'0'.repeat(20)}\nc 1\n`), [2, 'line_bytes', 1])
  assert.deepEqual(counts({ labelBytes: 10 }, 'a{x="12345678"} 1\nb 1\n'), [1, 'label_bytes', 1])
  assert.deepEqual(counts({ labelCount: 2 }, 'a{a="1",b="1",c="1"} 1\nb 1\n'), [1, 'label_count', 1])
  assert.deepEqual(counts({ familyCount: 1 }, '# TYPE a gauge\n# TYPE b gauge\n# HELP a x\n'), [0, 'family_count', 1])
})

test('series that come and go for months take bounded memory, and those that stay keep their values', () => {
  const parser = new ExpositionParser({ seriesCount: 1000 })
  for (let hour = 0; hour < 200; hour++) {
    const pods = Array.from({ length: 300 }, (_, i) => `pod{n="${hour}-${i}"} ${i}\n`).join('')
    parser.parse(bytesOf(`stays 7\n${pods}`))
    assert.ok(parser.series.length <= 1000)
    assert.deepEqual(samplesOf(parser)[0], ['stays', {}, 7])
    // A body that finds no room makes room for the next one.
    if (parser.faults.total > 0) parser.parse(bytesOf(`stays 7\n${pods}`))
    assert.equal(parser.count, 301)
    assert.deepEqual(samplesOf(parser)[300], ['pod', { n: `${hour}-299` }, 299])
  }
  assert.ok(parser.epoch > 0)
})

test('a body of one fault alone is read in one pass', { timeout: 60_000 }, () => {
  // A parser that scans the whole body for each line would take minutes for these bodies, and ours a second.
  for (const line of ['a{\n', 'a{"\n', '}\n', 'a 1 # x\n', '\n', 'a{x="}\n']) {
    const parser = new ExpositionParser()
    parser.parse(Buffer.alloc(4 << 20, line))
    assert.ok(parser.count <= 1)
  }
})

test('damaged bodies cost their lines alone, and no input makes it throw', () => {
  fuzzExposition(new Random(SEED), 300)
})
