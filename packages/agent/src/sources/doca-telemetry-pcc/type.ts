import { counter, defineType, gauge, label, labelNumber, type RecordType, text, timestamp } from '@sonde/sdk'

const entity = { kind: 'nic', key: ['rdma_device'] }

const rdma_device = label('RDMA device, such as mlx5_0')
const slot = labelNumber('u8', 'Slot of the algorithm')

/** Congestion-control algorithms that a device has loaded. */
export const docaPccType = defineType(
  'doca_pcc',
  'A programmable congestion-control algorithm',
  {
    time: timestamp(),
    rdma_device,
    slot,
    algorithm: text({ help: 'Description by the algorithm itself' }),
    algorithm_id: gauge('u32', { help: 'Id of the algorithm' }),
    version_major: gauge('u32', { help: 'Version of the algorithm, first number' }),
    version_minor: gauge('u32', { help: 'Version of the algorithm, second number' }),
    enabled: gauge('u8', { help: '1 if the algorithm is enabled' }),
    counters_enabled: gauge('u8', { help: '1 if its counters are enabled' }),
  },
  { entity, core: [] },
)

/** Counters of an algorithm; only the algorithm knows their meaning. */
export const docaPccCounterType = defineType(
  'doca_pcc_counter',
  'A counter of a congestion-control algorithm',
  {
    time: timestamp(),
    rdma_device,
    slot,
    counter: label('Name of the counter in the algorithm'),
    events_total: counter('u64', {
      metric: 'doca_pcc_events_total',
      help: 'Value of the counter, widened from 32 bits',
    }),
  },
  { entity },
)

/** Values of an algorithm that its names show to be no counts. Only the algorithm knows their unit. */
export const docaPccValueType = defineType(
  'doca_pcc_value',
  'A value of a congestion-control algorithm that is no count',
  {
    time: timestamp(),
    rdma_device,
    slot,
    counter: label('Name of the counter in the algorithm'),
    value: gauge('u32', {
      metric: 'doca_pcc_value',
      help: 'Value of a counter whose name says that it is a round trip, a rate or a delay; its unit is unknown',
    }),
  },
  { entity, core: [] },
)

/** The types of a device that may have no algorithm. */
export const docaPccTypes: readonly RecordType[] = [docaPccType, docaPccCounterType, docaPccValueType]
