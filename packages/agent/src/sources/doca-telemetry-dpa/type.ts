import { counter, defineType, gauge, label, labelNumber, text, timestamp } from '@sonde/sdk'

const entity = { kind: 'nic', key: ['rdma_device'] }

const rdma_device = label('RDMA device, such as mlx5_0')
const process = labelNumber('u32', 'Id of the DPA process')

/** Processes on the data-path accelerator. */
export const docaDpaProcessType = defineType(
  'doca_dpa_process',
  'A process on the data-path accelerator',
  {
    time: timestamp(),
    rdma_device,
    process,
    name: text({ help: 'Name of the process; empty unless the application set one' }),
    threads: gauge('u32', { help: 'Threads of the process' }),
  },
  { entity, core: [] },
)

/** Threads on the data-path accelerator. */
export const docaDpaThreadType = defineType(
  'doca_dpa_thread',
  'Use of the data-path accelerator by one thread',
  {
    time: timestamp(),
    rdma_device,
    process,
    thread: labelNumber('u32', 'Id of the DPA thread'),
    name: text({ help: 'Name of the thread; empty unless the application set one' }),
    active_seconds_total: counter('f64', { unit: 'seconds', help: 'Time in which the thread ran' }),
    cycles_total: counter('u64', { help: 'Cycles in which the thread ran' }),
    instructions_total: counter('u64', { help: 'Instructions that the thread executed' }),
    executions_total: counter('u64', { help: 'Times the thread was scheduled' }),
  },
  { entity, core: ['active_seconds_total'] },
)
