import type { RecordType } from '@sonde/sdk'
import type { Signal, Test } from '../../rules/rule.ts'

/** A type of the records, with the number of its records that have a time of the wall clock, and of the others. */
export interface SeenType {
  readonly type: RecordType
  timed: number
  untimed: number
}

/** Why no series has a signal. */
export function untestedReason({ type, field, labels }: Signal, seen: SeenType | undefined): string {
  if (seen === undefined) return `not tested: there are no records of ${type}`
  if (seen.timed === 0) return `not tested: records of ${type} have no time of the wall clock`
  const slot = seen.type.layout.slots.find(({ name }) => name === field)
  if (slot === undefined) return `not tested: ${type} has no field ${field}`
  if (slot.field.count !== 1) return `not tested: ${type}.${field} is no single number`
  const wanted = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return `not tested: no series of ${type} has ${wanted.join(', ')}`
}

/** Says that a rule looks at less time than there is between two records. Its events differ from those at full rate. */
export function windowFault(test: Test, intervalNs: bigint): string | undefined {
  const windowNs = 'overNs' in test ? test.overNs : test.kind === 'absent' ? test.forNs : undefined
  if (windowNs === undefined || intervalNs <= windowNs) return undefined
  return `its window is ${windowNs / 1e6} ms, and records are ${Number((Number(intervalNs) / 1e6).toPrecision(3))} ms apart`
}
