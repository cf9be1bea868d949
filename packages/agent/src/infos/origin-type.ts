import { counter, gauge, label, timestamp } from '@sonde/sdk'
import { defineOwnType } from '@sonde/sdk/internal'

/** The last change of the origin of a series; there is no record of a series whose origin never changed. */
export const originType = defineOwnType(
  'sonde_origin',
  'Last change of the origin of a series',
  {
    time: timestamp(),
    metric: label('Metric that several origins can serve'),
    device: label('Device of the series'),
    kind: label('Kind of the value, such as symbol_error; empty if the metric has none'),
    origin: label('Origin since the change'),
    previous: label('Origin before the change'),
    reason: label('Why the previous origin no longer serves it'),
    changes_total: counter('u64', { help: 'Changes since the start of the agent' }),
    changed_timestamp_seconds: gauge('f64', { unit: 'seconds', help: 'Time of the change, since the Unix epoch' }),
  },
  { core: [] },
)
