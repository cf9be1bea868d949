import { counter, gauge, timestamp } from '../schema/field.ts'
import { defineOwnType } from '../schema/record-type.ts'
import type { Source } from '../source/source.ts'
import type { FieldSets } from './field-sets.ts'

/** The files that select parts of `/metrics`. */
export const fieldSetsType = defineOwnType('sonde_field_sets', 'Files of field sets, .cset and .fset', {
  time: timestamp(),
  faults_total: counter('u64', {
    help: 'Versions of files that could not be used; the log names file, line and column',
  }),
  broken: gauge('u64', {
    help: 'Files that cannot be used as they are; those that once could go on with their last good version',
  }),
})

/** Reports the state of the field sets; the source collects it. */
export function reportFieldSets(source: Source, { faults, broken }: FieldSets): void {
  const row = source.bind(fieldSetsType, {})
  row.counter('faults_total').set(faults)
  row.gauge('broken').set(broken)
}
