import { chars, defineType, gauge, label, labelNumber, optional, timestamp } from '@sonde/sdk'

/**
 * A process that uses a GPU: one record for each process and device. A process without a known owner has an empty
 * namespace and pod.
 */
export const gpuProcessType = defineType(
  'gpu_process',
  'A process that uses a GPU, or MIG instance',
  {
    time: timestamp(),
    namespace: label('Namespace of the pod that the process belongs to; `@job` and others for owners without a pod'),
    pod: label('Name of the pod, Slurm job, container, service or user; empty if it is unknown'),
    container: label('Name of the container'),
    UUID: label('UUID of the GPU'),
    GPU_I_ID: label('Id of the MIG instance in its GPU; empty for a whole GPU'),
    Hostname: label('Node of the GPU'),
    pid: labelNumber('u32', 'Number of the process, as the agent sees it'),
    process: chars(16, { role: 'value', help: 'Name of the program' }),
    util_ratio: optional(gauge('f64', { unit: 'ratio', help: 'Share of time in which kernels of the process ran' })),
    memory_used_bytes: optional(gauge('f64', { unit: 'bytes', help: 'Memory that the process uses on the GPU' })),
  },
  { entity: { kind: 'pod', key: ['namespace', 'pod'] }, core: [] },
)
