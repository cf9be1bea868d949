import { defineType, gauge, label, optional, text, timestamp } from '@sonde/sdk'

const entity = { kind: 'pod', key: ['namespace', 'pod'] }

const labels = {
  namespace: label('Namespace of the pod'),
  pod: label('Name of the pod'),
}

/**
 * Properties of a pod; they change only with the pod. Reported with every sample, so that a pod that is gone is
 * noticed.
 */
export const podInfoType = defineType(
  'pod_info',
  'Identity of a pod that asks for GPUs',
  {
    time: timestamp(),
    ...labels,
    app: text({ help: 'App that the pod belongs to' }),
    service: text({ help: 'Service of the app that the pod serves' }),
    node_name: text({ help: 'Node on which the pod runs; empty while it is not scheduled' }),
    via: text({ help: 'Origin of app and service, such as `API server`' }),
    app_label: text({ help: 'Label of the pod that named the app; empty if none did' }),
    service_label: text({ help: 'Label of the pod that named the service; empty if none did' }),
    phase: text({ help: 'Phase of the pod, such as `Running`; empty if it is not known' }),
    uid: text({ help: 'UID of the pod, by which control groups name it; empty if it is not known' }),
    waiting: text({ help: 'Why the pod does not run yet, such as `ImagePullBackOff`; empty if nothing waits' }),
    labels: text({ help: 'Labels of the pod that the source is told to read, as JSON; empty if there are none' }),
    start_time_seconds: optional(
      gauge('f64', {
        metric: 'pod_start_time_seconds',
        unit: 'seconds',
        help: 'When the pod started, since the Unix epoch',
      }),
    ),
    requested_gpus: optional(
      gauge('u32', { metric: 'pod_requested_gpus', help: 'GPUs, or MIG instances, that the pod asks for' }),
    ),
  },
  { entity: { ...entity, defines: true }, core: ['start_time_seconds', 'requested_gpus'] },
)

/** Devices of containers: one record for each container and device. */
export const podDeviceType = defineType(
  'pod_device',
  'A GPU, or MIG instance, that a container holds',
  {
    time: timestamp(),
    ...labels,
    container: label('Name of the container'),
    UUID: label('UUID of the GPU'),
    GPU_I_ID: label('Id of the MIG instance in its GPU; empty for a whole GPU'),
    Hostname: label('Node of the GPU; empty where it is the node of the agent'),
    via: text({ help: 'Origin of this fact, such as `kubelet` or `scrape labels of dcgm-exporter`' }),
    resource: text({ help: 'Resource of Kubernetes, or driver of the claim; empty if it is not known' }),
    device_id: text({ help: 'Id of the device as its plugin wrote it; empty if it is not known' }),
    doubt: text({ help: 'Why the origin contradicts itself or is incomplete; empty if it does not' }),
    present: gauge('u8', { help: '1 while the container holds the device' }),
  },
  { entity, core: ['present'] },
)

/** Devices of NICs that containers hold: one record for each container and device of a plugin or claim. */
export const podNicDeviceType = defineType(
  'pod_nic_device',
  'A device of a NIC that a container holds',
  {
    time: timestamp(),
    ...labels,
    container: label('Name of the container'),
    resource: label('Resource of Kubernetes, or driver of the claim'),
    device_id: label('Id of the device as its plugin or driver wrote it, such as a PCI address'),
    rdma_device: label('RDMA device of the function, as the host names it; empty if the host does not see it'),
    pci_address: text({ help: 'PCI address of the function; empty if the id names none' }),
    physical_function: text({ help: 'PCI address of the adapter if the function is a part of it; else empty' }),
    host_interface: text({ help: 'Representor: the interface of the host that stands for the function; else empty' }),
    via: text({ help: 'Origin of this fact' }),
    doubt: text({ help: 'Why the origin contradicts itself or is incomplete; empty if it does not' }),
    no_counters: text({
      help: 'Why no RDMA counters are those of this pod alone; empty if those of `rdma_device` are',
    }),
    own: gauge('u8', { help: '1 if the pod has the device for itself, 0 if others use it too' }),
  },
  { entity, core: [] },
)

/**
 * Resource use of a pod's processes on a GPU, if the exporter reports it separately from the whole GPU: one record for
 * each container and device. For a shared device, these are the only values that differ between its pods.
 */
export const podShareType = defineType(
  'pod_share',
  'What the processes of a pod use of a GPU',
  {
    time: timestamp(),
    ...labels,
    container: label('Name of the container'),
    UUID: label('UUID of the GPU'),
    GPU_I_ID: label('Id of the MIG instance in its GPU; empty for a whole GPU'),
    Hostname: label('Node of the GPU; empty where it is the node of the agent'),
    util_ratio: optional(gauge('f64', { unit: 'ratio', help: 'Share of time in which kernels of the pod ran' })),
    memory_used_bytes: optional(gauge('f64', { unit: 'bytes', help: 'Memory that processes of the pod use' })),
  },
  { entity },
)
