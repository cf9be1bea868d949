import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ReferenceBook, type ReferenceSample, referenceLog } from './reference-log.ts'
import type { ReferenceKind } from './reference-rule.ts'

const HEADER = { version: '3.4.0012', device: '03:00.0' }
const RX = 0x1020000100000000n
const START_S = 1_700_000_000n

/** A sample a second of the host, whose timestamp is its number. */
function samplesOf(...rows: readonly bigint[][]): ReferenceSample[] {
  return rows.map((values, index) => ({
    earliestTimestampHigh: 0,
    latestTimestampLow: index,
    isSkipped: false,
    hostWallNs: (START_S + BigInt(index)) * 1_000_000_000n + 999_999_999n,
    values,
  }))
}

function bookOf(depth: number, ...rules: readonly [name: string, kind: ReferenceKind, value: bigint][]): ReferenceBook {
  return {
    samplePeriodNs: 100_000,
    depth,
    dataIds: [{ name: 'rx', dataId: RX }],
    rules: rules.map(([name, kind, value]) => ({ name, dataId: RX, kind, value })),
  }
}

/** The log below its header, with shorter rows of events. */
function rowsOf(book: ReferenceBook, samples: readonly ReferenceSample[]): string[] {
  const text = referenceLog(HEADER, book, samples)
  const rows = text.slice(text.indexOf('\n\n\n') + 3).split('\n')
  assert.equal(rows.pop(), '')
  return rows.map((row) => row.replace(/<<Event (start|end)>> Time: .*, Rule: "(.*)"$/, '$1 $2'))
}

test('writes the header with tabs, a blank behind Configuration, and two empty lines', () => {
  const book: ReferenceBook = {
    samplePeriodNs: 4_294_967_295,
    depth: 4,
    dataIds: [
      { name: 'a "quoted", name', dataId: RX },
      { name: 'b', dataId: 0xabn },
    ],
    rules: [
      { name: 'first', dataId: 0xabn, kind: 'inc_gt', value: 2n ** 64n - 5n },
      { name: 'second', dataId: RX, kind: 'dt_gt', value: 0n },
      { name: 'third', dataId: RX, kind: 'dt_lt', value: 0n },
      { name: 'fourth', dataId: RX, kind: 'gt', value: 0n },
      { name: 'fifth', dataId: RX, kind: 'lt', value: 0n },
    ],
  }
  const rule = (name: string, dataId: string, kind: string, value: string) =>
    `\t\t{\n\t\t\tName: "${name}",\n\t\t\tData ID: ${dataId}\n\t\t\tComparison type: ${kind}\n\t\t\tComparison value: ${value}\n\t\t},\n`
  assert.equal(
    referenceLog(HEADER, book, []),
    'Telemetry monitor : 3.4.0012\nConfiguration: \n\tDevice: "03:00.0"\n\tSample history depth: 4\n' +
      '\tDiag sample period: 4294967295ns\n\tData IDs: [\n' +
      '\t\t{\n\t\t\tName: "a "quoted", name",\n\t\t\tData ID: 0x1020000100000000\n\t\t},\n' +
      '\t\t{\n\t\t\tName: "b",\n\t\t\tData ID: 0x00000000000000ab\n\t\t},\n\t]\n\tRules: [\n' +
      rule('first', '0x00000000000000ab', 'incremental', '18446744073709551611') +
      rule('second', '0x1020000100000000', 'differential_greater_than', '0') +
      rule('third', '0x1020000100000000', 'differential_less_than', '0') +
      rule('fourth', '0x1020000100000000', 'greater_than', '0') +
      rule('fifth', '0x1020000100000000', 'less_than', '0') +
      '\t]\n\n\n',
  )
})

test('an event is its history, its start with the time of the host, its samples, and its end behind the last', () => {
  const text = referenceLog(HEADER, bookOf(1, ['r', 'gt', 10n]), samplesOf([1n], [2n], [11n], [12n], [3n], [4n]))
  assert.equal(
    text.slice(text.indexOf('\n\n\n') + 3),
    'timestamp, rx\n1, 2\n2, 11\n<<Event start>> Time: 2023-11-14T22:13:22Z, Rule: "r"\n' +
      '3, 12\n4, 3\n<<Event end>> Time: 2023-11-14T22:13:24Z, Rule: "r"\n',
  )
})

test('history is twice the depth, with the sample that began the event', () => {
  const rows = rowsOf(bookOf(2, ['r', 'dt_gt', 10n]), samplesOf([0n], [0n], [0n], [0n], [0n], [99n]))
  assert.deepEqual(rows, ['timestamp, rx', '2, 0', '3, 0', '4, 0', '5, 99', 'start r'])
})

test('a second rule that begins during an event writes its start alone', () => {
  const rows = rowsOf(bookOf(1, ['a', 'gt', 10n], ['b', 'gt', 20n]), samplesOf([11n], [21n], [11n], [0n]))
  assert.deepEqual(rows, ['timestamp, rx', '0, 11', 'start a', '1, 21', 'start b', '2, 11', 'end b', '3, 0', 'end a'])
})

test('where an earlier rule ends and a later one begins within a sample, history comes again, the sample twice', () => {
  const samples = samplesOf([11n], [0n])
  assert.deepEqual(rowsOf(bookOf(1, ['a', 'gt', 10n], ['b', 'lt', 5n]), samples), [
    ...['timestamp, rx', '0, 11', 'start a'],
    ...['1, 0', 'end a', 'timestamp, rx', '0, 11', '1, 0', 'start b'],
  ])
  assert.deepEqual(rowsOf(bookOf(1, ['b', 'lt', 5n], ['a', 'gt', 10n]), samples), [
    ...['timestamp, rx', '0, 11', 'start a'],
    ...['1, 0', 'start b', 'end a'],
  ])
})

test('names are written as they are, and two rules of one sample in the order of the file', () => {
  const book = bookOf(1, ['a, "b"', 'gt', 1n], ['c', 'gt', 0n])
  const rows = rowsOf({ ...book, dataIds: [{ name: 'x, "y"\nz', dataId: RX }] }, samplesOf([2n]))
  assert.deepEqual(rows, ['timestamp, x, "y"', 'z', '0, 2', 'start a, "b"', 'start c'])
})

test('a timestamp joins the high word of the earliest with the low word of the latest', () => {
  const [sample] = samplesOf([11n]) as [ReferenceSample]
  const odd = { ...sample, earliestTimestampHigh: 0xffffffff, latestTimestampLow: 0x80000001 }
  assert.deepEqual(rowsOf(bookOf(1, ['r', 'gt', 10n]), [odd]), ['timestamp, rx', '18446744071562067969, 11', 'start r'])
})

test('a query that was not answered SUCCESS ends it, and active rules get no end', () => {
  const [first, second, third] = samplesOf([11n], [12n], [0n]) as [ReferenceSample, ReferenceSample, ReferenceSample]
  const rows = rowsOf(bookOf(1, ['r', 'gt', 10n]), [first, { ...second, isSkipped: true }, third])
  assert.deepEqual(rows, ['timestamp, rx', '0, 11', 'start r'])
})

test('of equal data IDs the first is the column of a rule', () => {
  const book = { ...bookOf(1, ['r', 'gt', 10n]), dataIds: [RX, RX].map((dataId, i) => ({ name: `rx${i}`, dataId })) }
  assert.deepEqual(rowsOf(book, samplesOf([0n, 11n])), [])
  assert.deepEqual(rowsOf(book, samplesOf([11n, 0n])), ['timestamp, rx0, rx1', '0, 11, 0', 'start r'])
})
