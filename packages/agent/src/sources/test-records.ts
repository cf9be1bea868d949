import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { type ReadRecord, type RecordType, SondeError } from '@sonde/sdk'
import { absenceType, messageOf, seriesKey } from '@sonde/sdk/internal'
import { impossible } from './ranges/quantities.ts'
import { rangesOf } from './ranges/range-of.ts'
import type { ReportedRecord, TestedSource } from './test-node.ts'

/**
 * Sweeps until everything was read, also by sources whose series take turns and whose files are opened again at the
 * sixteenth read.
 */
const SETTLE_SWEEPS = 20

/** Checks that a record has its labels, plausible numbers, and a reason for every missing value. */
export function checkRecord({ absent }: TestedSource, type: RecordType, record: ReadRecord): void {
  const key = recordKey(type, record)
  const ranges = rangesOf(type)
  for (const { name, field } of type.layout.slots) {
    const place = `${type.name}{${key}}.${name}`
    // The help of a label that may be empty must explain the empty value.
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
 * Visible state of a source: the records of a sample without times, and the present absences. For types whose series
 * take turns, the latest record of each series.
 */
export interface Shown {
  readonly records: readonly string[]
  readonly absent: readonly (readonly [string, string])[]
}

/** Samples until everything was read, or until the expected state appears. */
export async function settle(tested: TestedSource, expected?: Shown): Promise<Shown> {
  const latest = new Map<string, ReportedRecord>()
  tested.take()
  let shown: Shown = { records: [], absent: [] }
  for (let i = 0; i < SETTLE_SWEEPS && !(i > 0 && isDeepStrictEqual(shown, expected)); i++) {
    await tested.source.sample()
    for (const [key, { type }] of latest) if (!type.inTurns) latest.delete(key)
    for (const taken of tested.take()) follow(latest, taken)
    shown = { records: [...latest.values()].map(recordText).sort(), absent: [...tested.absent].sort() }
  }
  return shown
}

function recordText({ type, record: { time: _, ...values } }: ReportedRecord): string {
  return `${type.name} ${Object.entries(values).join(' ')}`
}

function follow(latest: Map<string, ReportedRecord>, taken: ReportedRecord): void {
  const { type, record } = taken
  if (type !== absenceType) latest.set(`${type.name}{${recordKey(type, record)}}`, taken)
  else if (record.field === '' && record.code !== '') latest.delete(`${record.type}{${record.series}}`)
}

/** Samples; returns the message of a thrown error, which must be a SondeError. */
export async function trySample(tested: TestedSource): Promise<string> {
  try {
    await tested.source.sample()
    return ''
  } catch (error) {
    assert.ok(error instanceof SondeError, messageOf(error))
    return messageOf(error)
  }
}

/** The given records without absence records. */
export function dataOf(taken: readonly ReportedRecord[]): ReportedRecord[] {
  return taken.filter(({ type }) => type !== absenceType)
}

/** Labels of a record, as in the name of its series. */
export function recordKey(type: RecordType, record: ReadRecord): string {
  return seriesKey(Object.fromEntries(type.labels.map(({ name }) => [name, String(record[name])])))
}
