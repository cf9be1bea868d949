import { defineType, type Field, gauge, label, labelNumber, optional, timestamp, value } from '@sonde/sdk'
import type { HwField } from '../rdma/names.ts'
import { rdmaHwFirstType, rdmaHwType } from '../rdma/type.ts'

const entity = { kind: 'nic', key: ['rdma_device', 'port'] }
const rdma_device = label('Name of the RDMA rdma_device, such as mlx5_0')
const port = labelNumber('u32', 'Number of the port, from 1')

/** The counters, declared as in the reported types. */
const counters = Object.fromEntries(
  [rdmaHwFirstType, rdmaHwType]
    .flatMap(({ layout }) => layout.slots)
    .flatMap(({ name, field }) => (field.role === 'counter' ? [[name, field]] : [])),
) as Readonly<Record<HwField, Field<number | bigint | undefined>>>

/** Samples of hardware counters of one port. They stay in the memory of the host. */
export const rdmaSampleType = defineType(
  'rdma_sample',
  'A fast sample of hardware counters of RDMA on one port',
  {
    time: timestamp(),
    rdma_device,
    port,
    repeat: value('u8', {
      help: '1 where the driver gave the values of the sample before again, as it does within its lifespan; else 0',
    }),
    ...counters,
  },
  { entity },
)

/** Statistics of the sampling of one port. */
export const rdmaSamplingType = defineType(
  'rdma_sampling',
  'Fast sampling of hardware counters of RDMA on one port',
  {
    time: timestamp(),
    rdma_device,
    port,
    samples: gauge('u32', { help: 'Samples since the last record, including repeats of the previous sample' }),
    repeats: gauge('u32', { help: 'Samples among them that repeat the values of the previous sample' }),
    lifespan_seconds: optional(
      gauge('f64', {
        unit: 'seconds',
        help: 'Time for which the driver repeats its values; 0.01 if the driver does not report it',
      }),
    ),
  },
  { entity, core: [] },
)
