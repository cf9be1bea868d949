import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BIT_ERROR_RATIO, BITS_PER_SECOND, PAUSE_SHARE, PERCENT, UP_OR_DOWN } from '../format/quantity.ts'
import { ChartModeller, herdNames } from './chart-model.ts'
import type { ChartSpec, ChartView } from './chart-spec.ts'

const GAP = Number.NaN

function specOf(columns: readonly (readonly number[])[], more: Partial<ChartSpec> = {}): ChartSpec {
  return {
    id: 'sent',
    title: 'Sent',
    quantity: BITS_PER_SECOND,
    noun: ['interface', 'interfaces'],
    members: columns.map((values, i) => ({ key: `eth${i}`, label: `eth${i}`, values: Float64Array.from(values) })),
    ...more,
  }
}

function viewOf(count: number, more: Partial<ChartView> = {}): ChartView {
  return {
    times: Float64Array.from({ length: count }, (_, i) => (1_000 + i) * 1_000),
    firstIndex: 1_000,
    stepMs: 1_000,
    fromMs: 1_000_000,
    toMs: 1_000_000 + (count - 1) * 1_000,
    isLive: true,
    isKnown: true,
    zone: 'utc',
    mode: 'herd',
    pinned: new Set(),
    ...more,
  }
}

test('a chart says itself in one sentence: values, unit and gaps', () => {
  const { sentence } = new ChartModeller().model(specOf([[1e6, GAP, GAP, 2e6]]), viewOf(4))
  assert.equal(sentence.replaceAll('\u00a0', ' '), 'Sent, 3 s. eth0 16.0 Mb/s. 1 gap.')
})

test('what was before the first sample is no gap, and what is not here yet is neither', () => {
  const begins = new ChartModeller().model(specOf([[GAP, GAP, 1, 2]]), viewOf(4))
  assert.match(begins.sentence, /No gap\.$/)
  assert.match(new ChartModeller().model(specOf([]), viewOf(4)).sentence, /No sample\.$/)
  assert.match(new ChartModeller().model(specOf([]), viewOf(0, { isKnown: false })).sentence, /Loading\.$/)
})

test('up to eight lines have their own colour; one alone is solid', () => {
  const alone = new ChartModeller().model(specOf([[1]]), viewOf(1)).plot.lines
  assert.deepEqual(
    alone.map(({ slot, dashed }) => [slot, dashed]),
    [[1, false]],
  )
  const eight = specOf(
    Array.from({ length: 8 }, () => [1]),
    { isAlike: false },
  )
  const lines = new ChartModeller().model(eight, viewOf(1)).plot.lines
  assert.deepEqual(
    lines.map(({ slot }) => slot),
    [1, 2, 3, 4, 5, 6, 7, 8],
  )
})

test('there is no ninth colour: nine are grey but those that are lit by hand', () => {
  const nine = specOf(
    Array.from({ length: 9 }, () => [1]),
    { isAlike: false },
  )
  const { lines } = new ChartModeller().model(nine, viewOf(1, { pinned: new Set(['eth4']) })).plot
  assert.deepEqual(
    lines.flatMap(({ slot, key }) => (slot === undefined ? [] : [key])),
    ['eth4'],
  )
})

test('four alike members are a herd, and lines where that is asked for', () => {
  const four = specOf(Array.from({ length: 4 }, () => [1, 1]))
  const herd = new ChartModeller().model(four, viewOf(2))
  assert.equal(herd.plot.lines.length, 1)
  assert.match(herd.plot.bandLabel ?? '', /^4\sinterfaces$/)
  assert.equal(new ChartModeller().model(four, viewOf(2, { mode: 'lines' })).plot.lines.length, 4)
})

test('a share of time ends at 100 %, a fixed scale never moves', () => {
  const share = specOf([[0.99]], { quantity: PERCENT })
  assert.equal(new ChartModeller().model(share, viewOf(1)).plot.top, 1)
  const more = specOf([[1.7]], { quantity: PERCENT })
  assert.equal(new ChartModeller().model(more, viewOf(1)).plot.top, 2)
  const fixed = specOf([[0.01]], { quantity: PERCENT, scale: 'percent' })
  assert.equal(new ChartModeller().model(fixed, viewOf(1)).plot.top, 1)
})

test('a limit far above the data does not press it flat', () => {
  const limits = [{ value: 400e9 / 8, label: 'link' }]
  assert.ok(new ChartModeller().model(specOf([[1e3]], { limits }), viewOf(1)).plot.top < 1e4)
  assert.ok(new ChartModeller().model(specOf([[30e9]], { limits }), viewOf(1)).plot.top >= 50e9)
})

test('a live axis keeps its unit and top from one second to the next', () => {
  const modeller = new ChartModeller()
  const { top } = modeller.model(specOf([[900e3 / 8, 1]]), viewOf(2)).plot
  const next = modeller.model(specOf([[1, 500e3 / 8]]), viewOf(2))
  assert.equal(next.plot.top, top)
  assert.equal(next.unit.label, 'kb/s')
})

test('a chart without marks has the same ones in every second, so that it is not drawn anew for them', () => {
  const modeller = new ChartModeller()
  assert.equal(modeller.model(specOf([[1]]), viewOf(1)).plot.marks, modeller.model(specOf([[1]]), viewOf(1)).plot.marks)
})

test('the name of a herd says how many of it are drawn where the drawing ends', () => {
  const alive = Array.from({ length: 6 }, () => 1)
  const lost = [1, GAP, GAP, GAP, GAP, GAP]
  const { plot } = new ChartModeller().model(specOf([alive, alive, alive, alive, lost]), viewOf(6))
  assert.match(plot.bandLabel ?? '', /^4 of 5\sinterfaces$/)
  const late = [1, 1, 1, 1, 1, GAP]
  const all = new ChartModeller().model(specOf([alive, alive, alive, late]), viewOf(6))
  assert.match(all.plot.bandLabel ?? '', /^4\sinterfaces$/)
})

test('the room for names is that of the longest which may stand there, and says it too where one is lost', () => {
  const names = (spec: ChartSpec): string[] => herdNames(spec, 1_000).map((name) => name.replaceAll('\u00a0', ' '))
  const alive = Array.from({ length: 6 }, () => 1)
  assert.deepEqual(names(specOf([alive, alive, alive, alive])), ['4 interfaces', '4 peers'])
  const one = specOf([alive, alive, alive, [1, GAP, GAP, GAP, GAP, GAP]])
  assert.deepEqual(names(one), ['3 of 4 interfaces', '3 of 4 peers'])
  assert.ok(names(one).includes(new ChartModeller().model(one, viewOf(6)).plot.bandLabel!.replaceAll('\u00a0', ' ')))
})

test('lanes stand above each other with one scale, and say how long it was so', () => {
  const columns = [
    [0.5, 1, 0],
    [0, 0, GAP],
  ]
  const { plot, herd } = new ChartModeller().model(
    specOf(columns, { quantity: PAUSE_SHARE, scale: 'lanes' }),
    viewOf(3),
  )
  const [upper, lower] = plot.lines
  assert.equal(herd, undefined)
  assert.deepEqual([plot.bottom, plot.top], [0, 2])
  assert.ok(upper!.lane!.base > 1 && lower!.lane!.base < 1)
  assert.equal(upper!.heights[2], upper!.lane!.base)
  assert.ok(upper!.heights[1]! > upper!.heights[0]! && upper!.heights[1]! < 2)
  assert.ok(Number.isNaN(lower!.heights[2]))
  assert.deepEqual(
    plot.lines.map(({ lane }) => lane?.note.replaceAll('\u00a0', ' ')),
    ['1.5 s', '0 s'],
  )
})

test('of what is up or down it is being down that is drawn', () => {
  const { plot, sentence } = new ChartModeller().model(
    specOf([[1, 0, 0, 1]], { quantity: UP_OR_DOWN, scale: 'lanes' }),
    viewOf(4),
  )
  const [line] = plot.lines
  assert.equal(line!.heights[0], line!.lane!.base)
  assert.ok(line!.heights[1]! > line!.lane!.base)
  assert.equal(line!.lane!.note.replaceAll('\u00a0', ' '), 'up, down 2 s')
  assert.match(sentence, /eth0 up\./)
})

test('on a logarithmic axis each decade is as high as the next, and 0 lies on the lowest line', () => {
  const { plot } = new ChartModeller().model(
    specOf([[1e-8, 1e-10, 0]], { quantity: BIT_ERROR_RATIO, scale: 'log' }),
    viewOf(3),
  )
  const [first, second, third] = plot.lines[0]!.heights
  assert.deepEqual([first, second, third], [-8, -10, plot.bottom])
  assert.deepEqual(
    plot.ticks.map(({ text }) => text),
    ['1e−18', '1e−12', '1e−6'],
  )
})
