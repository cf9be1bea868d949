import { counter, gauge, timestamp } from '../../schema/field.ts'
import { defineOwnType } from '../../schema/record-type.ts'
import type { Source } from '../../source/source.ts'
import type { LabelFileHealth } from './view-labels.ts'

/** The file that adds labels to `/metrics`. */
export const labelFileType = defineOwnType('sonde_label_file', 'The file with labels of /metrics', {
  time: timestamp(),
  faults_total: counter('u64', {
    help: 'Versions of the file that could not be used; the log names file and line',
  }),
  broken: gauge('u64', { help: '1 where the file cannot be used as it is, and its last good version goes on' }),
})

/** Reports how the label file fares; the source collects it. */
export function reportLabelFile(source: Source, { faults, isBroken }: LabelFileHealth): void {
  const row = source.bind(labelFileType, {})
  row.counter('faults_total').set(faults)
  row.gauge('broken').set(isBroken ? 1 : 0)
}
