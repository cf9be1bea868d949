import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NANOSECONDS_SHARE, PER_SECOND, TRANSFERS_PER_SECOND } from '../format/quantity.ts'
import { ChartModeller } from './chart-model.ts'
import type { ChartMember, ChartSpec } from './chart-spec.ts'
import { readoutsOf } from './readouts.ts'

/** The readouts of a chart of some columns at their newest sample, by name. */
function readouts(columns: readonly (readonly number[])[], more: Partial<ChartSpec>, full?: number) {
  const members = columns.map(
    (values, place): ChartMember => ({
      key: `m${place}`,
      label: `m${place}`,
      values: Float64Array.from(values),
      ...(full === undefined ? {} : { full }),
    }),
  )
  const count = members[0]!.values.length
  const model = new ChartModeller().model(
    { id: 'any', title: 'Any', quantity: PER_SECOND, noun: ['port', 'ports'], members, ...more },
    {
      times: Float64Array.from({ length: count }, (_, i) => i * 1_000),
      firstIndex: 0,
      stepMs: 1_000,
      fromMs: 0,
      toMs: (count - 1) * 1_000,
      isLive: true,
      isKnown: true,
      zone: 'utc',
      mode: 'herd',
      pinned: new Set(),
    },
  )
  const { lit, others, moreCount } = readoutsOf(model, model.newest)
  const names = (lines: typeof lit): string[] => lines.map(({ label }) => label.replaceAll('\u00a0', ' '))
  return { lit: names(lit), others: names(others), moreCount }
}

test('of a herd the lit member is said before its peers', () => {
  const calm = [0, 0, 0, 0]
  const odd = readouts([calm, calm, calm, [900, 900, 900, 900]], {})
  assert.deepEqual(odd, { lit: ['m3'], others: ['3 peers'], moreCount: 0 })
  assert.deepEqual(readouts([calm, calm, calm, calm], {}), { lit: [], others: ['4 ports'], moreCount: 0 })
})

test('of lanes the one that is less than it can be is said, wherever it stands', () => {
  const spec = { scale: 'lanes', quantity: TRANSFERS_PER_SECOND } as const
  assert.deepEqual(
    readouts(
      [
        [32, 32],
        [32, 32],
        [32, 8],
      ],
      spec,
      32,
    ),
    { lit: ['m2'], others: [], moreCount: 0 },
  )
})

test('of lanes that count, those in which something was counted in the window are said, or all of them', () => {
  const told = readouts(
    [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [7, 0],
    ],
    { scale: 'lanes' },
  )
  assert.deepEqual(told, { lit: ['m4'], others: [], moreCount: 0 })
  const quiet = Array.from({ length: 6 }, () => [0, 0])
  assert.deepEqual(readouts(quiet, { scale: 'lanes' }), { lit: [], others: ['m0', 'm1', 'm2', 'm3'], moreCount: 2 })
})

test('of lanes that are shares of time only those are said in which something is', () => {
  const spec = { scale: 'lanes', quantity: NANOSECONDS_SHARE } as const
  assert.deepEqual(
    readouts(
      [
        [0, 0],
        [5e8, 5e8],
        [5e8, 0],
      ],
      spec,
    ),
    { lit: ['m1'], others: [], moreCount: 0 },
  )
})
