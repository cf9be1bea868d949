import { defineType, gauge, label, optional, timestamp } from '@sonde/sdk'
import type { FieldOptions } from '@sonde/sdk/internal'
import { fieldName, POD_FIELDS, type PodField } from './fields.ts'

const value = ({ unit }: PodField, help: string) => optional(gauge('f64', { unit, help } satisfies FieldOptions))

const ofPod = POD_FIELDS.map((field) => {
  const among = field.within === 'mean' ? 'mean of its GPUs' : 'sum of its GPUs'
  return [fieldName(field), value(field, `${field.help}, ${among}`)]
})

const ofDevice = POD_FIELDS.map((field) => [fieldName(field), value(field, `${field.help}, of the device`)])

const ofApp = POD_FIELDS.flatMap((field) => [
  [fieldName(field), value(field, `${field.help}, mean of the pods`)],
  [fieldName(field, 'min'), value(field, `${field.help}, the pod with the least`)],
  [fieldName(field, 'max'), value(field, `${field.help}, the pod with the most`)],
  [`${field.base}_pods`, gauge('u32', { help: `Pods of which ${field.base} is known` })],
])

/**
 * The GPUs of one pod: a row after each sample of its GPUs. For a GPU shared with other pods, it has only the usage by
 * its own processes, if that is reported.
 */
export const podGpuType = defineType(
  'pod_gpu',
  'The GPUs of one pod: ratios averaged, memory and power summed',
  {
    time: timestamp(),
    app: label('App that the pod belongs to'),
    service: label('Service of the app'),
    namespace: label('Namespace of the pod'),
    pod: label('Name of the pod'),
    ...Object.fromEntries(ofPod),
    count: gauge('u32', { metric: 'pod_gpus', help: 'GPUs, or MIG instances, that the pod holds' }),
    instances: gauge('u32', { help: 'MIG instances among them, which have no utilisation and no power of their own' }),
    shared_with: gauge('u32', {
      help: 'Other pods that hold the same GPU, or MIG instance: the most of any of its own',
    }),
    scheduled: optional(gauge('u8', { help: '1 where the pod has a node, 0 while it waits for one' })),
    requested_gpus: optional(gauge('u32', { help: 'GPUs, or MIG instances, that the pod asks for' })),
    start_time_seconds: optional(gauge('f64', { unit: 'seconds', help: 'When the pod started, since the Unix epoch' })),
    sample_age_seconds: optional(
      gauge('f64', { unit: 'seconds', help: 'Age of the oldest GPU sample that the row is made of' }),
    ),
  },
  { entity: { kind: 'pod', key: ['namespace', 'pod'] } },
)

/**
 * A device of a pod that is not the pod's alone, by itself: a GPU, or MIG instance, that several pods hold, and the
 * board of an instance. A row a pod and device, so that a sum over pods can count each device once.
 */
export const sharedGpuType = defineType('shared_gpu', 'A GPU of a pod that shares one, as a whole', {
  time: timestamp(),
  app: label('App that the pod belongs to'),
  service: label('Service of the app'),
  namespace: label('Namespace of the pod'),
  pod: label('Name of the pod'),
  Hostname: label('Node of the GPU'),
  UUID: label('UUID of the GPU'),
  GPU_I_ID: label('Id of the MIG instance in its GPU; empty for a whole GPU'),
  ...Object.fromEntries(ofDevice),
  pods: gauge('u32', { help: 'Pods that hold the device; 0 for a board of which only an instance is held' }),
})

/**
 * A GPU of a pod, and the NIC of the pod that is closest to it. A row exists if the sockets of both are known, and if
 * no other NIC of the pod may be closer.
 */
export const podGpuNicType = defineType(
  'pod_gpu_nic',
  'A GPU of a pod, and the NIC of the pod that is closest to it',
  {
    time: timestamp(),
    namespace: label('Namespace of the pod'),
    pod: label('Name of the pod'),
    Hostname: label('Node of the GPU'),
    UUID: label('UUID of the GPU'),
    GPU_I_ID: label('Id of the MIG instance in its GPU; empty for a whole GPU'),
    nic: label('RDMA device of the NIC; if the host sees none, its PCI address'),
    same_socket: gauge('u8', { help: '1 if GPU and NIC are on the same socket, 0 if not' }),
    gpu_socket: gauge('u16', { help: 'Socket of the GPU' }),
    nic_socket: gauge('u16', { help: 'Socket of the NIC' }),
    gpu_numa_node: gauge('u16', { help: 'NUMA node of the GPU' }),
    nic_numa_node: gauge('u16', { help: 'NUMA node of the NIC' }),
    nics: gauge('u32', { help: 'NICs of the pod' }),
  },
  {
    entity: { kind: 'gpu', key: ['UUID'], host: 'Hostname' },
    core: ['same_socket', 'gpu_socket', 'nic_socket', 'gpu_numa_node', 'nic_numa_node'],
  },
)

/** The GPUs of one service: a row after each sample of its GPUs. */
export const appGpuType = defineType('app_gpu', 'The GPU pods of one service of an app', {
  time: timestamp(),
  app: label('App'),
  service: label('Service of the app'),
  ...Object.fromEntries(ofApp),
  pods: gauge('u32', { help: 'GPU pods of the service' }),
  gpus: gauge('u32', {
    metric: 'app_gpus',
    help: 'GPUs, or MIG instances, that they hold: each once, however many of the pods share it',
  }),
})
