import assert from 'node:assert/strict'
import { type RecordOrder, SINKS } from '../src/sinks/registry.ts'
import { until } from './helper.ts'
import { HASTY } from './push-sink-cases.ts'
import type { Case, Tested } from './tested-sink.ts'

const DEVICES = ['a', 'b', 'c', 'd', 'e']
const ROUND_COUNT = 30

/** The case that proves the order that a destination states; none for sinks that are no destinations. */
export function orderCases(name: string): readonly Case[] {
  const definition = SINKS.find((sink) => sink.name === name)
  if (definition === undefined) return []
  const { order, entries } = definition
  const shards = Object.hasOwn(entries, 'shards') ? { shards: 3 } : {}
  return [
    {
      title: `keeps the order that it states, ${order}, also when its peer fails for a while`,
      limits: { ...HASTY, batchRecordsMax: 7, ...shards },
      run: (tested) => checkOrder(tested, order),
    },
  ]
}

async function checkOrder(tested: Tested, order: RecordOrder): Promise<void> {
  let value = 0n
  for (let round = 0; round < ROUND_COUNT; round++) {
    if (tested.hasPeer && round === 10) await tested.peer('fails')
    if (tested.hasPeer && round === 20) {
      await until('several attempts have failed', () => tested.sink.stats.errors >= 3)
      await tested.peer('takes')
    }
    tested.accept(tested.source.ports(Object.fromEntries(DEVICES.map((device) => [device, value++]))))
  }
  const arrivals = firstArrivals(await tested.arrivals())
  assert.equal(arrivals.length, Number(value), 'read has every record')
  if (order === 'total') assertRising(arrivals.map(([, each]) => each))
  if (order === 'series')
    for (const device of DEVICES) assertRising(arrivals.flatMap(([of, each]) => (of === device ? [each] : [])))
}

function firstArrivals(arrivals: readonly (readonly [device: string, value: bigint])[]) {
  const seen = new Set<bigint>()
  return arrivals.filter(([, value]) => !seen.has(value) && seen.add(value))
}

function assertRising(values: readonly bigint[]): void {
  for (const [index, value] of values.entries()) assert.ok(value > (values[index - 1] ?? -1n), `${values}`)
}
