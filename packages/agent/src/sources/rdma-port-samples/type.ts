import { defineType, type Field, gauge, label, labelNumber, text, timestamp } from '@sonde/sdk'
import type { PortField } from '../rdma/names.ts'
import { rdmaPortCountersType, rdmaPortType } from '../rdma/type.ts'

const entity = { kind: 'nic', key: ['rdma_device', 'port'] }
const rdma_device = label('Name of the RDMA rdma_device, such as mlx5_0')
const port = labelNumber('u32', 'Number of the port, from 1')

/** The counters, declared as in the reported types. */
const counters = Object.fromEntries(
  [rdmaPortType, rdmaPortCountersType]
    .flatMap(({ layout }) => layout.slots)
    .flatMap(({ name, field }) => (field.role === 'counter' ? [[name, field]] : [])),
) as Readonly<Record<PortField, Field<number | bigint | undefined>>>

/** Samples of port counters. They stay in the memory of the host. */
export const rdmaPortSampleType = defineType(
  'rdma_port_sample',
  'A fast sample of the counters of one RDMA port',
  { time: timestamp(), rdma_device, port, ...counters },
  { entity },
)

/** Statistics of the sampling of one port. */
export const rdmaPortSamplingType = defineType(
  'rdma_port_sampling',
  'Fast sampling of the counters of one RDMA port',
  {
    time: timestamp(),
    rdma_device,
    port,
    samples: gauge('u32', { help: 'Samples since the last record' }),
    saturated_counters: gauge('u8', {
      help: 'Sampled counters that stand at the most they can hold: they no longer show that something happens',
    }),
    saturated: text({ help: 'Names of those counters, with a blank between' }),
  },
  { entity, core: [] },
)
