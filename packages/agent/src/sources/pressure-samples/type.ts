import { defineType, gauge, label, timestamp } from '@sonde/sdk'
import { hostPressureType } from '../host/type.ts'

const entity = { kind: 'host', key: [] }
const resource = label('cpu, memory, io or irq')
const { waiting_seconds_total, stalled_seconds_total } = hostPressureType.fields

/** Samples of the pressure of one resource. They stay in the memory of the host. */
export const hostPressureSampleType = defineType(
  'host_pressure_sample',
  'A fast sample of the time that tasks waited for a resource',
  { time: timestamp(), resource, waiting_seconds_total, stalled_seconds_total },
  { entity },
)

/** Statistics of the sampling of one resource. */
export const hostPressureSamplingType = defineType(
  'host_pressure_sampling',
  'Fast sampling of the time that tasks waited for a resource',
  { time: timestamp(), resource, samples: gauge('u32', { help: 'Samples since the last record' }) },
  { entity, core: [] },
)
