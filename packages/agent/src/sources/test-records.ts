import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { type ReadRecord, type RecordType, SondeError } from '@sonde/sdk'
import { absenceType, messageOf, seriesKey } from '@sonde/sdk/internal'
import { impossible } from './ranges/quantities.ts'
import { rangesOf } from './ranges/range-of.ts'
import type { Taken, TestedSource } from './test-node.ts'

/**
 * Sweeps after which a source has read everything: one that reads in turn, and one that opens a file anew at its
 * sixteenth read.
 */
const SETTLE_SWEEPS = 20

/** Checks that a record has its labels, numbers that can be, and a reason for every value that it lacks. */
export function checkRecord({ absent }: TestedSource, type: RecordType, record: ReadRecord): void {
  const key = keyOf(type, record)
  const ranges = rangesOf(type)
  for (const { name, field } of type.layout.slots) {
    const place = `${type.name}{${key}}.${name}`
    // A label that may be empty says so, and what that means.
    if (field.role === 'label' && !/\bempty\b/.test(field.help ?? ''))
      assert.notEqual(record[name], '', `${place} is empty`)
    if (record[name] === undefined) {
      const said = [key, ''].some((labels) => absent.has(`${type.name}{${labels}}.${name}`))
      assert.ok(said, `${place} is absent and nothing says why`)
    } else if (typeof record[name] === 'number' || typeof record[name] === 'bigint') {
      assert.ok(Number.isFinite(Number(record[name])), `${place} is ${record[name]}`)
      const quantity = ranges.get(name)?.quantity
      assert.equal(quantity && impossible(quantity, record[name])?.reason, undefined, place)
    }
  }
}

/**
 * What a source shows: the records of a sample without their times, of a type whose series have turns the latest of
 * each; and what is absent.
 */
export interface Shown {
  readonly records: readonly string[]
  readonly absent: readonly (readonly [string, string])[]
}

/** Samples until everything was read, or until what is expected is shown. */
export async function settle(tested: TestedSource, expected?: Shown): Promise<Shown> {
  const latest = new Map<string, Taken>()
  tested.take()
  let shown: Shown = { records: [], absent: [] }
  for (let i = 0; i < SETTLE_SWEEPS && !(i > 0 && isDeepStrictEqual(shown, expected)); i++) {
    await tested.source.sample()
    for (const [key, { type }] of latest) if (!type.inTurns) latest.delete(key)
    for (const taken of tested.take()) follow(latest, taken)
    shown = { records: [...latest.values()].map(textOf).sort(), absent: [...tested.absent].sort() }
  }
  return shown
}

function textOf({ type, record: { time: _, ...values } }: Taken): string {
  return `${type.name} ${Object.entries(values).join(' ')}`
}

function follow(latest: Map<string, Taken>, taken: Taken): void {
  const { type, record } = taken
  if (type !== absenceType) latest.set(`${type.name}{${keyOf(type, record)}}`, taken)
  else if (record.field === '' && record.code !== '') latest.delete(`${record.type}{${record.series}}`)
}

/** Samples; what was thrown, which must be one of Sonde's own errors. */
export async function trySample(tested: TestedSource): Promise<string> {
  try {
    await tested.source.sample()
    return ''
  } catch (error) {
    assert.ok(error instanceof SondeError, messageOf(error))
    return messageOf(error)
  }
}

/** Records without those that say what is absent. */
export function dataOf(taken: readonly Taken[]): Taken[] {
  return taken.filter(({ type }) => type !== absenceType)
}

/** The labels of a record, as its series is called. */
export function keyOf(type: RecordType, record: ReadRecord): string {
  return seriesKey(Object.fromEntries(type.labels.map(({ name }) => [name, String(record[name])])))
}
